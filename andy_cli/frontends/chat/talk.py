"""What happens to a line that was typed: a slash command, or a turn that is shown."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from andy_cli.agent.attachments import attach_mentions
from andy_cli.agent.turn import turn
from andy_cli.errors import AndyError, OutputError, UsageError
from andy_cli.frontends import paint
from andy_cli.frontends.chat import consent, view
from andy_cli.frontends.chat.command import Prompt
from andy_cli.frontends.chat.consent import Choices
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.chat.folded import Folded, Rows
from andy_cli.frontends.chat.greeting import write_greeting
from andy_cli.frontends.chat.live_prompt import LivePrompt
from andy_cli.frontends.chat.live_tail import LiveTail
from andy_cli.frontends.chat.model_choice import AskUser, ModelChoice
from andy_cli.frontends.chat.question import Question, draw_question
from andy_cli.frontends.chat.slash import find_command
from andy_cli.frontends.chat.tail import Tail
from andy_cli.frontends.chat.typed_command import run_typed_command
from andy_cli.frontends.chat.view import View
from andy_cli.frontends.opening import Opened, fetched, sessions_folder
from andy_cli.frontends.options import Options
from andy_cli.frontends.progress import MEGABYTE, bar
from andy_cli.frontends.resuming import find_wanted, numbered, pick_session
from andy_cli.frontends.words import problem
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.models.select import FarServerError, NoModelError
from andy_cli.sessions.store import SessionCard, find_newest
from andy_cli.toolbox.music import player
from andy_cli.toolbox.music.songs import show_clock

HINT = "/help says what there is, Ctrl-D leaves"
"""What the status line says at first."""


class Talk:
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
        """`prompt` is the one that stays on the screen, if there is one; `greets`: there is
        somebody to be greeted, and to be asked for a model where there is none.
        """
        self._console = paint.console(options.settings().flag("ui.plain"))
        self._question = question
        self._prompt = prompt
        self._view: View | None = None
        self._folded = Folded()
        self._measuring: asyncio.Task[None] | None = None
        self._asking = False
        """Nothing may be drawn while a question is on the screen."""
        self._begun = False
        """Something was said or commanded."""
        self.desk = Desk(options, self._tell, self._ask)
        self.desk.fetch = self._fetch
        if greets:
            self.desk.greet = self._print_greeting
            self.desk.pick = self._pick_model

    @property
    def over(self) -> bool:
        return self.desk.over

    @property
    def playing(self) -> bool:
        return player.current_state().playing

    def status(self) -> str:
        """The status line: who writes, and what is playing."""
        hint = "" if self._begun else HINT
        return " - ".join(filter(None, (self.desk.describe_status(music()), hint)))

    def show_folded(self) -> None:
        """Print whole what was shown in part since this was asked for last."""
        for page in self._folded.take_pages():
            self._console.print(page, crop=False)

    def next_mode(self) -> None:
        self.desk.next_mode()

    async def greet(self) -> bool:
        """Open the conversation and say who answers, as far as nothing is to be asked for it.

        False where there is no model, and one can be chosen.
        """
        try:
            await self.desk.opened(early=True)
        except FarServerError:
            return True
        except NoModelError as error:
            if self.desk.pick is not None:
                return False
            self._complain(error)
        except AndyError as error:
            self._complain(error)
        if self._prompt:
            self._prompt.show()
        return True

    async def choose_model(self) -> None:
        """Have the user choose a model, and get it."""
        try:
            await self.desk.opened()
        except OutputError:
            raise
        except AndyError as error:
            self._tell(problem(str(error), error.hint))

    async def _pick_model(self) -> Options:
        """Raises UsageError where the user leaves it open."""
        if self._view is not None:
            self._view.close()
        self._asking = True
        try:
            return await ModelChoice(self.desk.options, self._question, self._say).pick()
        except EOFError:
            raise UsageError("No model is chosen.", "/model or a message asks again.") from None
        finally:
            self._asking = False

    async def _fetch(self, model: str) -> None:
        """The bar stands above the prompt alone; one line stays of it."""
        columns = self._console.width - 1
        size = 0
        with self._viewing() as shown:

            def report(done: int, total: int) -> None:
                nonlocal size
                size = done
                if not ended:
                    shown.meter = bar(model.rpartition("/")[2], done, total, columns)

            ended = False
            if not self._console.is_terminal:
                shown.tell(f"fetching {model} ...")
            try:
                await fetched(model, report)
            finally:
                ended, shown.meter = True, ""
            shown.tell(f"fetched {model}, {size / MEGABYTE:.0f} MB")

    def _print_greeting(self, opened: Opened) -> None:
        if self._begun:  # an answer is waited for: it comes first
            return
        line = write_greeting(opened, Path.cwd(), self._console.width)
        self._console.print(paint.styled(line, paint.QUIET))

    def _complain(self, error: AndyError) -> None:
        self._console.print(paint.styled(problem(str(error), error.hint), paint.ERROR))

    async def answer(self, line: str) -> None:
        """Carry out a command or a turn; whatever goes wrong is one line and the chat goes on."""
        self._begun = True
        try:
            if is_command(line):
                await self._command(line[1:])
            elif line.startswith("!"):
                await run_typed_command(self.desk, line)
            else:
                await self._turn(line)
        except OutputError:
            raise
        except AndyError as error:
            self._complain(error)

    @property
    def kept(self) -> bool:
        return self.desk.is_kept

    async def resume(self) -> None:
        """Go on with the session that the options name, or that the user chooses.

        Raises UsageError, and EOFError where the user leaves instead.
        """
        card = find_wanted(self.desk.options) or await self._choose_session()
        summary = await self.desk.resume(card)
        with contextlib.suppress(AndyError):  # told when the first line is waited for
            await self.desk.opened(early=True)
        self._tell(summary)

    async def _choose_session(self) -> SessionCard:
        offered = self.desk.offer()
        if not offered:
            return find_newest(sessions_folder(), Path.cwd())  # which says that there is none
        self._tell(numbered(offered))
        while True:
            said = await self._question("Which one? ", "")
            try:
                return pick_session(said, offered)
            except UsageError as error:
                self._tell(problem(str(error), error.hint))

    async def close(self) -> None:
        if self._measuring:
            self._measuring.cancel()
        await self.desk.close()

    @contextlib.contextmanager
    def _viewing(self) -> Iterator[View]:
        """What is told and done meanwhile is shown by this view: that of the turn, if one runs."""
        if self._view is not None:
            yield self._view
            return
        self._view = shown = View(self._console, tail=self._tail(), folded=self._folded)
        alive = asyncio.create_task(self._keep_alive(shown))
        try:
            yield shown
        finally:
            alive.cancel()
            shown.close()
            self._view = None

    async def _turn(self, line: str, attached: str = "") -> None:
        with self._viewing() as shown:
            opened = await self.desk.opened()
            opened.tools.refresh()
            for sentence in opened.tools.take_problems():
                self._tell(sentence)
            shown.busy = "waiting for the MCP servers"
            await opened.wait_for_servers(line + attached)
            shown.audit = opened.chat.sanitizer.clean
            opened.chat.registry.progress = shown.at
            shown.busy = f"{opened.chat.client.name} is working"
            found = await attach_mentions(opened.chat, line)
            for sentence in found.notices:
                self._tell(sentence)
            attached += found.text + self.desk.take_printed(opened.chat)
            async for event in turn(opened.chat, line, attached):
                shown.show(event)
            self._measuring = asyncio.create_task(self._measure())

    def _tail(self) -> Tail:
        return LiveTail(self._console, self._prompt) if self._prompt else Tail(self._console)

    async def _measure(self) -> None:
        """Bring the status line up to date; the next line is not waited for."""
        await self.desk.measure()
        if self._prompt:
            self._prompt.show()

    async def _keep_alive(self, shown: View) -> None:
        # Where nothing can be printed the turn itself finds out, and ends the chat.
        with contextlib.suppress(OutputError):
            while True:
                await asyncio.sleep(view.REFRESH)
                if not self._asking:
                    shown.tick()

    async def _command(self, line: str) -> None:
        name, argument = (*line.split(maxsplit=1), "", "")[:2]
        said = await find_command(name, self.desk).run(self.desk, argument.strip())
        if isinstance(said, Prompt):
            # Attached: what a file says names no places that may be read.
            await self._turn("", said.text)
        elif said:
            self._say(said)

    def _say(self, text: str) -> None:
        self._console.print(paint.styled(text, paint.NORMAL))

    def _tell(self, text: str) -> None:
        if self._view is not None:
            self._view.tell(text)
        else:
            self._console.print(paint.styled(text, paint.QUIET))

    async def _ask(self, proposal: ApprovalRequest) -> ApprovalAnswer:
        """Show exactly what would happen; the answer is typed after it was shown."""
        if self._view is not None:
            self._view.close()
        question = draw_question(proposal, self._console)
        self._console.print(Rows(question.rows), crop=False)
        choices = consent.choices(proposal, Path.cwd().resolve())
        if choices.rule:
            self._console.print(paint.styled(choices.rule, paint.QUIET))
        self._asking = True
        try:
            return await self._answered(choices, question)
        except EOFError:
            return ApprovalAnswer(False)
        finally:
            self._asking = False

    async def _answered(self, choices: Choices, question: Question) -> ApprovalAnswer:
        while True:
            said = await self._question(choices.line, "")
            if question.whole and said.strip().lower() in consent.ALL:
                self._console.print(Rows(question.whole), crop=False)
            elif choices.always and said.strip().lower() in consent.EDIT:
                try:
                    return consent.edited(
                        await self._question("always: ", "; ".join(choices.always))
                    )
                except UsageError as error:
                    self._tell(problem(str(error), error.hint))
            elif answer := consent.understood(said, choices):
                if answer.yes or answer.reason or said.strip() not in consent.ASKS_WHY:
                    return answer
                return consent.refused(await self._question("because: ", ""))
            elif said.strip():
                self._tell(consent.not_understood(said, choices))


def is_command(line: str) -> bool:
    """Whether it is `/name ...`; a message may begin with a path: `/etc/hosts is odd, why?`."""
    return line.startswith("/") and "/" not in line.split(maxsplit=1)[0][1:]


def music() -> str:
    """`playing Morning Light 0:12 / 3:40`, or nothing."""
    state = player.current_state()
    if state.song is None:
        return ""
    at = f"{show_clock(state.position)} / {show_clock(state.length)}"
    return neutralize_text(f"{'paused' if state.paused else 'playing'} {state.song.name} {at}")
