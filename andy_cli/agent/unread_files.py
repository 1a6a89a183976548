"""The files of the folder that the user's words name, and that nothing has looked at."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from andy_cli.agent.conversation import Conversation

SEARCHED_REQUEST = 2_000
"""Characters of a request in which names of files are looked for."""
MAX_ENTRIES = 2_000
"""Entries of the folder whose names are compared."""
MIN_LETTERS = 4
"""Letters of a name without its ending that tell which file is meant."""
TEXT_ENDINGS = frozenset([".txt", ".md", ".csv", ".docx", ".xlsx", ".odt", ".pdf"])
"""Files that people call by their names without the ending: `my notes`."""
FILE_WORD = re.compile(r"(?<![\w.~/+-])(?![~/])[\w.~/+-]*\w")
WORD = re.compile(r"\w+")
FILE_NAME = re.compile(r"\S*\w\.\w+")
"""The name of a file with its ending: that file is meant, or none."""


def find_unread_files(conversation: Conversation) -> Sequence[str]:
    """Find the files of the folder that the user's words name, and that no call was about so far,
    nor told of.

    None where a text came with the words, as it may be what a file holds.
    """
    history = conversation.history
    if history.attached_texts:
        return []
    request = history.user_request[:SEARCHED_REQUEST]
    named = {*find_written_files(request, conversation.folder)}
    named.update(find_texts_called(request, conversation.folder))
    results = [message.content for message in history.messages if message.role == "tool"]
    known = "\n".join([*results, *(action.text for action in conversation.tools.actions)])
    return [name for name in sorted(named) if name not in known]


def find_written_files(request: str, folder: Path) -> Iterator[str]:
    """Find the words that are the path of a file."""
    return (word for word in FILE_WORD.findall(request) if is_present_file(folder / word))


def is_present_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word longer than any name
        return False


def find_texts_called(request: str, folder: Path) -> Iterator[str]:
    """Find the texts whose names stand in a request, or do without the ending: `my shopping
    list`.
    """
    written, called = request.casefold(), split_name(FILE_NAME.sub(" ", request))
    for name in list_names(folder):
        stem = split_name(Path(name).stem)
        is_text = Path(name).suffix.lower() in TEXT_ENDINGS and len("".join(stem)) >= MIN_LETTERS
        is_named = name.casefold() in written or f" {' '.join(stem)} " in f" {' '.join(called)} "
        if is_text and is_named and is_present_file(folder / name):
            yield name


def list_names(folder: Path) -> Sequence[str]:
    """List what the folder holds, or as much as is compared."""
    try:
        return [path.name for path in islice(folder.iterdir(), MAX_ENTRIES)]
    except OSError:  # it is gone, or closed to the user
        return []


def split_name(text: str) -> list[str]:
    return WORD.findall(text.casefold().replace("_", " "))
