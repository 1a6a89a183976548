"""Places that no tool may change whatever is allowed, and places that may hold secrets.

The judge of command lines knows them by name; here they are looked up for paths that are known.
"""

from pathlib import Path

from andy_cli.guard.commands.destructive_commands import find_danger
from andy_cli.guard.commands.places import is_disk, is_home_startup, is_secret, is_system
from andy_cli.guard.workspace import Operation, inside


def find_peril(path: Path, operation: Operation, workspace: Path) -> str:
    """Tell why an operation on a real path is never done, or nothing.

    Outside the workspace what holds for commands holds here. Inside, what runs by itself (a hook,
    a task of an editor) is asked and not refused; start-up files of the user, should the workspace
    be the home, are refused there too.
    """
    if operation in ("read", "list"):
        return ""
    deleting = operation.startswith("delete")
    if deleting and (path == workspace or path in workspace.parents):
        return "it destroys the workspace"
    home_folder = Path.home().resolve()
    if not inside(path, (workspace,)):
        command_path = _as_command_path(path, home_folder)
        return (
            find_danger(["rm", "-r", command_path], (), "/")
            if deleting
            else find_danger([], [command_path], "/")
        )
    return "" if deleting else _find_inner_peril(path, home_folder)


def _find_inner_peril(path: Path, home_folder: Path) -> str:
    """Tell why a file in the workspace is never changed, or nothing."""
    if inside(path, (home_folder,)) and is_home_startup(str(path.relative_to(home_folder))):
        return "it changes what your programs obey when they start"
    return "it changes the system" if is_system(str(path)) or is_disk(str(path)) else ""


def is_secret_file(path: Path, workspace: Path) -> bool:
    """Tell whether a file is one of those that hold keys and passwords, by its name alone."""
    name = path.relative_to(workspace) if inside(path, (workspace,)) else path
    return is_secret(f"/{name}" if not name.is_absolute() else str(name))


def _as_command_path(path: Path, home_folder: Path) -> str:
    """As command lines are judged: `/~` is the home."""
    if inside(path, (home_folder,)):
        return f"/~/{path.relative_to(home_folder)}".removesuffix("/.")
    return str(path)
