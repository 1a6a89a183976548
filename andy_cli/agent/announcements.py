"""Tell an answer that only announces what it is going to do from one that says something.

No words of any language are looked for. A reply that stops at a colon or an ellipsis has more to
come. Else it is one short line that repeats a wish of the user and adds nothing to it: no figure,
no name, no quotation, no place.
"""

import re
from collections.abc import Sequence

LONGEST = 160
"""Characters; more is an answer."""
FEWEST = 4
"""Words; fewer is an answer too."""
STEM = 4
"""Letters by which words are the same: `list` and `listing`, `Lied` and `Lieder`."""
OPEN_END = (":", "\uff1a", "...", "\u2026")
SUBSTANCE = re.compile(r"[\d`\"'\u2018\u201c\u201e\u00ab/\\<>\n|*#]")
CONTRACTION = re.compile(r"(?<=\w)['\u2019](?=\w)")
WORD = re.compile(r"[^\W\d_]+")


def only_announces(user: str, reply: str, done: bool = False) -> bool:
    """Tell whether a reply that calls nothing announces what the user asked for, and stops.

    `done`: something was done before; then its end alone tells.
    """
    line = CONTRACTION.sub(" ", reply.strip())
    if not line or len(line) > LONGEST or "\n" in line:
        return False
    if line.endswith(OPEN_END):
        return True
    is_question = "?" in f"{line}{user}" or "\uff1f" in line
    words = WORD.findall(line)
    if done or len(words) < FEWEST or SUBSTANCE.search(line) or is_question:
        return False
    return _only_repeats_wish(words, user)


def _only_repeats_wish(words: Sequence[str], user: str) -> bool:
    """Tell whether words repeat a wish of the user, and name nothing that the user does not."""
    wished = {_cut_to_stem(word) for word in WORD.findall(user)}
    repeats = any(len(word) >= STEM and _cut_to_stem(word) in wished for word in words)
    names = [word for word in words[1:] if word[0].isupper() and _cut_to_stem(word) not in wished]
    return repeats and not any(len(name) > 1 for name in names)


def _cut_to_stem(word: str) -> str:
    return word.lower()[:STEM]
