"""Names in an answer - files, paths, addresses, ids, quotations - looked up in the evidence. Pure.

A name stands in a result, in the user's words or in the history, or nothing supports it. No
language is known here: a name shows itself by its form, or by marks around it. By its names and
figures, and by nothing else, a sentence is also tied to the line of a result that backs it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from andy_cli.agent.grounding.evidence import (
    Claim,
    Evidence,
    EvidenceIndex,
    SentenceBacking,
    is_json,
    joins_words,
    list_file_readings,
)
from andy_cli.agent.grounding.figures.figure_claims import find_figures
from andy_cli.agent.grounding.text.languages import Language, detect_languages
from andy_cli.agent.grounding.text.segmentation import (
    ListEntry,
    Sentence,
    find_lists,
    find_sentence,
    fold_text,
    has_word,
    locate_clause,
    read_entry,
    remove_escapes,
    split_sentences,
    split_words,
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
CODE = Expression(r"(?<!`)`([^`\n]+)`(?!`)")
QUOTE = Expression(
    r"“([^”\n]{1,160})”|„([^“”\n]{1,160})[“”]|«\s?([^»\n]{1,160}?)\s?»|「([^」\n]{1,160})」"
    r"|『([^』\n]{1,160})』|《([^》\n]{1,160})》|(?<![\w\"])\"(?!\s)([^\"\n]{1,160})(?<!\s)\"(?!\w)"
)
PLACES = frozenset(["path", "file"])
IDENTIFIER = Expression(r"(?=.*(?:[_.\d/-]|[a-z][A-Z]))[\w./:#@+-]{3,}")
PLACEHOLDER = Expression(r"<[^<>]*>|[*{}$%]|\.\.\.|…")

SMALL_WORD = Expression(r"[a-zà-ÿ'’]+|\W*|[\d\W]+")

PAUSE = Expression(r"\.\.\.|\[[^\]]*\]|[/|,:]")

NO_PATH = Expression(r"[\d/.-]+|\w{1,3}/\w{1,3}")
"""A date, a fraction, `and/or`: no path."""

URL_START = Expression(r"^(?:\w+://)?(?:www\.)?")

PREFIX = Expression(r"[a-z]+[-_]")
EXACT = frozenset(["address", "id"])
"""Kinds that are strange beside known ones of their kind, also in an offer or a denial."""
CUSTOMARY = frozenset(
    """readme.md license package.json package-lock.json tsconfig.json pyproject.toml setup.py
    requirements.txt cargo.toml go.mod index.html robots.txt docker-compose.yml compose.yaml
    __init__.py conftest.py makefile .gitignore .env""".split()
)
"""Files that every project of a kind has: to name one claims nothing, but beside one that is there.
"""
MAX_QUOTE_LENGTH = 14
"""Words of a quotation: a longer one is a text that is proposed, or a passage."""


class NameChecker:
    """The names of one answer, outside of code."""

    def __init__(
        self, prose: str, code: str, spoken: Sequence[Sentence], index: EvidenceIndex
    ) -> None:
        """`prose`: the answer with its `code`, which stands in fences, blanked."""
        self.index, self._rest, self._prose = index, prose, prose
        self._code = "\n".join([code, *CODE.compiled.findall(prose)])
        self.taken: list[tuple[int, int]] = []
        """Places of names: no figure stands there."""
        self._spoken = spoken
        self._languages: list[Language] = detect_languages(prose)

    def find_claims(self) -> Iterator[Claim]:
        """Find the names that nothing supports."""
        for kind, pattern, holds in FORMS:
            yield from self._check_form(kind, pattern, holds)
        yield from self._check_codes()
        yield from self._check_quotations()
        for group in find_lists(self._prose):
            yield from self._find_unknown_items(group)

    def _check_form(
        self, kind: str, pattern: Expression, holds: Callable[[str, EvidenceIndex], bool]
    ) -> Iterator[Claim]:
        for match in pattern.finditer(self._rest):
            text = trim_punctuation(match[0])
            start, end = match.start(), match.start() + len(text)
            self._rest = f"{self._rest[:start]}{chr(0) * len(text)}{self._rest[end:]}"
            self.taken.append((start, end))
            if not text or PLACEHOLDER.search(text):
                continue
            if holds(text, self.index):
                continue
            is_supposed = self._is_supposed(start) or self._stands_in_command(kind, text)
            if not is_supposed or (kind in EXACT and self._is_half_known(text)):
                yield Claim(text, start, end, kind)

    def _check_codes(self) -> Iterator[Claim]:
        """Find identifiers set as code, where their like or their neighbours are known: of others
        everybody may know something."""
        for match in CODE.finditer(self._rest):
            text = match[1]
            if not IDENTIFIER.fullmatch(text) or PLACEHOLDER.search(text) or self._knows(text):
                continue
            if self._is_of_import(text):
                continue
            similar = self._is_among_known(match) or self.index.has_similar(text)
            if similar and not self._is_supposed(match.start()):
                yield Claim(text, match.start(1), match.end(1), "code")
        self._rest = CODE.sub(lambda match: "\0" * len(match[0]), self._rest)

    def _is_of_import(self, name: str) -> bool:
        """Tell whether it is a part of a module that a result imports whole: what else that has
        (`csv.DictReader` where the file has `csv.reader`) is known from elsewhere."""
        module = re.escape(fold_text(name.partition(".")[0]))
        line = rf"^[ \t]*import\b.*\b{module}\b"
        return "." in name and re.search(line, self.index.given, re.MULTILINE) is not None

    def _stands_in_command(self, kind: str, name: str) -> bool:
        """Tell whether a line of code has a file behind another word: then the answer says what
        may be done, as with a script that it shows (`python report.py`)."""
        command = rf"\w[ \t]+[^\s\w]*{re.escape(name)}(?!\w)"
        return kind in PLACES and re.search(command, self._code) is not None

    def _is_among_known(self, match: re.Match[str]) -> bool:
        """Tell whether the sentence has other names set as code, and all of them are known."""
        sentence = find_sentence(self._spoken, match.start())
        codes = CODE.compiled.findall(sentence.text) if sentence else []
        others = [code for code in codes if code != match[1]]
        return bool(others) and all(map(self._knows, others))

    def _check_quotations(self) -> Iterator[Claim]:
        is_object = is_json(self._prose)
        for match in QUOTE.finditer(self._rest):
            group = match.lastindex or 1
            text = match[group].strip(" .,!?…*_")
            if is_object and quotes_nothing(text, self._rest[match.end() : match.end() + 4]):
                continue
            if "\0" in text or len(split_words(text)) > MAX_QUOTE_LENGTH or not is_telling(text):
                continue
            if self._knows(text) or self._is_supposed(match.start(), len(match[0])):
                continue
            start = match.start(group) + match[group].find(text)
            yield Claim(text, start, start + len(text), "quote")

    def _find_unknown_items(self, group: Sequence[ListEntry]) -> Iterator[Claim]:
        """Find what nobody knows among entries that are all known but for it, and emphasised as
        one of them."""
        names = list(filter(may_be_item, group))
        unknown = [entry for entry in names if not self._knows(entry.text)]
        if len(names) < 3 or len(unknown) > max(1, len(names) // 4):
            return
        forms = {entry.emphasis for entry in names if entry not in unknown}
        for entry in unknown:
            # What is not emphasised as the names are is a sentence beside `**East** grew the most`.
            if entry.emphasis in forms and self._is_unknown_item(entry):
                yield Claim(entry.text, entry.start, entry.end, "item")

    def _is_unknown_item(self, entry: ListEntry) -> bool:
        words = split_words(fold_text(entry.text))
        has_known_words = all(map(self.index.contains_stem, words))
        return not ("\0" in entry.text or has_known_words or self._is_supposed(entry.start))

    def _is_half_known(self, text: str) -> bool:
        """Tell whether a part of an address is known; an id is judged so before."""
        name, _, domain = fold_text(text).partition("@")
        return not domain or self.index.contains(name) or self.index.contains(domain)

    def _knows(self, text: str) -> bool:
        return holds_quote(text, self.index)

    def _is_supposed(self, position: int, quoted: int = 0) -> bool:
        """Tell whether it is asked, offered, denied or advised there: nothing is said to be so.
        So many characters from there on are `quoted` and say nothing about that.
        """
        sentence = find_sentence(self._spoken, position)
        if sentence is None:
            return False
        clause, start = locate_clause(sentence, position)
        if quoted:
            before = max(0, position - start)
            clause = clause[:before] + clause[before + quoted :]
        if sentence.question:
            return True
        return any(language.unreal.search(clause) for language in self._languages)


def quotes_nothing(text: str, behind: str) -> bool:
    """Tell whether a text between the marks of JSON is a key, or a value that does not look like a
    name, as `old_plan` or `Lena Orth` do."""
    words = text.split()
    if len(words) > 1:
        is_name = all(word[0].isupper() for word in words)
    else:
        is_name = text.isascii() and not text.isalpha()
    return not is_name or behind.lstrip().startswith(":")


def is_telling(text: str) -> bool:
    """Tell whether a quotation may be a name: it is no single small word."""
    plain = text.strip()
    return bool(plain) and not SMALL_WORD.fullmatch(plain)


def may_be_item(entry: ListEntry) -> bool:
    return is_telling(entry.text) and len(split_words(entry.text)) < 9


def trim_punctuation(text: str) -> str:
    """Take off the punctuation of the sentence it stands in."""
    text = text.rstrip(".,;:!?*_'\"”’…")
    while text.endswith(")") and text.count("(") < text.count(")"):
        text = text[:-1].rstrip(".,;:!?*_")
    return text


def holds_quote(text: str, index: EvidenceIndex) -> bool:
    plain = fold_text(remove_escapes(text)).strip(" .,!?")
    if index.contains(plain):
        return True
    phrases = [phrase for phrase in PAUSE.split(plain) if phrase.strip()]
    return bool(phrases) and all(map(index.contains_words, phrases))


def holds_file(text: str, index: EvidenceIndex) -> bool:
    name = fold_text(remove_escapes(text))
    name_stem, _, extension = name.rpartition(".")
    if name in CUSTOMARY or (extension in {"js", "net", "io"} and name_stem in LIBRARIES):
        return True
    return any(map(index.contains, list_file_readings(name)))


def split_path(path: str) -> list[str]:
    """Split a path into the names in it."""
    return [path_name for path_name in path.split("/") if path_name not in ("", "~", ".", "..")]


def holds_path(text: str, index: EvidenceIndex) -> bool:
    path = fold_text(remove_escapes(text)).replace("\\", "/").rstrip("/ .")
    if NO_PATH.fullmatch(path) or index.contains(path):
        return True
    return all(map(index.contains_name, split_path(path)))


def holds_url(text: str, index: EvidenceIndex) -> bool:
    return URL_START.sub("", fold_text(text)).rstrip("/") in index.text


def holds_word(text: str, index: EvidenceIndex) -> bool:
    return all(map(index.contains, fold_text(text).split(":")))


NUMBERED = Expression(r"#\d")


def holds_address(text: str, index: EvidenceIndex) -> bool:
    return index.contains(fold_text(text))


def holds_id(text: str, index: EvidenceIndex) -> bool:
    """Look up an id; it is strange only where the evidence has others of its kind, for `SHA-256`
    names no record."""
    name = fold_text(text)
    if index.contains(name) or index.contains(name.removeprefix("#")):
        return True
    if name.startswith("#"):
        return NUMBERED.search(index.text) is None
    if prefix := PREFIX.match(name):
        return re.search(rf"(?<![a-z]){prefix[0]}\w*\d", index.text) is None
    return name in index.text or HASH.search(index.text) is None


FORMS: Sequence[tuple[str, Expression, Callable[[str, EvidenceIndex], bool]]] = (
    ("url", URL, holds_url),
    ("address", ADDRESS, holds_address),
    ("id", UUID, holds_word),
    ("id", HOST, holds_word),
    ("path", PATH, holds_path),
    ("file", FILE, holds_file),
    ("id", ID, holds_id),
)

SNIPPET = 160
PIECE = Expression(r"[^\n{}]+")
ITEM = Expression(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+|\s*\|")


def find_backing(answer: str, evidence: Evidence) -> tuple[SentenceBacking, ...]:
    """Tie each sentence of the answer to the line that has most of its names and figures."""
    lines: list[tuple[int, str, str]] = []
    for number, result in enumerate(evidence.results):
        for line in split_lines(result):
            lines.append((number, line.strip(), fold_text(remove_escapes(line))))
    return tuple(back_sentence(sentence, lines) for sentence in split_sentences(answer))


def split_lines(result: str) -> Iterator[str]:
    """Split a result into lines, or the records of JSON that stands in one line."""
    for match in PIECE.finditer(result):
        if has_word(match[0]):
            yield match[0]


def back_sentence(sentence: Sentence, lines: list[tuple[int, str, str]]) -> SentenceBacking:
    text = sentence.text.strip()
    telling_marks = {fold_text(mark) for mark in find_marks(sentence.text) if len(mark) > 1}
    best_line, most_shared = None, 0
    for number, line, folded in lines:
        shared = sum(contains_mark(folded, telling_mark) for telling_mark in telling_marks)
        if shared > most_shared:
            best_line, most_shared = (number, line), shared
    if best_line is None:
        return SentenceBacking(text, None)
    return SentenceBacking(text, best_line[0], best_line[1][:SNIPPET])


def find_marks(text: str) -> Iterator[str]:
    """Find the names and figures of a sentence."""
    for _, pattern, _ in FORMS:
        yield from (match[0] for match in pattern.finditer(text))
    yield from CODE.compiled.findall(text)
    for match in QUOTE.finditer(text):
        quotation = match[match.lastindex or 1]
        if is_telling(quotation):
            yield quotation.strip(" .,!?")
    yield from (figure.text for figure in find_figures(text, ()))
    if item := ITEM.match(text):
        yield read_entry(text[item.end() :], 0).text


def contains_mark(text: str, mark: str) -> bool:
    """Tell whether it stands there, as no part of a longer word or figure."""
    start = text.find(mark)
    while start >= 0:
        character_before, character_after = text[start - 1 : start], text[start + len(mark) :][:1]
        goes_on = is_one_word(character_before, mark[0]) or is_one_word(mark[-1], character_after)
        if not goes_on:
            return True
        start = text.find(mark, start + 1)
    return False


def is_one_word(character_before: str, character_after: str) -> bool:
    """Tell whether two characters, if both are there, stand in one word."""
    if not character_before or not character_after:
        return False
    return joins_words(character_before) and joins_words(character_after)
