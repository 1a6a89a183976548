"""Import every module of a package and collect one constant from each.

This is how dialects, providers and slash commands are found: a new one is a new file, no list is
edited. Order is that of the file names and must never matter.
"""

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeVar

Found = TypeVar("Found")


def discover(package: ModuleType, kind: type[Found], constant: str) -> list[Found]:
    """Collect the constants of that name and type from the package's modules and sub-packages.

    Raises TypeError for a module that has none, or one of another type.
    """
    found: list[Found] = []
    for module in walk_packages(package.__path__, package.__name__ + "."):
        if module.ispkg:
            continue
        value = getattr(import_module(module.name), constant, None)
        if not isinstance(value, kind):
            raise TypeError(f"{module.name} has no {constant} of type {kind.__name__}")
        found.append(value)
    return found
