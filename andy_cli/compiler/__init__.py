"""The compiler as a library: text of a model in, text to show and tool calls out.

What is listed here is promised (docs/library.md); the modules below are not. The names are loaded
when they are first used, so that importing this package costs nothing. Type checkers read
`__init__.pyi`.
"""

from importlib import import_module

__all__ = [
    "CompiledReply",
    "Hidden",
    "Mapped",
    "MappedCall",
    "Problem",
    "StreamCompiler",
    "ToolRequest",
    "Visible",
    "compile_text",
    "fit_arguments",
    "list_dialects",
    "write_call",
    "write_history",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("andy_cli.compiler.library"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
