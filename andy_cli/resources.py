"""Find the files that ship beside the code: prompt templates and local tools.

In a wheel they sit inside the package; in a checkout (and in an editable install, which is a
checkout on the import path) they sit next to it.
"""

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent


def bundled_folder(name: Literal["prompts", "tools"]) -> Path:
    """Return the folder, preferring the installed copy."""
    inside = PACKAGE / name
    if inside.is_dir():
        return inside
    # Without this check a broken wheel would pick up a stranger's site-packages/tools.
    if (CHECKOUT / "pyproject.toml").is_file():
        return CHECKOUT / name
    raise FileNotFoundError(f"andy-cli was installed without its {name!r} folder")
