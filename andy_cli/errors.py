"""Our exceptions. The text of each is shown to a person or to the model: it says what to do next.

    AndyError                 ends the command with one plain line and an exit code
    ├── UsageError      2     a flag, a setting or a file that we were given does not fit
    ├── ConsentError    3     something would have to be asked and nobody can be
    ├── ModelError      1     the model or its server refused, or answered nonsense
    │   ├── TransientError 75 it may work later: no connection, time-out, 429, 5xx
    │   ├── ToolsRefusedError a model cannot be sent tools, or not these
    │   ├── BadRequestError   what was asked of it is wrong, and would be the next time
    │   │   └── ContextLengthError   the messages do not fit in its context
    │   └── AuthError  77     the key is missing or wrong
    ├── OutputError     1     what is to be printed cannot be written
    │   └── ClosedPipeError 141   whoever read it has gone
    ├── Cancelled     130     the user pressed Ctrl-C
    └── LimitError      4     a limit that the user set is reached
    ToolError                 a tool cannot do what it was asked: its message is for the user, its
                              advice for the model
    └── ToolTimeout           it ran into its time limit

The exit codes are those of `andy --help`.
"""

from typing import NamedTuple


class UserWays(NamedTuple):
    """Ways in which the user changes something, in the words of the front end that tells of them.

    A hint names one by its field in braces: `Choose another with {server}.`
    """

    go_on: str
    """A sentence without its full stop."""
    model: str
    address: str
    server: str
    """The way to choose another server or model."""
    models: str
    """The command that lists models."""
    key: str
    auto_dialect: str
    less: str
    """The advice where something is too long, without its full stop."""


SHELL_WAYS = UserWays(
    go_on="Run it again",
    model="--model",
    address="--base-url",
    server="--base-url or --model",
    models="`andy models list`",
    key="--api-key-env",
    auto_dialect="`--set dialect=auto`",
    less="Ask for less at a time",
)
CHAT_WAYS = UserWays(
    go_on="Say `go on` to continue",
    model="/model",
    address="/model",
    server="/model",
    models="/model",
    key="--api-key-env when you start andy again",
    auto_dialect="`/config set dialect auto` and /clear",
    less="Shorten the conversation with /compact, ask for less at a time",
)


def fill_hint(hint: str, ways: UserWays) -> str:
    """Fill the slots of a hint; other braces stay, as a hint may quote what a server said."""
    for slot, words in ways._asdict().items():
        hint = hint.replace(f"{{{slot}}}", words)
    return hint


class AndyError(Exception):
    """Ends the command: `str(error)` is the line that is shown, `exit_code` what is returned.

    `hint` may have the slots of `UserWays` in it.
    """

    exit_code = 1
    kind = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.unfilled_hint = hint

    @property
    def hint(self) -> str:
        """The hint to somebody at a shell."""
        return self.hint_for(SHELL_WAYS)

    def hint_for(self, ways: UserWays) -> str:
        return fill_hint(self.unfilled_hint, ways)


class UsageError(AndyError):
    exit_code = 2
    kind = "usage"


class ConsentError(AndyError):
    exit_code = 3
    kind = "permission"


class ModelError(AndyError):
    """`kind` may be a narrower name than its class has; events carry it."""

    exit_code = 1
    kind = "provider"
    fitting_share = 0.0
    """Part of what was sent that would have fitted, where the server said how much; else 0."""

    def __init__(self, message: str, hint: str = "", kind: str = "") -> None:
        super().__init__(message, hint)
        self.kind = kind or self.kind


class TransientError(ModelError):
    """May work later. `retry_after` is what the server asked for, in seconds."""

    exit_code = 75
    kind = "transient"

    def __init__(
        self, message: str, hint: str = "", retry_after: float | None = None, kind: str = ""
    ) -> None:
        super().__init__(message, hint, kind)
        self.retry_after = retry_after


class ToolsRefusedError(ModelError):
    """The model cannot be sent tools; not these alone if not `wholly`."""

    kind = "no_tools"

    def __init__(self, message: str, hint: str = "", wholly: bool = True) -> None:
        super().__init__(message, hint)
        self.wholly = wholly


class BadRequestError(ModelError):
    """The model cannot do what the request says; nothing is wrong with the model."""


class ContextLengthError(BadRequestError):
    """The messages are longer than the model's context."""


class AuthError(ModelError):
    exit_code = 77
    kind = "auth"


class OutputError(AndyError):
    kind = "output"


class ClosedPipeError(OutputError):
    """As other programs do, andy ends without a word; 141 is what a shell says of them."""

    exit_code = 141


class Cancelled(AndyError):
    exit_code = 130
    kind = "cancelled"


class LimitError(AndyError):
    """A limit that the user set is reached."""

    exit_code = 4
    kind = "limit"


class ToolError(Exception):
    """A tool cannot do what it was asked to do.

    `str(error)` is for the user: what went wrong, without the name of a tool. `advice` is for the
    model: what it can do next, and with which tool. `may_be_done`: a change was sent, and nobody
    knows whether it happened.
    """

    def __init__(self, message: str, advice: str = "", may_be_done: bool = False) -> None:
        super().__init__(message)
        self.advice = advice
        self.may_be_done = may_be_done

    @property
    def content(self) -> str:
        """Join the message and the advice: this is what the model reads."""
        return f"{self} {self.advice}".strip()


class ToolTimeout(ToolError):
    """A tool ran into its time limit; what it had done by then stands in the advice.

    `output` is what a command had written by then.
    """

    def __init__(
        self, message: str, advice: str = "", output: str = "", may_be_done: bool = False
    ) -> None:
        super().__init__(message, advice, may_be_done)
        self.output = output


def list_causes(error: BaseException) -> list[BaseException]:
    """A failure, what it came from on either way, and the members of groups; each once."""
    causes: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is None or any(cause is known for known in causes):
            continue
        causes.append(cause)
        waiting += [cause.__context__, cause.__cause__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += reversed(cause.exceptions)
    return causes
