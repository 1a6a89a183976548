"""The keys of the prompt and their actions; docs/terminal.md has the table of them."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions, has_focus, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.search import stop_search
from prompt_toolkit.utils import suspend_to_background_supported

from andy_cli.frontends.chat.prompt.prompt_state import PromptState

LEAVE_HINT = "Ctrl-C again or Ctrl-D leaves.\n"


class KeyActions(Protocol):
    """The actions of keys that reach beyond the state of the prompt."""

    cycle_mode: Callable[[], object]
    show_folded: Callable[[], object]

    def print_above(self, text: str) -> None: ...

    def show(self) -> None: ...

    async def edit(self) -> None: ...


class PromptKeys:
    """The keys of the prompt, apart from those that edit a line: these are prompt-toolkit's."""

    def __init__(self, state: PromptState, actions: KeyActions) -> None:
        self._state = state
        self._actions = actions
        self._is_warned = self._was_warned = False
        """The key that is handled, and the one before it, was a Ctrl-C that had nothing to do."""
        state.typed.accept_handler = self._send
        state.answer.accept_handler = self._answer

    def bind(self) -> KeyBindings:
        """Connect the keys with what they do, each where it makes sense."""
        state = self._state
        bindings = KeyBindings()
        handle = bindings.add
        working = Condition(lambda: state.is_working)
        asking = Condition(lambda: state.is_asking)
        nothing_typed = Condition(lambda: not get_app().current_buffer.text)
        waiting = Condition(lambda: bool(state.waiting_rows))

        @handle("c-c")
        @handle("<sigint>")
        def interrupt(event: KeyPressEvent) -> None:
            """Stop what runs, else end a search or clear the line, the second time leave."""
            self._interrupt()

        @handle("escape", filter=(working | asking) & ~is_searching)
        def refuse(event: KeyPressEvent) -> None:
            """Answer a question with no, else stop what runs."""
            self._refuse()

        @handle("c-d", filter=nothing_typed)
        def leave(event: KeyPressEvent) -> None:
            """Answer a question with no, else leave the chat when what runs is done."""
            self._leave()

        @handle("c-j", filter=has_focus(state.typed))
        @handle("escape", "enter", filter=has_focus(state.typed))
        def break_line(event: KeyPressEvent) -> None:
            """Begin a new line, where Enter would send."""
            event.current_buffer.insert_text("\n")

        @handle("up", filter=nothing_typed & waiting & ~asking)
        def take_back(event: KeyPressEvent) -> None:
            """Edit again what is queued or held; a queued end of the chat is forgotten."""
            state.unqueue()
            state.sent.clear()
            self._bring_back()

        @handle("s-tab", filter=~has_completions & ~asking)
        def next_mode(event: KeyPressEvent) -> None:
            """Ask more or less often before something is done."""
            self._actions.cycle_mode()

        @handle("c-o")
        def show_folded(event: KeyPressEvent) -> None:
            """Print the whole of what was shown in part."""
            self._actions.show_folded()

        @handle("c-g", filter=~is_searching & ~asking)
        @handle("c-x", "c-e", filter=~is_searching & ~asking)
        def edit(event: KeyPressEvent) -> None:
            """Edit what is typed in the editor of the user."""
            event.app.create_background_task(self._actions.edit())

        @handle("c-z", filter=Condition(suspend_to_background_supported))
        def suspend(event: KeyPressEvent) -> None:
            """Go back to the shell; `fg` brings the chat back."""
            event.app.suspend_to_background()

        return bindings

    def note_key_press(self, _: object) -> None:
        """Remember, before a key is handled, if the last one warned: any key between takes it back.

        A time would not do: whoever reads the warning first would always be too late.
        """
        self._was_warned, self._is_warned = self._is_warned, False

    def _send(self, typed: Buffer) -> bool:
        """Enter: send what is typed, which is queued while a turn runs."""
        if line := typed.text.strip():
            self._state.sent.send(line)
        # Once prompt-toolkit has emptied the prompt.
        asyncio.get_running_loop().call_soon(self._bring_back)
        return False

    def _bring_back(self) -> None:
        """Put the next line that is held into the prompt, which is drawn a row higher then."""
        if self._state.held:
            self._state.bring_back()
            self._actions.show()

    def _answer(self, answer: Buffer) -> bool:
        """Enter: answer the question."""
        if self._state.ask_user is not None:
            self._state.ask_user.accept(answer.text)
        return True  # the text stays until it is printed

    def _interrupt(self) -> None:
        state = self._state
        if searches := is_searching():
            stop_search()
        if state.stop is not None:
            state.unqueue()
            state.stop()
        elif searches:
            return
        elif any(state.sent.lines):  # and not taken yet: it came with the same keys
            state.unqueue()
        elif text := state.typed.text.strip():
            state.typed.history.append_string(text)
            state.typed.reset()
            self._bring_back()
        elif self._was_warned:
            state.sent.send(None)
        else:
            self._is_warned = True
            self._actions.print_above(LEAVE_HINT)

    def _refuse(self) -> None:
        if self._state.ask_user is not None:
            self._state.ask_user.refuse()
        else:
            self._interrupt()

    def _leave(self) -> None:
        if self._state.ask_user is not None:
            self._state.ask_user.refuse()
        else:
            self._state.sent.send(None)
