"""`andy trust`: folders whose `.andy` may tighten, bring tools and commands, whose `AGENTS.md` is
read and whose MCP servers are started."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.tables import print_json
from andy_cli.settings import load, save
from andy_cli.toolbox.mcp.servers import PROJECT_FILES, read


def trust_folder(folder: str, listed: bool, remove: bool, as_json: bool) -> None:
    """List the trusted folders, or add or remove one. Raises UsageError."""
    trusted = load().texts("trust.folders")
    if listed:
        print_trusted(trusted, as_json)
        return
    path = str(Path(folder or ".").expanduser().resolve())
    if remove:
        remove_trust(path, trusted)
        return
    if not Path(path).is_dir():
        raise UsageError(f"{path} is no folder.")
    # One that cannot be read is told before the folder is trusted: no chat could begin there.
    server_names = [
        server.name for name in PROJECT_FILES for server in read(Path(path) / name, os.environ)
    ]
    servers_here = ", ".join(dict.fromkeys(server_names)) or "none"
    save("trust.folders", lambda kept: list(dict.fromkeys((*kept, path))))
    sys.stdout.write(
        f"{path} is trusted, with the folders in it:\n"
        "  .andy/config.toml  may tighten what is allowed.\n"
        "  .andy/tools        Its tools are loaded.\n"
        "  .andy/commands     Chat offers its commands.\n"
        "  AGENTS.md          tells the model how to work here. That of the root of a repository\n"
        "                     holds in the folders in it too.\n"
        f"  MCP servers        Chat and run start their programs. Now: {servers_here}.\n"
    )


def print_trusted(trusted: Sequence[str], as_json: bool) -> None:
    if as_json:
        print_json(list(trusted))
    else:
        lines = "".join(f"{folder}\n" for folder in trusted)
        sys.stdout.write(lines or "No folder is trusted.\n")


def remove_trust(path: str, trusted: Sequence[str]) -> None:
    if path not in trusted:
        raise UsageError(f"{path} is not trusted.", "`andy trust --list` shows what is.")
    save("trust.folders", lambda kept: [folder for folder in kept if folder != path])
    sys.stdout.write(f"{path} is not trusted any more.\n")
