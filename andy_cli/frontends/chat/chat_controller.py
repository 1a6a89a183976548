"""Carry out the lines that are typed in a chat: slash commands, shell commands and turns."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group
from rich.style import Style
from rich.text import Text

from andy_cli.agent.grounding.audit import find_unsupported_claims
from andy_cli.agent.grounding.evidence import Evidence
from andy_cli.agent.named_files import attach_mentions
from andy_cli.agent.turn import turn
from andy_cli.errors import AndyError, OutputError, ToolError, UsageError
from andy_cli.events import Ended
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.command_lookup import find_command
from andy_cli.frontends.chat.model_choice import AskUser, ModelChoice
from andy_cli.frontends.chat.prompt.live_prompt import START_HINT, LivePrompt
from andy_cli.frontends.chat.screen import approval_choices
from andy_cli.frontends.chat.screen.approval_choices import ApprovalChoices, ApprovalQuestion
from andy_cli.frontends.chat.screen.folded_texts import SHOWS_ALL, FoldedTexts
from andy_cli.frontends.chat.screen.greeting import write_greeting
from andy_cli.frontends.chat.screen.live_region import LiveRegion, PromptLiveRegion
from andy_cli.frontends.chat.screen.turn_view import REFRESH_SECONDS, TurnView
from andy_cli.frontends.chat.slash_command import NO_PROMPT, CommandPrompt, check_argument
from andy_cli.frontends.chat.typed_command import run_typed_command
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.session_choice import find_named_session, number_sessions, pick_session
from andy_cli.frontends.session_factory import OpenConversation, fetch_weights, sessions_folder
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import explain_error
from andy_cli.frontends.terminal.progress_bars import MEGABYTE, format_download
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.models.select import NoModelError, RemoteServerError
from andy_cli.sessions.store import SessionCard, find_newest
from andy_cli.toolbox.music import player
from andy_cli.toolbox.music.songs import show_clock

POLL_SECONDS = 0.5
"""Seconds between two looks at the music that plays."""
UNFINISHED = ("error_provider", "error_cut_off")
"""The ends of turns whose answer is not whole: what was queued after it is not sent."""


ANSWER = "# Title\n\nI have **started** `1` song in 2 folders, see [here](http://example.org).\n"
"""Read once behind the painted prompt, so that the first turn does nothing for the first time."""


class ChatController:
    """One chat, from its first line to its last.

    `question` raises EOFError at Ctrl-D and Esc, and is cancelled at Ctrl-C.
    """

    def __init__(
        self,
        options: Options,
        question: AskUser,
        prompt: LivePrompt | None = None,
        greets: bool = False,
    ) -> None:
        """`prompt` is the one that stays on the screen, if there is one: its status line and two of
        its keys are this chat's from now on. `greets`: there is somebody to be greeted, and to be
        asked for a model where there is none.
        """
        self._console = markdown.create_console(options.settings().flag("ui.plain"))
        self._ask_user = question
        self._prompt = prompt
        self._view: TurnView | None = None
        self._folded = FoldedTexts(SHOWS_ALL if prompt else "")
        self._measuring_task: asyncio.Task[None] | None = None
        self._music_task: asyncio.Task[None] | None = None
        self._is_asking = False
        """Nothing may be drawn while a question is on the screen."""
        self._has_begun = False
        """Something was said or commanded."""
        self.exit_code = 0
        """Of the last line: of a command or a turn that failed."""
        self.session = ChatSession(options, self._tell_user, self._ask_approval)
        self.session.fetch_weights = self._fetch_weights
        if greets:
            self.session.greet = self._print_greeting
            self.session.pick_model = self._pick_model
        if prompt:
            prompt.status, prompt.cycle_mode = self._describe_status, self._cycle_mode
            prompt.show_folded = self._show_folded
            self._music_task = asyncio.create_task(self._follow_music(prompt))

    @property
    def is_over(self) -> bool:
        return self.session.is_over

    def _describe_status(self) -> str:
        """The status line: who writes, and what is playing."""
        key_hint = "" if self._has_begun else START_HINT
        return " - ".join(filter(None, (self.session.describe_status(describe_music()), key_hint)))

    def _show_folded(self) -> None:
        """Print whole what was shown in part since this was asked for last."""
        for page in self._folded.take_pages():
            self._console.print(page, crop=False)

    def _cycle_mode(self) -> None:
        self.session.cycle_mode()
        if self._prompt:
            self._prompt.show()

    async def _follow_music(self, prompt: LivePrompt) -> None:
        """While music plays the status line shows how far it is."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if player.current_state().playing:
                prompt.show()

    async def greet_user(self) -> bool:
        """Open the conversation and say who answers, as far as nothing is to be asked for it.

        False where there is no model, and one can be chosen.
        """
        try:
            await self.session.open_conversation(early=True)
        except RemoteServerError:
            return True
        except AndyError as error:
            if isinstance(error, NoModelError) and self.session.pick_model is not None:
                return False
            self._print_error(error)
        if self._prompt:
            self._prompt.show()
        return True

    async def choose_model(self) -> None:
        """Have the user choose a model, and get it."""
        try:
            await self.session.open_conversation()
        except OutputError:
            raise
        except AndyError as error:
            self._tell_user(explain_error(error))

    async def _pick_model(self) -> Options:
        """Ask the user for a model. Raises UsageError where none is chosen."""
        if self._view is not None:
            self._view.close()
        self._is_asking = True
        try:
            return await ModelChoice(
                self.session.options, self._ask_user, self._print_text
            ).pick_model()
        except EOFError:
            raise UsageError("No model is chosen.", "/model or a message asks again.") from None
        finally:
            self._is_asking = False

    async def _fetch_weights(self, model: str) -> None:
        """The bar stands above the prompt alone; one line stays of it."""
        columns = self._console.width - 1
        size = 0
        with self._open_view() as turn_view:

            def report(done_bytes: int, total: int) -> None:
                nonlocal size
                size = done_bytes
                if not ended:
                    turn_view.meter = format_download(
                        model.rpartition("/")[2], done_bytes, total, columns
                    )

            ended = False
            if not self._console.is_terminal:
                turn_view.tell(f"fetching {model} ...")
            try:
                await fetch_weights(model, report)
            finally:
                ended, turn_view.meter = True, ""
            turn_view.tell(f"fetched {model}, {size / MEGABYTE:.0f} MB")

    def _print_greeting(self, conversation: OpenConversation) -> None:
        if self._has_begun:  # an answer is waited for: it comes first
            return
        line = write_greeting(conversation, Path.cwd(), self._console.width)
        self._print_text(line, markdown.QUIET)

    def _print_error(self, error: AndyError) -> None:
        self._print_text(explain_error(error), markdown.ERROR)

    async def answer_line(self, line: str) -> None:
        """Carry out a command or a turn; whatever goes wrong is one line and the chat goes on."""
        self._has_begun, self.exit_code = True, 0
        try:
            if is_command(line):
                await self._run_command(line[1:])
            elif line.startswith("!"):
                await run_typed_command(self.session, line)
            else:
                await self._run_turn(line)
        except OutputError:
            raise
        except AndyError as error:
            self.exit_code = error.exit_code
            self._print_error(error)
        except ToolError as error:  # of a tool that no model called: its advice is for models
            self.exit_code = AndyError.exit_code
            self._print_error(AndyError(str(error)))

    @property
    def has_session(self) -> bool:
        return self.session.is_kept

    async def resume_session(self) -> None:
        """Go on with the session that the options name, or that the user chooses.

        Raises UsageError, and EOFError where the user leaves instead.
        """
        session_card = find_named_session(self.session.options) or await self._choose_session()
        summary = await self.session.resume_session(session_card)
        with contextlib.suppress(AndyError):  # told when the first line is waited for
            await self.session.open_conversation(early=True)
        self._tell_user(summary)

    async def _choose_session(self) -> SessionCard:
        offered = self.session.offer_others()
        if not offered:
            return find_newest(sessions_folder(), Path.cwd())  # which says that there is none
        self._tell_user(number_sessions(offered))
        while True:
            answer = await self._ask_user("Which one? ", "")
            try:
                return pick_session(answer, offered)
            except UsageError as error:
                self._tell_user(explain_error(error))

    async def close(self) -> None:
        for task in (self._measuring_task, self._music_task):
            if task is not None:
                task.cancel()
        await self.session.close()

    @contextlib.contextmanager
    def _open_view(self) -> Iterator[TurnView]:
        """Show by one view what is told and done meanwhile: by that of the turn, if one runs."""
        if self._view is not None:
            yield self._view
            return
        if self._prompt:
            region: LiveRegion = PromptLiveRegion(self._console, self._prompt)
        else:
            region = LiveRegion(self._console)
        self._view = turn_view = TurnView(self._console, tail=region, folded=self._folded)
        alive = asyncio.create_task(self._keep_alive(turn_view))
        try:
            yield turn_view
        finally:
            alive.cancel()
            turn_view.close()
            self._view = None

    async def _run_turn(self, line: str, command: CommandPrompt = NO_PROMPT) -> None:
        with self._open_view() as turn_view:
            conversation = await self.session.open_conversation()
            conversation.tools.refresh()
            for sentence in conversation.tools.take_problems():
                self._tell_user(sentence)
            turn_view.busy = "waiting for the MCP servers"
            await conversation.wait_for_servers(line + command.text)
            turn_view.audit = conversation.chat.sanitizer.clean
            conversation.chat.registry.progress = turn_view.show_progress
            turn_view.busy = f"{conversation.chat.client.name} is working"
            turn_view.count_received = conversation.chat.model.count_received
            attachments = await attach_mentions(
                conversation.chat, line or command.typed, command.text
            )
            for sentence in attachments.notices:
                self._tell_user(sentence)
            printed = self.session.take_printed(conversation.chat)
            attached = command.text + attachments.text + printed
            async for event in turn(conversation.chat, line, attached):
                turn_view.show_event(event)
                if isinstance(event, Ended):
                    self.exit_code = event.exit_code
                    if self._prompt and event.subtype in UNFINISHED:
                        self._prompt.take_back_queue()
            self._measuring_task = asyncio.create_task(self._measure_window())

    async def _measure_window(self) -> None:
        """Bring the status line up to date; the next line is not waited for."""
        await self.session.measure_window()
        if self._prompt:
            self._prompt.show()

    async def _keep_alive(self, turn_view: TurnView) -> None:
        # Where nothing can be printed the turn itself finds out, and ends the chat.
        with contextlib.suppress(OutputError):
            while True:
                await asyncio.sleep(REFRESH_SECONDS)
                if not self._is_asking:
                    turn_view.tick()

    async def _run_command(self, line: str) -> None:
        name, argument = (*line.split(maxsplit=1), "", "")[:2]
        command = find_command(name, self.session)
        check_argument(command, name, argument.strip())
        answer = await command.run(self.session, argument.strip())
        if isinstance(answer, CommandPrompt):
            # Attached: what a file says names no places that may be read.
            await self._run_turn("", answer)
        elif answer:
            self._print_text(answer)

    def _print_text(self, text: str, style: Style = markdown.NORMAL) -> None:
        self._console.print(markdown.style_text(text, style))

    def _tell_user(self, text: str) -> None:
        if self._view is not None:
            self._view.tell(text)
        else:
            self._print_text(text, markdown.QUIET)

    async def _ask_approval(self, approval_request: ApprovalRequest) -> ApprovalAnswer:
        """Show exactly what would happen; the answer is typed after it was shown."""
        if self._view is not None:
            self._view.close()
        question = approval_choices.draw_question(approval_request, self._console)
        choices = approval_choices.find_choices(approval_request, Path.cwd().resolve())
        self._print_question(question.rows, choices)
        self._is_asking = True
        try:
            return await self._read_approval(choices, question)
        except EOFError:
            return ApprovalAnswer(False)
        finally:
            self._is_asking = False

    def _print_question(self, rows: Sequence[Text], choices: ApprovalChoices) -> None:
        self._console.print(Group(*rows), crop=False)
        if choices.rule_line:
            self._print_text(choices.rule_line, markdown.QUIET)

    async def _read_approval(
        self, choices: ApprovalChoices, question: ApprovalQuestion
    ) -> ApprovalAnswer:
        while True:
            typed = await self._ask_user(choices.answer_line, "")
            word = typed.strip().lower()
            if question.whole and word in approval_choices.ALL:
                self._print_question(question.whole, choices)
            elif choices.always and word in approval_choices.EDIT:
                if answer := await self._read_edited_rules(choices):
                    return answer
            elif answer := approval_choices.parse_answer(typed, choices):
                if word in approval_choices.ASKS_WHY:
                    reason = await self._ask_user("because: ", "")
                    return approval_choices.refuse_with_reason(reason)
                return answer
            elif word:
                self._tell_user(approval_choices.describe_bad_answer(typed, choices))

    async def _read_edited_rules(self, choices: ApprovalChoices) -> ApprovalAnswer | None:
        """Let the user edit the rules; None where what is typed is none, or never matches."""
        edited = await self._ask_user("always: ", "; ".join(choices.always))
        conversation = (await self.session.open_conversation()).chat
        tools = [tool.name for tool in conversation.registry]
        try:
            return approval_choices.parse_edited_rules(edited, conversation.gate.rules, tools)
        except UsageError as error:
            self._tell_user(explain_error(error))
            return None


def is_command(line: str) -> bool:
    """Tell a command from a message, which may begin with a path: `/etc/hosts is odd, why?`."""
    return line.startswith("/") and "/" not in line.split(maxsplit=1)[0][1:]


def warm_up() -> None:
    """Compile the patterns of the audit and of the markdown reader; nothing is kept or shown."""
    find_unsupported_claims(ANSWER, Evidence(("1 song",), "Start a song.", (), ()), figures=True)
    markdown.count_finished(ANSWER)
    markdown.MarkdownPage(ANSWER)


def describe_music() -> str:
    """`playing Morning Light 0:12 / 3:40`, or nothing."""
    state = player.current_state()
    if state.song is None:
        return ""
    position = f"{show_clock(state.position)} / {show_clock(state.length)}"
    state_name = "paused" if state.paused else "playing"
    return neutralize_text(f"{state_name} {state.song.name} {position}")
