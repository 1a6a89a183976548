"""Words in which servers refuse, read from `wording.toml` once a server refuses something."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

Wordings = Mapping[str, Mapping[str, list[str]]]


@cache
def _load_table() -> tuple[Mapping[str, str], Wordings]:
    """The parts that expressions share, and the expressions by whether case matters."""
    import tomllib  # 3 ms, and most servers refuse nothing

    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return table.pop("parts"), table


@cache
def wording(name: str) -> re.Pattern[str]:
    """Compile the expression of a name."""
    parts, wordings = _load_table()
    is_exact = name in wordings["exact"]
    source = "|".join(wordings["exact" if is_exact else "any_case"][name])
    for part, expression in parts.items():
        source = source.replace(f"<{part}>", expression)
    return re.compile(source, 0 if is_exact else re.IGNORECASE)
