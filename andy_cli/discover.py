"""Import every module of a package and collect one constant from each.

This is how dialects, providers and slash commands are found: a new one is a new file, no list is
edited. Order is that of the file names and must never matter.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

Found = TypeVar("Found")


def discover(package: ModuleType, kind: type[Found], constant: str) -> list[Found]:
    """The constants of that name and type in the package's modules; raises TypeError on another."""
    found: list[Found] = []
    for module in iter_modules(package.__path__, package.__name__ + "."):
        value = getattr(import_module(module.name), constant, None)
        if not isinstance(value, kind):
            raise TypeError(f"{module.name} has no {constant} of type {kind.__name__}")
        found.append(value)
    return found
