"""The parts of Google that tools/ needs at every start; all the rest is loaded by the first call.

That rest takes 60 ms, and most days nobody asks for it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from andy_cli.settings import config_folder
from andy_cli.toolbox.tool import ResourceAccess

LOG_IN_COMMAND = "andy google login"
LOG_IN = f"Run `{LOG_IN_COMMAND}`."


def login_file() -> Path:
    """The file of the login, 0600; with a keyring it holds no secret."""
    return config_folder() / "google.json"


def require_scope(scope: str) -> Callable[[], str]:
    """For `unavailable_reason`: what is missing before a tool can work that needs this scope."""

    def missing() -> str:
        if not login_file().exists():
            return f"Google is not connected. {LOG_IN}"
        from andy_cli.toolbox.google.login.account import missing_scope

        return missing_scope(scope)

    return missing


def find_access_later(tool_name: str) -> Callable[[Mapping[str, object]], ResourceAccess]:
    """Find by accesses.py what a call of a tool would touch, once there is one."""

    def find_access(arguments: Mapping[str, object]) -> ResourceAccess:
        from andy_cli.toolbox.google.accesses import find_api_access

        return find_api_access(tool_name, arguments)

    return find_access
