"""The files of the folder that the user's words name, and that nothing has looked at."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from andy_cli.agent.conversation import Conversation
from andy_cli.guard.workspace import is_secret_file
from andy_cli.toolbox.nearby import find_nearby_names

SEARCHED_REQUEST = 2_000
"""Characters of a request in which names of files are looked for."""
MAX_CHARACTERS = 64_000
"""Of a file, of which results may tell."""
TELLING_LINES = 20
"""Of a file, the longest: what stands in a result of it is hardly in one of another."""
MIN_LETTERS = 4
"""Letters of a name without its ending that tell which file is meant."""
TEXT_ENDINGS = frozenset([".txt", ".md", ".csv", ".docx", ".xlsx", ".odt", ".pdf"])
"""Files that people call by their names without the ending: `my notes`."""
FILE_WORD = re.compile(r"(?<![\w.~/+-])(?![~/])[\w.~/+-]*\w")
WORD = re.compile(r"\w+")
FILE_NAME = re.compile(r"\S*\w\.\w+")
"""The name of a file with its ending: that file is meant, or none."""


def find_unread_files(conversation: Conversation, answer: str) -> Sequence[str]:
    """Find the files of the folder that the user's words name, and that no call was about so far,
    nor told of: a list of files tells nothing of what they hold.

    A text that is called by one word, without its ending, counts if the answer has that word too:
    `any good recipes?` seldom means recipes.txt. None where a text came with the words, as it may
    be what a file holds.
    """
    history = conversation.history
    if history.attached_texts:
        return []
    request = history.user_request[:SEARCHED_REQUEST]
    named = {*find_written_paths(request, conversation.folder)}
    named.update(find_called_files(request, answer, find_nearby_names(conversation.folder)))
    results = "\n".join(message.content for message in history.messages if message.role == "tool")
    calls = "\n".join(action.text for action in conversation.tools.actions)
    folder = conversation.folder
    return [
        name
        for name in sorted(named)
        if name not in calls and not is_told_of(name, folder, results)
    ]


def is_told_of(name: str, folder: Path, results: str) -> bool:
    """Tell whether results have a line of a file; of one that is no text, or may hold secrets, its
    name."""
    path = folder / name
    if is_secret_file(path, folder) or not is_present_file(path):
        return name in results
    try:
        with path.open(encoding="utf-8") as file:
            lines = [line.strip() for line in file.read(MAX_CHARACTERS).splitlines()]
    except (OSError, ValueError):
        return name in results
    telling = sorted({*lines}, key=len)[-TELLING_LINES:]
    if not telling or len(telling[-1]) < MIN_LETTERS:
        return name in results
    # Short lines stand in many files: an import, a rule.
    return any(line in results for line in telling if 2 * len(line) >= len(telling[-1]))


def find_written_paths(request: str, folder: Path) -> Iterator[str]:
    """Find the words that are the path of a file."""
    paths = map(PurePath, FILE_WORD.findall(request))
    return (path.as_posix() for path in paths if is_present_file(folder / path))


def is_present_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word longer than any name
        return False


def find_called_files(request: str, answer: str, names: Sequence[str]) -> Iterator[str]:
    """Find the files whose names stand in a request, and the texts that it calls by theirs without
    the ending: `my shopping list`.
    """
    written, called = request.casefold(), spread_words(FILE_NAME.sub(" ", request))
    told = spread_words(answer)
    for name in names:
        path = PurePath(name)
        is_written = not name.endswith("/") and stands_in(path.name.casefold(), written)
        stem = spread_words(path.stem)
        is_told = stem in told or " " in stem.strip() or is_coded(stem)
        if is_written or (may_be_called(path, stem) and stem in called and is_told):
            yield name


def may_be_called(path: PurePath, stem: str) -> bool:
    """Tell whether people may call a file by the words of its name alone."""
    is_text = path.suffix.lower() in TEXT_ENDINGS or is_coded(stem)
    return is_text and len(stem.strip()) >= MIN_LETTERS


def is_coded(stem: str) -> bool:
    """Tell whether a name has letters and figures, as nothing else is called: `kapitel2`."""
    return any(map(str.isdigit, stem)) and any(map(str.isalpha, stem))


def stands_in(name: str, text: str) -> bool:
    if name not in text:  # of thousands of names hardly one is: each expression takes 0.1 ms
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def spread_words(text: str) -> str:
    """The words of a text in lower case, a blank before, after and between them."""
    return f" {' '.join(WORD.findall(text.casefold().replace('_', ' ')))} "
