"""`andy trust`: folders whose `.andy` may tighten, bring tools and commands, whose `AGENTS.md` is
read."""

import sys
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.tables import print_json
from andy_cli.settings import load, save


def trust(folder: str, listed: bool, remove: bool, as_json: bool) -> None:
    trusted = load().texts("trust.folders")
    if listed:
        if as_json:
            print_json(list(trusted))
        else:
            sys.stdout.write(
                "".join(f"{folder}\n" for folder in trusted) or "No folder is trusted.\n"
            )
        return
    path = str(Path(folder or ".").expanduser().resolve())
    if remove:
        if path not in trusted:
            raise UsageError(f"{path} is not trusted.", "`andy trust --list` shows what is.")
        save("trust.folders", [trusted_path for trusted_path in trusted if trusted_path != path])
        sys.stdout.write(f"{path} is not trusted any more.\n")
        return
    if not Path(path).is_dir():
        raise UsageError(f"{path} is no folder.")
    save("trust.folders", [*trusted, *([path] * (path not in trusted))])
    sys.stdout.write(
        f"{path} is trusted: its .andy/config.toml may tighten what is allowed, and the tools in"
        " its .andy/tools are loaded; its AGENTS.md tells the model how to work; chat offers the"
        " commands in its .andy/commands.\n"
    )
