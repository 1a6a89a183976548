"""The names of things that were seen under their ids in this process.

A call that deletes an event or overwrites a file names an id, which says nothing to the user who is
asked about it. So what a list or a read has shown of it stands beside the id.
"""

from andy_cli.toolbox.google.contents.pages import shorten_words

MAX_NAMES = 10_000
"""Names that are kept: the newest."""

_names: dict[str, str] = {}


def remember_name(id: object, name: object, when: str = "") -> None:
    """Remember what is called so, and for an event when it is."""
    if not isinstance(id, str) or not isinstance(name, str) or not (id and name):
        return
    _names.pop(id, None)
    _names[id] = ", ".join(filter(None, [shorten_words(name), when]))
    if len(_names) > MAX_NAMES:
        del _names[next(iter(_names))]


def show_with_name(id: str) -> str:
    """The id, and the name under which it was seen last, if it was."""
    return f"{id} ({_names[id]})" if id in _names else id


def forget_names() -> None:
    _names.clear()
