"""The door. `--version` answers and the prompt opens before Typer is loaded (0.05 s).

Both ways into the chat lead to the same function, `frontends.chat.repl.start`.
"""

import atexit
import contextlib
import gc
import os
import sys

from andy_cli.errors import AndyError, ClosedPipeError, UsageError
from andy_cli.frontends.terminal.standard_streams import prepare_streams

COMPLETE = "_ANDY_COMPLETE"
"""Set by a shell that asks what a word could become."""
COMPLETION = (["--install-completion"], ["--show-completion"])


def main() -> int:
    """Run the command line; returns the exit code. No traceback ever reaches a user."""
    arguments = sys.argv[1:]
    # Nothing that is loaded at start becomes garbage: looking for it takes a tenth of the time.
    gc.disable()
    try:
        code = dispatch(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return explain_failure(error)


def dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from andy_cli import __version__

        sys.stdout.write(f"andy {__version__}\n")
        return 0
    if COMPLETE in os.environ or arguments[:1] in COMPLETION:
        from andy_cli.cli import complete

        return complete(arguments)
    require_folder()
    typed = sys.stdin is not None and sys.stdin.isatty()
    if (code := chat_at_once(arguments, typed)) is not None:
        return code
    from andy_cli.cli import main as typer_main

    return typer_main(arguments, typed)


def require_folder() -> None:
    """Raise UsageError where the current folder was removed: nothing could be said of any path."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib is not loaded yet
    except FileNotFoundError:
        raise UsageError(
            "The current folder is gone.",
            "Go to another: cd ~. `andy sessions list --all` shows what was said in it.",
        ) from None


def chat_at_once(arguments: list[str], typed: bool) -> int | None:
    """Chat if that is plainly what is meant; None where Typer has to know or to complain."""
    from andy_cli.frontends.command_line.options import (
        SHARED_OPTIONS,
        fill_values,
        make_options,
        read_line,
    )

    named = arguments[:1] == ["chat"]
    line = read_line(fill_values(arguments[named:]), SHARED_OPTIONS)
    if line.unread or len(line.words) > 1 or not (named or typed):
        return None
    prompt = "".join(line.words)
    if not (named or line.ended) and prompt and " " not in prompt:
        return None  # perhaps a command
    from andy_cli.frontends.chat.repl import start_chat

    return start_chat(make_options(line.given).in_their_folder(), prompt)


def explain_failure(error: Exception) -> int:
    """One line says what went wrong; our own faults leave their traceback in a file."""
    if isinstance(error, ClosedPipeError):
        return error.exit_code
    if isinstance(error, AndyError):
        hint = f"\n  {error.hint}" if error.hint else ""
        sys.stderr.write(f"andy: {error}{hint}\n")
        return error.exit_code
    import traceback

    from andy_cli.settings import replace_file, state_folder

    kept = state_folder() / "crash.log"
    try:
        text = "".join(traceback.format_exception(error))
        # For this user alone: the last line may quote what was read.
        replace_file(kept, text.encode("utf-8", "backslashreplace"), durable=False)
        where = f" The details are in {kept}."
    except OSError:
        where = ""
    sys.stderr.write(f"andy: something went wrong inside andy ({type(error).__name__}).{where}\n")
    return 1


def door() -> None:
    """The entry point: `main`, then out.

    Taking the modules apart one by one at exit takes 30 ms and frees what the system frees anyway.
    """
    prepare_streams()
    code = main()
    atexit._run_exitfuncs()  # what asked to be told of the end, e.g. the player, is told
    with contextlib.suppress(AndyError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    door()
