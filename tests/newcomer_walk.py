"""A newcomer's first walk through `andy chat`: what is typed, what the model says, what is seen.

    for scene in walk(folder):
        ... scene.name, scene.terminal

The terminal, andy, the tools, the files and the music are real; only the model is scripted. Each
scene is looked at before it is handed on, so whoever goes through them all has tested the walk.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.make_music import MUSIC
from tests.model_server import (
    Answer,
    ModelServer,
    Operation,
    Received,
    ollama_end,
    ollama_event,
    ollama_reply,
)
from tests.terminal import Terminal

MODELS = ("qwen3:8b", "llama3.1:8b")
FACTS = {
    "/api/tags": {"models": [{"name": name} for name in MODELS]},
    "/api/show": {
        "model_info": {"qwen3.context_length": 40_960},
        "capabilities": ["completion", "tools"],
    },
}
CALC = '''"""Sums for the choir's till."""


def total(prices):
    return sum(prices)


def average(prices):
    return total(prices) / len(prices) + 1
'''
NOTES = """Choir on Friday, 19:30.
Bring the blue folder.
"""
REPEATED = 100
"""The songs are so many times as long as those of tests/music: minutes, not a second."""


def furnish(folder: Path) -> None:
    """What the newcomer has: three songs, a program with a bug, a note."""
    for song in sorted(MUSIC.glob("*.mp3")):
        lengthen(song, folder / song.name)
    (folder / "calc.py").write_text(CALC)
    (folder / "notes.txt").write_text(NOTES)


def lengthen(song: Path, to: Path) -> None:
    """Write the same song many times over: after its tag an MP3 is only frames."""
    data = song.read_bytes()
    begins = data.index(b"\xff\xf3")
    to.write_bytes(data[:begins] + data[begins:] * REPEATED)


def say(*pieces: str, pause: float = 0.0) -> list[Operation]:
    """A streamed answer; `pause` is so many seconds before its last piece."""
    reply = ollama_reply(*map(ollama_event, pieces), ollama_end())
    return [*reply[:-2], {"op": "sleep", "s": pause}, *reply[-2:]]


def call(name: str, **arguments: object) -> list[Operation]:
    """An answer that is one call of a tool."""
    function = {"name": name, "arguments": arguments}
    return ollama_reply(ollama_event(tool_calls=[{"function": function}]), ollama_end())


STORY = "Once there was a tram that went home every night, and it was never late.\n\nIt was "
SCRIPT: Mapping[str, Sequence[Answer]] = {
    "what songs are here?": [
        call("list_mp3s"),
        say(
            "Three songs:\n\n",
            "1. **Morning Light** by Ada Finch\n",
            "2. **Paper Boats** by The Tin Lanterns\n",
            "3. **Last Tram Home** by Ada Finch\n",
        ),
    ],
    "play the first one": [
        call("play_mp3", file="01 - Morning Light.mp3"),
        say("**Morning Light** is playing."),
    ],
    "fix the bug in calc.py": [
        call("read_file", path="calc.py"),
        call(
            "edit_file",
            path="calc.py",
            old_string="    return total(prices) / len(prices) + 1",
            new_string="    return total(prices) / len(prices)",
        ),
        say("`average` added one to what it found. It no longer does."),
    ],
    "tell me a story": [say(STORY, "happy.", pause=4)],
    "and a title for it": [say("*The Tram that Was Never Late*")],
    "what do I need on Friday? @notes.txt": [say("The blue folder; choir begins at 19:30.")],
    "a longer one": [[*ollama_reply(ollama_event(STORY)), {"op": "stall"}]],
}
"""What is asked -> what the model says to it, one answer after each result."""


def answer(received: Received) -> Answer:
    """What the model says to the newest words of the user."""
    messages = received.body["messages"]
    last = max(at for at, each in enumerate(messages) if each["role"] == "user")
    said = sum(each["role"] == "assistant" for each in messages[last:])
    asked = messages[last]["content"]
    (answers,) = [script for words, script in SCRIPT.items() if asked.startswith(words)]
    return answers[said]


@dataclass(frozen=True, slots=True)
class Walker:
    """Who sits before the terminal."""

    terminal: Terminal
    plain: bool

    def enter(self, line: str) -> None:
        self.terminal.type(f"{line}\r")

    def sees(self, words: str) -> None:
        """Wait for the words, wherever the screen breaks their line."""
        self.terminal.wait(lambda: words in self.words, repr(words))

    def sees_below(self, words: str) -> None:
        """Wait for words beneath the prompt: where nothing is drawn again they are not there."""
        if not self.plain:
            self.terminal.wait(lambda: words in self.below, f"{words!r} below the prompt")

    def gets_prompt(self) -> None:
        """Wait until what was sent is done."""
        self.terminal.prompts()

    def sees_empty_prompt(self) -> None:
        """Wait for it after an answer to a question, which is nothing that was sent."""
        self.terminal.wait(lambda: self.terminal.lines[self.terminal.screen.cursor.y] == ">", ">")

    @property
    def words(self) -> str:
        return " ".join(self.terminal.text.split())

    @property
    def below(self) -> str:
        return " ".join(self.terminal.lines[self.terminal.screen.cursor.y + 1 :])


def start(walker: Walker) -> None:
    """andy is there at once, and says how to get help."""
    walker.gets_prompt()
    walker.sees("/help")


def see_models(walker: Walker) -> None:
    """The models that there are, with numbers."""
    walker.enter("/model")
    walker.gets_prompt()
    walker.sees("1 ollama:qwen3:8b")
    walker.sees("2 ollama:llama3.1:8b")


def switch_model(walker: Walker) -> None:
    """A number of the list is enough; the line at the bottom says who answers now."""
    walker.enter("/model 2")
    walker.gets_prompt()
    walker.sees_below("ollama:llama3.1:8b")
    walker.enter("/model 1")
    walker.gets_prompt()
    walker.sees_below("ollama:qwen3:8b")


def list_songs(walker: Walker) -> None:
    """What andy did is one line in plain words, and the answer stands below it."""
    walker.enter("what songs are here?")
    walker.gets_prompt()
    walker.sees("\u2022 listed 3 songs")
    walker.sees("Last Tram Home")


def play_song(walker: Walker) -> None:
    """Music goes on while one types, and the line at the bottom says how far it is."""
    walker.enter("play the first one")
    walker.gets_prompt()
    walker.sees("\u2022 started")
    walker.sees_below("- playing")
    if walker.terminal.screen.columns >= 80:
        walker.sees_below("01 - Morning Light.mp3 2 s / 2:37")


def stop_song(walker: Walker) -> None:
    walker.enter("/stop")
    walker.gets_prompt()
    walker.sees("stopped 01 - Morning Light.mp3")


def ask_before_change(walker: Walker) -> None:
    """Before a file is changed the change is shown, and a question asked."""
    walker.enter("fix the bug in calc.py")
    walker.sees("andy wants to edit calc.py")
    walker.sees("4 no (say why)")


def change_file(walker: Walker) -> None:
    """Yes; what was changed is shown once more, where it stays."""
    walker.enter("1")
    walker.sees("\u2022 changed calc.py")
    walker.sees("It no longer does.")
    assert walker.words.count("1 once") == 1
    walker.sees_empty_prompt()


def queue_message(walker: Walker) -> None:
    """What is sent while an answer is written waits for its turn, in sight."""
    walker.enter("tell me a story")
    walker.sees("it was never late.")
    walker.terminal.type("and a title for it\r")
    if not walker.plain:
        walker.sees("queued: and a title for it")
        walker.terminal.type("what do I")
        walker.sees("> what do I")


def answer_queued(walker: Walker) -> None:
    """It is sent when the answer is whole."""
    walker.terminal.type("\x15")
    walker.sees("It was happy.")
    walker.sees("> and a title for it")
    walker.gets_prompt()
    walker.sees("The Tram that Was Never Late")


def run_command(walker: Walker) -> None:
    """A line after ! is the newcomer's own command; its output stays on the screen."""
    walker.enter("!ls")
    walker.sees("calc.py notes.txt")
    walker.gets_prompt()


def attach_file(walker: Walker) -> None:
    """A path after @ goes with the message."""
    walker.enter("what do I need on Friday? @notes.txt")
    walker.gets_prompt()
    walker.sees("The blue folder; choir begins at 19:30.")


def complete_command(walker: Walker) -> None:
    """Tab shows what may stand there."""
    walker.terminal.type("/co\t")
    walker.sees("/compact")
    walker.sees("/copy")


def interrupt(walker: Walker) -> None:
    """Ctrl-C stops an answer that takes too long, and what was said stays."""
    walker.terminal.type("\x03")
    walker.gets_prompt()
    walker.enter("a longer one")
    walker.terminal.wait(lambda: walker.words.count("never late.") == 2, "second story")
    walker.terminal.type("\x03")
    walker.sees("stopped")
    walker.gets_prompt()


def leave(walker: Walker) -> None:
    walker.terminal.type("\x04")
    assert walker.terminal.leaves() == 0
    assert "resume with `andy -c`" in walker.words


def resume(walker: Walker) -> None:
    """`andy -c` shows what was said last."""
    walker.gets_prompt()
    walker.sees("Going on with")
    walker.sees("> a longer one")


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    terminal: Terminal


Step = Callable[[Walker], None]
FIRST: Sequence[Step] = (
    start,
    see_models,
    switch_model,
    list_songs,
    play_song,
    stop_song,
    ask_before_change,
    change_file,
    queue_message,
    answer_queued,
    run_command,
    attach_file,
    complete_command,
    interrupt,
    leave,
)
SECOND: Sequence[Step] = (resume,)
"""After the first chat was left."""


def walk(folder: Path, columns: int = 80, plain: bool = False, port: int = 0) -> Iterator[Scene]:
    """Take all steps in a folder that is furnished for it; each screen is handed on.

    The model is one of an Ollama at this port, where andy finds it if that is the usual one, or at
    any free port, which OLLAMA_HOST tells.
    """
    furnish(folder)
    with ModelServer(answer, models=MODELS, facts=FACTS, ollama=True, port=port) as server:
        host = "" if port else f"127.0.0.1:{server.port}"
        flags = ["--plain"] * plain
        for begin, steps in (["chat"], FIRST), (["-c"], SECOND):
            with Terminal(
                *begin, *flags, columns=columns, folder=folder, OLLAMA_HOST=host
            ) as terminal:
                for step in steps:
                    step(Walker(terminal, plain))
                    yield Scene(step.__name__, terminal)
