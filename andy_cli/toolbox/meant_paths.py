"""Find the path that a model meant: written as an address, in quotes, with an @, in another case.

A path that is there as it was written is what was meant. The disk is looked at inside the workspace
only; whether a path may be used is judged afterwards, of the path that was found.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import inside, resolve
from andy_cli.messages import Arguments, Schema

QUOTES = "`\"'\u201c\u201d"
SCHEME = "file:"


class MeantPaths(NamedTuple):
    arguments: Arguments
    changes: tuple[str, ...] = ()


def find_meant_paths(arguments: Arguments, schema: Schema, workspace: Path) -> MeantPaths:
    """Replace those arguments that the schema calls paths and that mean another one.

    `schema` is that of the arguments: paths have `"format": "path"`.
    """
    properties = schema.get("properties")
    meant_by_key: dict[str, object] = {}
    for key, property_schema in (properties if isinstance(properties, Mapping) else {}).items():
        written = arguments.get(key)
        if isinstance(written, str) and property_schema.get("format") == "path":
            meant_path = find_meant_path(written, workspace)
            if meant_path != written:
                meant_by_key[key] = meant_path
    if not meant_by_key:
        return MeantPaths(arguments)
    changes = tuple(
        f"{key}: {arguments[key]} -> {meant_path}" for key, meant_path in meant_by_key.items()
    )
    return MeantPaths({**arguments, **meant_by_key}, changes)


def find_meant_path(written: str, workspace: Path) -> str:
    """The path that was meant; itself where nothing says otherwise."""
    try:
        if _is_there(written, workspace):
            return written
        plain = _plain(written)
        # As users attach it to a message.
        if plain.startswith("@") and _is_there(plain[1:], workspace):
            return plain[1:]
        return plain if _is_there(plain, workspace) else _in_other_case(plain, workspace)
    except (ToolError, OSError, ValueError):
        return written


def _plain(written: str) -> str:
    """Without quotation marks and blanks around it, and no address of a file."""
    plain = written.strip()
    while len(plain) > 2 and plain[0] in QUOTES and plain[-1] in QUOTES:
        plain = plain[1:-1].strip()
    if plain.lower().startswith(SCHEME):
        url_parts = urlsplit(plain)
        if url_parts.netloc in ("", "localhost") and url_parts.path:
            return unquote(url_parts.path)
    return plain or written


def _is_there(written: str, workspace: Path) -> bool:
    path = resolve(written, workspace)
    return inside(path, [workspace.resolve()]) and os.path.lexists(path)


def _in_other_case(written: str, workspace: Path) -> str:
    """The one path of the workspace that differs in nothing but its case; else as written."""
    path, workspace_root = resolve(written, workspace), workspace.resolve()
    if not inside(path, [workspace_root]):
        return written
    matched_path = workspace_root
    for component in path.relative_to(workspace_root).parts:
        names = [entry.name for entry in matched_path.iterdir()]
        same_names = [name for name in names if name.lower() == component.lower()]
        candidates = [component] if component in names else same_names
        if len(candidates) != 1:
            return written
        matched_path /= candidates[0]
    return (
        str(matched_path)
        if Path(written).is_absolute()
        else str(matched_path.relative_to(workspace_root))
    )
