"""Import every module of a package and collect one constant from each.

This is how dialects, providers and slash commands are found: a new one is a new file, no list is
edited. A package may group its modules in packages of its own. Order is that of the file names and
must never matter.
"""

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeVar

Found = TypeVar("Found")


def discover(package: ModuleType, kind: type[Found], constant: str) -> list[Found]:
    """Collect the constants of that name and type from the package's modules and sub-packages.

    In the order of the modules' own names, wherever they stand. Raises TypeError for a module that
    has none, or one of another type.
    """
    walk = walk_packages(package.__path__, package.__name__ + ".")
    names = [module.name for module in walk if not module.ispkg]
    found: list[Found] = []
    for name in sorted(names, key=lambda name: name.rpartition(".")[2]):
        value = getattr(import_module(name), constant, None)
        if not isinstance(value, kind):
            raise TypeError(f"{name} has no {constant} of type {kind.__name__}")
        found.append(value)
    return found
