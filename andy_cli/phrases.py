"""The phrases of people who want one of the tools that ship, in five languages: tools/phrases.toml.

A phrase is compared in meaning with what is said to a model that is too small to choose. What
stands in square brackets is a value: `which file mentions [the fence]`.
"""

import tomllib
from collections.abc import Mapping
from functools import cache

from andy_cli.resources import bundled_folder


@cache
def load_phrases() -> Mapping[str, tuple[str, ...]]:
    """Name of a tool -> phrases; none where the file is missing."""
    file = bundled_folder("tools") / "phrases.toml"
    if not file.is_file():
        return {}
    sections = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        name: tuple(dict.fromkeys(phrase for spoken in languages.values() for phrase in spoken))
        for name, languages in sections.items()
    }
