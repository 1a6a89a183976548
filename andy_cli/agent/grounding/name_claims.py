"""Find the names in an answer - files, paths, addresses, ids, quotations - and look them up. Pure.

A name stands in a result, in the user's words or in the history, or nothing supports it. No
language is known here: a name shows itself by its form, or by marks around it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from andy_cli.agent.grounding.claims import Claim
from andy_cli.agent.grounding.evidence import EvidenceIndex
from andy_cli.agent.grounding.text.folding import fold_text, remove_escapes, split_words
from andy_cli.agent.grounding.text.languages import Language, detect_languages
from andy_cli.agent.grounding.text.layout import (
    ListEntry,
    Sentence,
    find_clause,
    find_lists,
    find_table_columns,
)
from andy_cli.agent.grounding.text.vocabulary import EXTENSIONS, LIBRARIES
from andy_cli.compiler.expression import Expression

EXTENSION = "|".join(sorted(EXTENSIONS, key=len, reverse=True))
STOP = r"\s<>\"'`|*\0\u3000-\u303f\uff00-\uffef“”„«»"
URL = Expression(rf"\b(?:https?|ftp|file)://[^{STOP}]+|\bwww\.[^{STOP}]+", re.I)
ADDRESS = Expression(r"(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.I | re.A)
UUID = Expression(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.I)
HOST = Expression(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\w)")
PATH = Expression(
    rf"(?<![\w/.<~:@-])(?:~|\.{{1,2}})?/[^{STOP}:;,()\[\]{{}}]+"
    rf"|(?<!\w)[A-Za-z]:\\[^{STOP}:;,()]+"
    rf"|(?<![\w/.<~:@-])[\w.-]+/(?:[\w. -]*/)?[\w.-]*\.(?:{EXTENSION})\b"
    rf"|(?<![\w/.<~:@-])[A-Za-z][\w.-]+/[\w-]{{3,}}(?:/[\w.-]+)*"
)
FILE = Expression(
    rf"(?<![\w./@\\-])[\w][\w.+&’()\[\]-]{{0,120}}?\.(?:{EXTENSION})(?![\w-]|\.\w)", re.I
)
ID = Expression(
    r"(?<![\w/.&-])(?:\#\d{2,}|[A-Z]{2,}[-_](?:[A-Z0-9]+[-_])*\d{2,}[\w-]*"
    r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w/-]|\.\d)"
)
HASH = Expression(r"(?<!\w)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?!\w)")
PHONE = Expression(r"(?<![\w.:/-])(?:\+\d|0)\d{1,3}[ /()-]{1,2}\d[\d ()/-]{4,}\d(?![\w:/-])")
CODE = Expression(r"(?<!`)`([^`\n]+)`(?!`)")
QUOTE = Expression(
    r"“([^”\n]{1,160})”|„([^“”\n]{1,160})[“”]|«\s?([^»\n]{1,160}?)\s?»|「([^」\n]{1,160})」"
    r"|『([^』\n]{1,160})』|《([^》\n]{1,160})》|(?<![\w\"])\"(?!\s)([^\"\n]{1,160})(?<!\s)\"(?!\w)"
)
IDENTIFIER = re.compile(r"(?=.*(?:[_.\d/-]|[a-z][A-Z]))[\w./:#@+-]{3,}")
PLACEHOLDER = re.compile(r"<[^<>]*>|[*{}$%]|\.\.\.|…")
EXACT = frozenset(["address", "id"])
"""Kinds that are strange beside known ones of their kind, also in an offer or a denial."""
CUSTOMARY = frozenset(
    """readme.md license package.json package-lock.json tsconfig.json pyproject.toml setup.py
    requirements.txt cargo.toml go.mod index.html robots.txt docker-compose.yml compose.yaml
    __init__.py conftest.py makefile .gitignore .env""".split()
)
"""Files that every project of a kind has: to name one claims nothing."""
LONGEST_QUOTE = 14
"""Words of a quotation: a longer one is a text that is proposed, or a passage."""


class NameChecker:
    """The names of one answer, outside of code."""

    def __init__(self, prose: str, spoken: Sequence[Sentence], index: EvidenceIndex) -> None:
        """`prose`: the answer with its fences blanked."""
        self.index, self._rest, self._prose = index, prose, prose
        self.taken: list[tuple[int, int]] = []
        """Where a name stands: no figure does."""
        self._spoken = spoken
        self._languages: list[Language] = detect_languages(prose)

    def unsupported(self) -> Iterator[Claim]:
        """The names that nothing supports."""
        for kind, pattern, holds in FORMS:
            yield from self._judged(kind, pattern, holds)
        yield from self._codes()
        yield from self._quotations()
        for group in find_lists(self._prose):
            yield from self._strangers(group)
        for column in find_table_columns(self._prose):
            yield from self._strangers(column[:-1])  # the last row may be a total

    def _judged(
        self, kind: str, pattern: Expression, holds: Callable[[str, EvidenceIndex], bool]
    ) -> Iterator[Claim]:
        for match in pattern.compiled.finditer(self._rest):
            text = trim_punctuation(match[0])
            start, end = match.start(), match.start() + len(text)
            self._rest = f"{self._rest[:start]}{chr(0) * len(text)}{self._rest[end:]}"
            self.taken.append((start, end))
            if not text or PLACEHOLDER.search(text) or holds(text, self.index):
                continue
            if not self._supposed(start) or (kind in EXACT and self._half_known(text)):
                yield Claim(text, start, end, kind)

    def _codes(self) -> Iterator[Claim]:
        """Identifiers set as code, where their like or their neighbours are known: of others
        everybody may know something."""
        for match in CODE.compiled.finditer(self._rest):
            text = match[1]
            if not IDENTIFIER.fullmatch(text) or PLACEHOLDER.search(text) or self._knows(text):
                continue
            said = self._sentence(match.start())
            others = [
                each for each in CODE.compiled.findall(said.text if said else "") if each != text
            ]
            beside = bool(others) and all(map(self._knows, others))
            if (beside or self.index.has_similar(text)) and not self._supposed(match.start()):
                yield Claim(text, match.start(1), match.end(1), "code")
        self._rest = CODE.sub(lambda match: "\0" * len(match[0]), self._rest)

    def _quotations(self) -> Iterator[Claim]:
        for match in QUOTE.compiled.finditer(self._rest):
            group = match.lastindex or 1
            text = match[group].strip(" .,!?…*_")
            if "\0" in text or len(split_words(text)) > LONGEST_QUOTE or not is_telling(text):
                continue
            if self._knows(text) or self._supposed(match.start()):
                continue
            start = match.start(group) + match[group].find(text)
            yield Claim(text, start, start + len(text), "quote")

    def _strangers(self, group: Sequence[ListEntry]) -> Iterator[Claim]:
        """What nobody knows among entries that are all known but for it."""
        names = [
            each for each in group if is_telling(each.text) and len(split_words(each.text)) < 9
        ]
        known = [self._knows(each.text) for each in names]
        if len(names) < 3 or len(names) - sum(known) > max(1, len(names) // 4):
            return
        for each, good in zip(names, known, strict=True):
            strange = [
                word
                for word in split_words(fold_text(each.text))
                if not self.index.contains_stem(word)
            ]
            if good or not strange or "\0" in each.text or self._supposed(each.start):
                continue
            yield Claim(each.text, each.start, each.end, "item")

    def _half_known(self, text: str) -> bool:
        """Whether a part of an address is known; an id is judged so before."""
        name, _, domain = fold_text(text).partition("@")
        return not domain or self.index.contains(name) or self.index.contains(domain)

    def _knows(self, text: str) -> bool:
        return holds_quote(text, self.index)

    def _sentence(self, at: int) -> Sentence | None:
        return next((each for each in self._spoken if each.start <= at < each.end), None)

    def _supposed(self, at: int) -> bool:
        """It is asked, offered, denied or advised there: nothing is said to be so."""
        sentence = self._sentence(at)
        if sentence is None:
            return False
        said = find_clause(sentence, at)
        return sentence.question or any(each.unreal.search(said) for each in self._languages)


def is_telling(text: str) -> bool:
    """Whether a quotation may be a name: it is no single small word."""
    plain = text.strip()
    return bool(plain) and not re.fullmatch(r"[a-zà-ÿ'’]+|\W*|[\d\W]+", plain)


def trim_punctuation(text: str) -> str:
    """Without the punctuation of the sentence it stands in."""
    text = text.rstrip(".,;:!?*_'\"”’…")
    while text.endswith(")") and text.count("(") < text.count(")"):
        text = text[:-1].rstrip(".,;:!?*_")
    return text


def holds_quote(text: str, index: EvidenceIndex) -> bool:
    plain = fold_text(remove_escapes(text)).strip(" .,!?")
    if index.contains(plain):
        return True
    pieces = [each for each in re.split(r"\.\.\.|\[[^\]]*\]|[/|,:]", plain) if each.strip()]
    return bool(pieces) and all(map(index.contains_words, pieces))


def holds_file(text: str, index: EvidenceIndex) -> bool:
    name = fold_text(remove_escapes(text))
    if name in CUSTOMARY:
        return True
    if name.rpartition(".")[2] in {"js", "net", "io"} and name.rpartition(".")[0] in LIBRARIES:
        return True
    return index.contains(name) or (
        re.search(r"[ _-]", name) is not None and index.contains_words(name)
    )


def holds_path(text: str, index: EvidenceIndex) -> bool:
    path = fold_text(remove_escapes(text)).replace("\\", "/").rstrip("/ .")
    parts = [each for each in path.split("/") if each not in ("", "~", ".", "..")]
    if not parts or re.fullmatch(r"[\d/.-]+|\w{1,3}/\w{1,3}", path) or index.contains(path):
        return True
    known = index.text.replace("\\", "/")
    last = parts[-1]
    if "." in last and len(parts) > 1 and f"/{last}" in known:
        # Where whole paths are given, this must be the end of one of them.
        return f"{parts[-2]}/{last}" in known and all(part in known for part in parts)
    home = 2 if path.startswith(("/home/", "/users/")) else 0
    return all(index.contains(part) or index.contains_words(part) for part in parts[home:] or parts)


def holds_url(text: str, index: EvidenceIndex) -> bool:
    plain = re.sub(r"^(?:\w+://)?(?:www\.)?", "", fold_text(text)).rstrip("/")
    return plain in index.text


def holds_word(text: str, index: EvidenceIndex) -> bool:
    return all(index.contains(each) for each in fold_text(text).split(":"))


def holds_address(text: str, index: EvidenceIndex) -> bool:
    return index.contains(fold_text(text))


def holds_id(text: str, index: EvidenceIndex) -> bool:
    """Look up an id; it is strange only where the evidence has others of its kind, for `SHA-256`
    names no record."""
    name = fold_text(text)
    if index.contains(name) or index.contains(name.removeprefix("#")):
        return True
    if name.startswith("#"):
        return re.search(r"#\d", index.text) is None
    if prefix := re.match(r"[a-z]+[-_]", name):
        return re.search(rf"(?<![a-z]){re.escape(prefix[0])}\w*\d", index.text) is None
    return name in index.text or HASH.search(index.text) is None


def holds_phone(text: str, index: EvidenceIndex) -> bool:
    digits = re.sub(r"\D", "", text)[-7:]
    return digits in re.sub(r"(?<=\d)[ ()/.-]+(?=[\d(])", "", index.text)


FORMS: Sequence[tuple[str, Expression, Callable[[str, EvidenceIndex], bool]]] = (
    ("url", URL, holds_url),
    ("address", ADDRESS, holds_address),
    ("id", UUID, holds_word),
    ("id", HOST, holds_word),
    ("path", PATH, holds_path),
    ("file", FILE, holds_file),
    ("id", ID, holds_id),
    ("phone", PHONE, holds_phone),
)
