"""Read what is known of programs from the TOML files beside this one, when it is first needed."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load_table(name: str) -> Mapping[str, Any]:
    """Load `name.toml`."""
    import tomllib  # 10 ms, and most starts of andy judge no command line

    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def load_pattern(table: str, name: str) -> re.Pattern[str]:
    """Compile a regular expression of `table.toml`."""
    return re.compile(load_table(table)[name])


@cache
def program_set(*names: str) -> frozenset[str]:
    """The words of `programs.toml` under all of these names."""
    table = load_table("programs")
    return frozenset(word for name in names for word in table[name].split())


def interpreters() -> frozenset[str]:
    """Programs that run what they read, shells among them."""
    return program_set("shells", "interpreters")


def senders() -> frozenset[str]:
    """Programs that may send something out, fetchers among them."""
    return program_set("fetchers", "senders")


def running_programs() -> frozenset[str]:
    """Programs that run a command, or what they read."""
    return program_set("wrappers") | interpreters()


@cache
def output_options(program: str) -> tuple[str, ...]:
    """Options of a program behind which a file or folder is named that is written."""
    return tuple(load_table("programs")["outputs"].get(program, "").split())
