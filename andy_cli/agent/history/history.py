"""The messages of one conversation in their canonical form, and what the model is told of them."""

from collections import deque
from collections.abc import Iterator, Sequence

from andy_cli import events
from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.compression import CompressedHistory
from andy_cli.agent.history.foreign_text import split_message
from andy_cli.agent.history.windowed_history import WindowedHistory
from andy_cli.messages import Message
from andy_cli.sessions.log import HINT, Log

REMEMBERED = 100
"""Texts of the user, and as many that came with them, which are known for certain."""
UNANSWERED = "(no answer)"
"""Stands behind a request that was stopped or failed: a model that is sent two requests in a row
takes them for one, and does both.
"""


class History:
    """All messages, each of them in the log too; what is told of them is kept within the window."""

    def __init__(self, log: Log | None = None) -> None:
        self.messages: list[Message] = []
        self.log = log
        self.turn_start = 0
        """The position of the user's last message."""
        self.user_request = ""
        """Of that message, without what came with it: what the user wants is read from it."""
        self.user_texts = deque[str](maxlen=REMEMBERED)
        self.attached_texts = deque[str](maxlen=REMEMBERED)
        """Texts that came with the user's words: piped, attached, printed."""
        self.failed_calls: set[str] = set()
        """Ids of the calls whose results are errors."""
        self._windowed = WindowedHistory()

    def begin_turn(self, user: str, attached: str = "") -> None:
        """Add the user's next message. Where nothing else is said, what is attached to it is what
        the user wants."""
        if self.messages and (is_from_user(self.messages[-1]) or _is_result(self.messages[-1])):
            self.add(Message("assistant", UNANSWERED))
        self.user_texts.append(user or attached)
        if user and attached:
            self.attached_texts.append(attached)
        self.user_request = user or attached
        self.turn_start = len(self.messages)
        whole_text = user + attached
        self.add(Message("user", escape_control_tokens(whole_text)), Message("user", whole_text))

    def note_typed_command(self, command: str) -> None:
        """Note a command that the user typed: a request that repeats it repeats nobody else."""
        self.user_texts.append(command)

    def add(self, message: Message, logged: Message | None = None) -> None:
        """Add a message; `logged`: the whole of it, where the model is told less."""
        if self.log is not None:
            self.log.message(logged or message)
        self.messages.append(message)

    def restore(self, message: Message, told_message: Message) -> None:
        """Add a message of an earlier conversation, and how it was told; the log has it."""
        if is_from_user(message):
            user, attached = split_message(message.content)
            self.user_texts.append(user)
            if attached:
                self.attached_texts.append(attached)
        self.messages.append(told_message)

    def retract_answer(self, position: int) -> None:
        """Forget an answer that did not hold, and the question that asked for another, which
        stands there: neither shall support what is said later."""
        answer = self.messages[position - 1]
        if answer.role == "assistant" and not answer.calls:
            del self.messages[position - 1 : position + 1]
            self._windowed.reset()

    def list_results(self) -> list[str]:
        """List what tools returned in this turn, oldest first."""
        users = (
            position for position, message in enumerate(self.messages) if is_from_user(message)
        )
        return [message.content for message in self.messages[max(users) :] if _is_result(message)]

    def list_all_results(self) -> list[str]:
        """List what tools returned in the whole conversation."""
        return [message.content for message in self.messages if _is_result(message)]

    def list_known_results(self) -> list[str]:
        """List what tools returned, as far as the model is told it or was told a summary of it."""
        return self._windowed.list_results(self.messages)

    def list_told_messages(self) -> list[Message]:
        """List what the model is told: as much as its window holds."""
        return self._windowed.list_messages(self.messages)

    def count_tokens(self) -> int:
        """Estimate the tokens of what is told."""
        return self._windowed.count_tokens(self.messages)

    def shorten(self, window: int, fixed: int) -> CompressedHistory:
        """Tell less, so that it fits in a window beside `fixed` tokens."""
        return self._windowed.shorten(self.messages, window, fixed, self.failed_calls)

    def tell_everything(self) -> None:
        """Tell all of it again: another model has another window."""
        self._windowed.reset()

    def compact(self, messages: Sequence[Message]) -> None:
        """Tell these messages in place of all so far, also when the session is resumed."""
        if self.log is not None:
            self.log.compaction(messages)
        self.replace_told(len(self.messages), messages)

    def replace_told(self, stands_for: int, messages: Sequence[Message]) -> None:
        """Tell these messages in place of the first ones."""
        self._windowed.compact(self.messages, stands_for, messages)

    def report_log_problem(self) -> Iterator[events.Event]:
        """Tell, once, that the session cannot be written."""
        if self.log is not None and (problem := self.log.take_problem()):
            yield events.Failed("warning", "session", problem, HINT)


def is_from_user(message: Message) -> bool:
    """Tell whether the user said it; notes are andy's own."""
    return message.role == "user" and not message.note


def _is_result(message: Message) -> bool:
    return message.role == "tool"
