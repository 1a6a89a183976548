"""Which of the things an answer names are presented as findings? Each kind has a condition.

Offers, questions, examples, denials and ordinary knowledge are none; where it is doubtful, no.
Pure.
"""

import re
from collections.abc import Callable

from andy_cli.agent.grounding.anchors import FIGURES, KINDS_LACKING, ORDER, anchored, figured
from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import NEGATION, Sentence
from andy_cli.agent.grounding.quantities import approximate
from andy_cli.agent.grounding.reading import Reading, around, words_after, words_before
from andy_cli.agent.grounding.shapes import COMMON, COUNT, TALLY
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.totals import CORE
from andy_cli.agent.grounding.vocabulary import ITEMS, LABELS, STOP
from andy_cli.compiler.expression import Expression

NAMES = frozenset(["file", "path", "address", "url", "id"])
"""Claims wherever they stand, but in offers to make them and denials that they are there."""

MAKING = Expression(
    r"\b(?:(?:save|write|create|export|generate|make|put|add|speicher\w*|erstell\w*"
    r"|enregistrer|créer|guardar"
    r"|crear|new|called|named|example|instance)\W+(?:[\w'’]+\W+){0,6}|(?:as|to|into|like"
    r"|such as|e\.g\.,?|als|en"
    r"|nach|in)\s+(?:an? |the |new )*)[*_`\"'“]*$",
    re.IGNORECASE,
)
"""What follows is to be made, or is an example."""

EXAMPLE = Expression(
    r"\b(?:like|such as|e\.g\.,?|example|instance|wie|comme|como|in the form(?:at)?"
    r"|of the form|z\.\s?b\.)\W*$",
    re.IGNORECASE,
)

MEANING = Expression(
    r"\b(?:means?|translat\w+|in (?:english|german|french|spanish)|auf \w+|bedeutet|heißt|signifie"
    r"|significa|as in|so-called|literally|meaning)\b",
    re.IGNORECASE,
)
"""What is quoted after it is a translation or an explanation."""

PACE = re.compile(r"\s?(?:/|per\b|pro\b|par\b|por\b)", re.IGNORECASE)
RATE = re.compile(r"\s(?:a|an|per|pro|par|por|each|every)\s\w", re.IGNORECASE)
TO_TIME = re.compile(r"\s?(?:to|bis|-|–|until|à|a)\s?\d{1,2}(?::\d\d| ?[ap]\.?m)", re.IGNORECASE)
RECORDED = Expression(
    r"\b(?:modified|changed|updated|created|saved|sent|received|dated|due|scheduled|published|added"
    r"|recorded|taken|uploaded|starts?|ends?|expires?|from)\b",
    re.IGNORECASE,
)
"""A date is told of a record."""

PLACED = Expression(r"\b(?:in|inside|under|at|from|dans|en|unter)\s[*_`\"]*$", re.IGNORECASE)


def asserted(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Does the answer present it as a finding?"""
    if claim.kind in NAMES:
        return named(reading, claim, sentence)
    if sentence.question or sentence.offer or claim.kind in {"code", "tally"}:
        return False
    condition = CONDITIONS.get(claim.kind)
    return condition(reading, claim, sentence) if condition else reading.is_about(sentence)


def figure(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Of a number, a percentage, a size or a duration."""
    if EXAMPLE.search(words_before(claim, sentence)):
        return False
    if claim.kind == "duration" and not reading.index.gives(KINDS_LACKING["duration"]):
        return False
    if claim.kind in {"number", "percent"} and not figured(reading, claim, sentence):
        return False
    if claim.kind == "number" and TO_TIME.match(words_after(claim, sentence)):
        return False
    return anchored(reading, claim, sentence) and reading.is_about(sentence)


def timed(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    if reading.between or PACE.match(words_after(claim, sentence)):
        return False
    return reading.is_about(sentence)


def dated(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Where the results give no date, only one that is told of a record."""
    if not reading.index.days and not RECORDED.search(around(claim, sentence)):
        return False
    return reading.is_about(sentence)


def versioned(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Is it one of those that the results give: of three parts, and not of another product?"""
    if claim.text.count(".") < 2 or not reading.index.gives(r"\d\.\d+\.\d"):
        return False
    word = re.search(r"([A-Z][\w.+-]*)\s$", words_before(claim, sentence))
    if word and folded(word[1]) not in reading.index.given_words:
        return False
    return reading.is_about(sentence)


def named(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    if claim.kind in {"file", "path"}:
        if claim.kind == "path" and "." not in claim.text and claim.text[0] not in "~/":
            # `text/html` is no path; one that goes on like a known one is.
            first = folded(claim.text).split("/")[0]
            if not claim.text.endswith("/") and f"{first}/" not in reading.index.text:
                return False
        if sentence.negated and denied(reading, claim, sentence):
            return False
        before = words_before(claim, sentence)
        return not ((sentence.question or sentence.offer) and MAKING.search(before))
    if EXAMPLE.search(words_before(claim, sentence)):
        return False
    if claim.kind == "url" and (sentence.question or sentence.offer):
        return False
    if claim.kind == "id":
        return reading.is_about(sentence) and of_a_series(reading, claim)
    return True


def of_a_series(reading: Reading, claim: Claim) -> bool:
    """A letter with a figure is the name of a room where the results name such rooms."""
    name = folded(claim.text)
    if re.fullmatch(r"[\d-]+", name):
        return True
    if name.count(".") > 1 and not name[0].isdigit():
        return half_known_host(reading, name)
    if not COMMON.fullmatch(claim.text) and len(name) > 2:
        return True
    shape = re.sub(r"\d+", r"\\d+", re.escape(name))
    if name[0].isdigit():
        shape = r"\d+[a-z]"
    return reading.index.gives(rf"\b{shape}\b")


def half_known_host(reading: Reading, name: str) -> bool:
    """Do most of its labels stand in a name of the results, in the same order?"""
    labels = name.split(".")
    pattern = rf"\b{re.escape(labels[0])}\.[\w.-]*\.{re.escape(labels[-1])}\b"
    return reading.index.gives(pattern)


def denied(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Is it said not to be there?"""
    before = words_before(claim, sentence)
    after = re.split(r"[,;.]\s|\sbut\s", words_after(claim, sentence))[0][:40]
    before = re.split(r"[;]\s|\s(?:but|however|aber|mais|pero)\s", before)[-1]
    if PLACED.search(before):
        return False
    return bool(NEGATION.search(before) or NEGATION.search(after))


def titled(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    if sentence.negated or not reading.is_about(sentence, claim.text):
        return False
    if MEANING.search(words_before(claim, sentence)):
        return False
    words = claim.text.split()
    capitals = sum(each[:1].isupper() or each[:1].isdigit() for each in words)
    if claim.kind == "title":
        after = reading.prose[claim.end : claim.end + 4].lstrip("*_ ")
        alone = sentence.text.strip(" *_#>-") == claim.text
        telling = [each for each in words_of(folded(claim.text)) if each not in STOP]
        return (
            not alone
            and not after.startswith(":")
            and not claim.text.endswith(":")
            and len(words) > 1
            and capitals == len([each for each in words if each.casefold() not in STOP])
            and not all(each in LABELS for each in telling)
            and bool(re.search(r"\d", sentence.text.replace(claim.text, "")))
        )
    if len(words) == 1:
        return claim.text[0].isupper() and len(claim.text) > 3
    return capitals > 0 or len(words) > 2


def counted(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    match = COUNT.match(claim.text) or TALLY.match(claim.text)
    if not match:
        return False
    noun, number = match["noun"].casefold(), match["number"]
    family = ITEMS.get(noun)
    before = words_before(claim, sentence)
    if number.casefold() in {"one", "ein", "eine", "un", "une", "una", "uno"} and not re.search(
        r"\b(?:only|exactly|just|there is|contains|have|has|found|nur|seulement|solo)\s$",
        before,
        re.I,
    ):
        return False
    if RATE.search(claim.text + words_after(claim, sentence)[:8]):
        return False
    if ORDER.search(before) or (number in {"24", "7"} and "24/7" in sentence.text):
        return False
    known = singular(noun) in {"row", "record", "line", "column"} or (
        noun in {"people", "persons", "members", "contacts"}
        and not reading.index.keys.isdisjoint({"email", "name", "user", "from", "person"})
    )
    known = known or singular(noun) in reading.index.words or noun in reading.index.words
    if not known and approximate(before):
        return False
    if family in CORE or known or not family:
        return reading.is_about(sentence)
    return False


CONDITIONS: dict[str, Callable[[Reading, Claim, Sentence], bool]] = {
    "subject": titled,
    "title": titled,
    "count": counted,
    "version": versioned,
    "time": timed,
    "date": dated,
    **dict.fromkeys(FIGURES, figure),
}
