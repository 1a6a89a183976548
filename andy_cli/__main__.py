"""The door. `--version` answers and the prompt opens before Typer is loaded (0.05 s).

Both ways into the chat lead to the same function, `frontends.chat.repl.start`.
"""

import atexit
import contextlib
import gc
import os
import sys

from andy_cli.errors import AndyError, ClosedPipeError
from andy_cli.frontends.streams import prepare_streams

CHAT_FLAGS = {
    "--model": "model",
    "-m": "model",
    "--base-url": "base_url",
    "--api-key-env": "api_key_env",
    "--no-session": "no_session",
    "--plain": "plain",
}
SWITCHES = ("no_session", "plain")


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
        return failed(error)


def dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from andy_cli import __version__

        sys.stdout.write(f"andy {__version__}\n")
        return 0
    flags = chat_flags(arguments)
    if flags is None:
        from andy_cli.cli import main as typer_main

        return typer_main()
    from andy_cli.frontends.chat.repl import start
    from andy_cli.frontends.options import Options

    return start(
        Options(
            model=flags.get("model", ""),
            base_url=flags.get("base_url", ""),
            api_key_env=flags.get("api_key_env", ""),
            no_session="no_session" in flags,
            plain="plain" in flags,
        )
    )


def chat_flags(arguments: list[str]) -> dict[str, str] | None:
    """The flags of a plain `andy [chat]`; None if it is another command or needs Typer."""
    if arguments[:1] == ["chat"]:
        arguments = arguments[1:]
    elif arguments:
        return None
    flags: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        written, equals, value = word.partition("=")
        name = CHAT_FLAGS.get(written)
        if name is None or (equals and name in SWITCHES):
            return None
        if name in SWITCHES:
            flags[name] = "yes"
            continue
        value = value if equals else next(words, "")
        if not value or value.startswith("-"):
            return None  # Typer says what is wrong
        flags[name] = value
    return flags


def failed(error: Exception) -> int:
    """One line says what went wrong; our own faults leave their traceback in a file."""
    if isinstance(error, ClosedPipeError):
        return error.exit_code
    if isinstance(error, AndyError):
        hint = f"\n  {error.hint}" if error.hint else ""
        sys.stderr.write(f"andy: {error}{hint}\n")
        return error.exit_code
    import traceback

    from andy_cli.settings import state_folder

    kept = state_folder() / "crash.log"
    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
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
