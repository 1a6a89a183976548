"""What happens to a line that was typed: a slash command, or a turn that is shown."""

import asyncio
import sys

from prompt_toolkit import PromptSession

from andy_cli.agent.turn import turn
from andy_cli.discover import discover
from andy_cli.errors import AndyError
from andy_cli.frontends import paint
from andy_cli.frontends.chat import commands
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.chat.view import View
from andy_cli.frontends.options import Options
from andy_cli.frontends.words import problem
from andy_cli.guard.gate import Answer, Proposal
from andy_cli.guard.neutralizer import neutralize
from andy_cli.messages import Effect

PATIENCE = 1.0
"""Seconds without a sign of life after which one is given."""


class Talk:
    """One chat, from its first line to its last."""

    def __init__(self, options: Options) -> None:
        self._console = paint.console(options.plain)
        self._view: View | None = None
        self.desk = Desk(options, options.settings(), self._tell, self._ask)

    @property
    def over(self) -> bool:
        return self.desk.over

    @property
    def status(self) -> str:
        return self.desk.status

    async def answer(self, line: str) -> None:
        """Carry out a command or a turn; whatever goes wrong is one line and the chat goes on."""
        try:
            if line.startswith("/"):
                await self._command(line[1:])
            else:
                await self._turn(line)
        except AndyError as error:
            self._console.print(paint.styled(problem(str(error), error.hint), paint.ERROR))

    async def close(self) -> None:
        await self.desk.close()

    async def _turn(self, line: str) -> None:
        opened = await self.desk.opened()
        self._view = view = View(self._console)
        clock = asyncio.create_task(self._show_life(view, opened.chat.client.name))
        try:
            async for event in turn(opened.chat, line):
                clock.cancel()
                view.show(event)
                clock = asyncio.create_task(self._show_life(view, opened.chat.client.name))
        finally:
            clock.cancel()
            view.close()
            self._view = None

    async def _show_life(self, view: View, model: str) -> None:
        seconds = 0
        while True:
            await asyncio.sleep(PATIENCE)
            seconds += 1
            view.waiting(f"{model} is working, {seconds} s (Ctrl-C stops it)")

    async def _command(self, line: str) -> None:
        name, _, argument = line.partition(" ")
        for command in discover(commands, Command, "COMMAND"):
            if name.lower() in (command.name, *command.aliases):
                said = await command.run(self.desk, argument.strip())
                if said:
                    self._console.print(neutralize(said), markup=False)
                return
        self._tell(f"There is no /{name}. /help lists what there is.")

    def _tell(self, text: str) -> None:
        if self._view is not None:
            self._view.close()
        self._console.print(paint.styled(text, paint.QUIET))

    async def _ask(self, proposal: Proposal) -> Answer:
        """Show exactly what would happen and take an answer that was typed after it was shown."""
        if self._view is not None:
            self._view.close()
        self._console.print(paint.styled(f"andy wants to {proposal.action}", paint.WARNING))
        for place in proposal.places:
            self._console.print(paint.styled(f"  {place}", paint.WARNING))
        forget_typed_ahead()
        session: PromptSession[str] = PromptSession()
        once = proposal.effect is Effect.ACT
        choices = "yes / no" if once else "yes / session / no"
        said = (await session.prompt_async(f"{choices}? ")).strip().lower()
        return Answer(
            yes=said in ("y", "yes", "1") or (said in ("s", "session", "2") and not once),
            session=said in ("s", "session", "2"),
        )


def command_names() -> list[str]:
    return [each.name for each in discover(commands, Command, "COMMAND")]


def forget_typed_ahead() -> None:
    """Keys typed before a question is on the screen do not answer it."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
