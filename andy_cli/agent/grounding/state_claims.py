"""`notes.txt now contains eggs`: what an answer tells of files that no call changed. Pure."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from andy_cli.agent.grounding.evidence import (
    FILE,
    ActionRecord,
    Claim,
    EvidenceIndex,
    find_key_words,
)
from andy_cli.agent.grounding.text.languages import Language
from andy_cli.agent.grounding.text.segmentation import (
    ITEM,
    Sentence,
    find_fences,
    fold_text,
    locate_clause,
    split_words,
    strip_line,
)
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Effect

PATTERN = Expression(r"[\w.?-]{0,80}\*[\w.?*-]{0,80}")
TELLING = Expression(r"\w")
BETWEEN_ITEMS = Expression(r", |、|،")
LOCAL_LOOKS = (Effect.READ, Effect.PROTOCOL)
FILE_FIRST = re.compile(
    rf"\W*(?P<name>{FILE.pattern})[`*_\"”»’']*(?P<rest>(?!\s*[:：–—=|(-]).+)", re.S
)


def find_state_claim(
    sentence: Sentence, languages: Sequence[Language], index: EvidenceIndex
) -> Claim | None:
    """Find a state that is told of a file and that nothing is known to have brought about."""
    user = index.evidence.user
    if any(
        language.unreal.search(sentence.text) or language.reports_action(user)
        for language in languages
    ):
        return None
    match = FILE_FIRST.match(sentence.text)
    if match and says_more(match["rest"]) and is_unread(match["name"], index):
        start = match.start("name")
    elif tells_wish_as_fact(sentence.text, languages, index) or tells_figure_of_unread(
        sentence, index
    ):
        start = 0
    else:
        return None
    text = sentence.text.rstrip(" .!…*_|")[start:]
    start += sentence.start
    return Claim(text, start, start + len(text), "state")


def tells_figure_of_unread(sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether what is said of a file that nobody has looked at, up to the next file, has a
    figure that nobody knows: `north.txt has 40 boxes, while south.txt has 65`."""
    files = [*FILE.finditer(sentence.text)]
    ends = [*(match.start() for match in files[1:]), len(sentence.text)]
    for match, end in zip(files, ends, strict=False):
        if not is_unread(match[0], index):
            continue
        _, start = locate_clause(sentence, sentence.start + match.start())
        told = FILE.sub(" ", fold_text(sentence.text[start - sentence.start : end]))
        figures = find_figures(told)
        if figures and figures.isdisjoint(index.words):
            return True
    return False


def shows_changed_file(answer: str, index: EvidenceIndex) -> bool:
    """Tell whether code or a list of the answer is what was read, with other lines in it, where the
    user wanted something done about a file and nothing but looks succeeded: it looks as if it had
    been done. A draft, a translation and an excerpt have no such mixture of lines."""
    actions, user = index.evidence.actions, index.evidence.user
    if actions is None or index.is_asked or FILE.search(fold_text(user)) is None:
        return False
    new_successes = [action for action in actions if action.is_new_success]
    if any(action.effect not in LOCAL_LOOKS for action in new_successes):
        return False
    shown_lines = list(filter(TELLING.search, list_shown_lines(answer)))
    known_count = sum(line in index.given_lines for line in shown_lines)
    return len(shown_lines) / 2 <= known_count < len(shown_lines)


def list_shown_lines(answer: str) -> list[str]:
    """List the lines of fences, else the items of lists, else what stands in a row behind the last
    colon, folded."""
    fences = [answer[start:end].split("\n")[1:-1] for start, end, _ in find_fences(answer)]
    lines = [line for fence_lines in fences for line in fence_lines]
    lines = lines or [match["rest"] for match in ITEM.finditer(answer)]
    lines = lines or BETWEEN_ITEMS.compiled.split(answer.rpartition(":")[2].strip(" .!\n"))
    return [strip_line(line) for line in lines]


def says_more(rest: str) -> bool:
    """Tell whether more than one word follows; some writings have no blanks between them."""
    return len(rest.split()) > 1 or not rest.isascii()


def is_unread(name: str, index: EvidenceIndex) -> bool:
    """Tell whether the user alone names a file: no call, no result and nothing said before."""
    actions = index.evidence.actions
    if actions is None or fold_text(name) not in fold_text(index.evidence.user):
        return False
    if any(action.ok and matches_pattern(name, action.arguments) for action in actions):
        return False
    known_texts = [*index.evidence.history, *(action.text for action in actions)]
    return not any(fold_text(name) in text for text in (index.given, *map(fold_text, known_texts)))


def matches_pattern(name: str, arguments: str) -> bool:
    """Tell whether a pattern among the arguments of a call means the file too: `cat *.ini`."""
    patterns = PATTERN.compiled.findall(fold_text(arguments))
    return any(fnmatchcase(fold_text(name), pattern) for pattern in patterns)


def tells_wish_as_fact(text: str, languages: Sequence[Language], index: EvidenceIndex) -> bool:
    """Tell whether it says that a file is now as the user wished, where the file was but looked at:
    `The list is sorted now`. What else it says is in no result: else it tells what was found.
    """
    actions = index.evidence.actions
    if not actions or any(
        not action.earlier and action.effect not in LOCAL_LOOKS for action in actions
    ):
        return False
    rest = told = fold_text(text)
    for language in languages:
        rest = language.now.sub(" ", rest)
    return rest != told and is_wished_alone(rest, actions, index)


def is_wished_alone(text: str, actions: Sequence[ActionRecord], index: EvidenceIndex) -> bool:
    """Tell whether a folded sentence about a file has words of the user's wish that nothing else
    has, and none that stand in a result."""
    words = find_key_words(text)
    looked_at = find_key_words(fold_text("\n".join(action.arguments for action in actions)))
    is_about_file = bool(words & looked_at) or FILE.search(text) is not None
    if not is_about_file or index.is_asked:
        return False
    if words & index.key_words - looked_at:
        return tells_wished_figure(text, index)
    return bool(words & index.user_key_words - index.key_words - index.earlier_key_words)


def tells_wished_figure(text: str, index: EvidenceIndex) -> bool:
    """Tell whether a folded sentence has figures of the wish alone: none that stands in a result,
    beside which a wished one is compared with it."""
    figures = find_figures(FILE.sub(" ", text))
    wished = find_figures(fold_text(index.evidence.user))
    return bool(figures & wished) and figures.isdisjoint(index.given_words)


def find_figures(text: str) -> set[str]:
    return {word for word in split_words(text) if any(map(str.isdigit, word))}
