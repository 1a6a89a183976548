"""The sources of tools: those that ship, the user's own files, packages, trusted projects.

    tools/*.py of the checkout or the wheel       source ""
    ~/.config/andy/tools/*.py                     source: the file
    entry points of the group `andy.tools`        source: the package; a module or one tool
    .andy/tools/*.py of trusted folders           source: the file

A file that cannot be loaded is named with its fault, and the others are there all the same. No tool
takes the name of another. Files of the user are looked at again before each turn.
"""

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

from andy_cli.errors import UsageError
from andy_cli.resources import bundled_folder
from andy_cli.settings import Settings, config_folder, list_trusted_folders
from andy_cli.toolbox.printing import printing_aside
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

GROUP = "andy.tools"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
"""Letters that look like others could pass for another tool's name."""


class Collection:
    """The tools of one process, kept up to date with their files."""

    def __init__(self, settings: Settings, workspace: Path) -> None:
        self._off = settings.texts("tools.disabled")
        self._folders = [user_folder()]
        for project in list_trusted_folders(settings, workspace):
            self._folders.append(project / ".andy" / "tools")
        self._seen: dict[str, int] = {}
        self.registry = Registry(self._allowed_tools(shipped_tools()))
        self.problems: list[str] = []
        """The files that could not be loaded and why, since this was last looked at."""
        self._from_packages()
        self.refresh()

    def refresh(self) -> None:
        """Load files that are new or have changed, drop those that are gone."""
        present_files = {str(file): file_stamp(file) for file in self._tool_files()}
        for path in list(self._seen):
            if present_files.get(path) != self._seen[path]:
                self.registry.drop(path)
                del self._seen[path]
        for path, stamp in present_files.items():
            if path not in self._seen:
                self._seen[path] = stamp
                self._take_file(path, Path(path))

    def take_problems(self) -> list[str]:
        """The problems, once."""
        problems, self.problems = self.problems, []
        return problems

    def _tool_files(self) -> Iterator[Path]:
        for folder in self._folders:
            if folder.is_dir():
                yield from sorted(folder.glob("*.py"))

    def _take_file(self, source: str, file: Path) -> None:
        try:
            self._put_tools(source, tools_in(file))
        except (Exception, SystemExit) as error:
            # Somebody's code, and running it is how it is loaded: its fault is its own.
            self.problems.append(f"{file} cannot be loaded: {describe_fault(error)}.")

    def _from_packages(self) -> None:
        for entry_point in packaged_tools():
            try:
                with printing_aside():
                    loaded = entry_point.load()
                tools = [loaded] if isinstance(loaded, Tool) else tools_of(loaded)
                self._put_tools(
                    entry_point.dist.name if entry_point.dist else entry_point.value, tools
                )
            except (Exception, SystemExit) as error:
                # As above.
                self.problems.append(
                    f"The package of {entry_point.value}: {describe_fault(error)}."
                )

    def _put_tools(self, source: str, tools: Iterable[Tool]) -> None:
        for offered in self._allowed_tools(tools):
            if fault := self.find_fault(offered):
                self.problems.append(f"{source}: {fault}")
                continue
            reason = _guard_reason(offered.unavailable_reason)
            self.registry.put([replace(offered, source=source, unavailable_reason=reason)])

    def find_fault(self, tool: Tool, source: str = "") -> str:
        """Say why a tool cannot be used and what to change, or nothing.

        One of the same name is no fault if it came from `source`, which this one replaces.
        """
        if not NAME.fullmatch(tool.name):
            return f"{tool.name!a} is no name for a tool: it has to fit {NAME.pattern}."
        other_tool = self.registry.get(tool.name)
        if other_tool is not None and (not source or other_tool.source != source):
            return f"there is a tool {tool.name} already: rename the function."
        try:
            # Each makes what it needs when it is first asked, by the code of the tool.
            _ = tool.schema
            tool.check({})
        except Exception as error:
            return f"{tool.name} cannot be used: {describe_fault(error)}."
        return ""

    def _allowed_tools(self, tools: Iterable[Tool]) -> Iterator[Tool]:
        for tool in tools:
            if not any(fnmatchcase(tool.name, pattern) for pattern in self._off):
                yield tool


def _guard_reason(unavailable_reason: Callable[[], str]) -> Callable[[], str]:
    """Make somebody's code that fails a reason: it is asked of every tool before each request."""

    def find_reason() -> str:
        try:
            return unavailable_reason()
        except Exception as error:
            return f"It cannot be said whether it is ready: {describe_fault(error)}."

    return find_reason


def user_folder() -> Path:
    return config_folder() / "tools"


def file_stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def describe_fault(error: BaseException) -> str:
    """Describe what is wrong with somebody's code, in one line, with its number if known."""
    if isinstance(error, UsageError):
        return str(error).removesuffix(".")
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}".removesuffix(".")


def load_tool_files() -> Registry:
    """The tools that ship with andy, in file order."""
    return Registry(shipped_tools())


def shipped_tools() -> Iterator[Tool]:
    for file in sorted(bundled_folder("tools").glob("*.py")):
        yield from tools_in(file)


def tools_in(file: Path) -> list[Tool]:
    """The tools a file defines. Files are loaded by path: `tools` is nobody's package name.

    Raises whatever its code raises.
    """
    module_spec = importlib.util.spec_from_file_location(f"andy_tools_{file.stem}", file)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    with printing_aside():
        module_spec.loader.exec_module(module)
    return tools_of(module)


def tools_of(module: ModuleType) -> list[Tool]:
    return [value for value in vars(module).values() if isinstance(value, Tool)]


def packaged_tools() -> list[importlib.metadata.EntryPoint]:
    """The entry points of installed packages. Asking for them takes a while where there are many
    packages; so a look at the files says first whether there is anything to ask for."""
    for folder in sys.path:
        for file in Path(folder or ".").glob("*.dist-info/entry_points.txt"):
            if GROUP.encode() in file.read_bytes():
                return list(importlib.metadata.entry_points(group=GROUP))
    return []
