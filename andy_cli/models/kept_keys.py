"""API keys that andy was asked to keep: `secrets.toml` in the configuration folder, for its owner.

OPENAI_API_KEY = "sk-..."       under the names of the variables that come before them
"""

import re
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.settings import config_folder, hold_folder, replace_file

PLACE = re.compile(r"\(at [^)]*\)")


def keys_file() -> Path:
    return config_folder() / "secrets.toml"


def read_keys() -> dict[str, str]:
    """The kept keys by the names of their variables. Raises UsageError for a file that is none."""
    path = keys_file()
    if not path.is_file():
        return {}
    import tomllib  # 10 ms, and most people have no such file

    try:
        kept_keys = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        # What stands there is not told: it may be a key.
        place = PLACE.search(str(error))
        where = f" {place[0]}" if place else ""
        raise UsageError(f"{path} cannot be read{where}. Correct it or move it away.") from error
    return {name: value for name, value in kept_keys.items() if value and isinstance(value, str)}


def keep_key(name: str, key: str) -> Path:
    """Keep a key, in place of any before; returns the file, which is replaced in one step.

    Raises UsageError where that cannot be done.
    """
    import tomlkit  # only to write

    path = keys_file()
    with hold_folder(path.parent):
        document = tomlkit.document()
        document.update({**read_keys(), name: key})
        try:
            replace_file(path, tomlkit.dumps(document))
        except OSError as error:
            raise UsageError(f"The key cannot be kept in {path}: {error.strerror}.") from error
    return path
