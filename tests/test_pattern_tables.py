"""Expressions of tables are compiled when they are first used: here all of them are."""

import re
from pathlib import Path

from andy_cli.guard.commands.lookup import load_pattern, load_table
from andy_cli.models.http import wording
from tests.cases import loop_over

CODE = Path(wording.__file__).parent
WORDINGS = sorted(re.findall(r"^(\w+) = \[", (CODE / "wording.toml").read_text(), re.MULTILINE))
PLACES = sorted(load_table("places"))


@loop_over("name", WORDINGS)
def test_every_wording_compiles_and_is_looked_for(name: str) -> None:
    assert wording.wording(name).pattern
    modules = [(CODE / module).read_text() for module in ("features.py", "refusals.py")]
    assert any(f'"{name}"' in module for module in modules)


@loop_over("name", PLACES)
def test_every_kind_of_place_compiles(name: str) -> None:
    assert load_pattern("places", name).pattern
