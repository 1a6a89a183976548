"""Look for files by their names and by what is in them.

Ignored files (`.gitignore`) are passed over; links are not followed. PDF and office files are read
too. Files whose text was not looked at are counted and named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, get_args

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import compose_name, is_secret_file
from andy_cli.toolbox.files.encodings import encoding_of
from andy_cli.toolbox.files.kinds import (
    SAMPLE_BYTES,
    holds_text,
    is_document,
    kind_of_bytes,
    name_one,
)
from andy_cli.toolbox.files.names import count_noun, show_path, show_size
from andy_cli.toolbox.files.reading import read_pieces
from andy_cli.toolbox.files.search.expressions import MAX_CHARACTERS, Finder
from andy_cli.toolbox.files.search.globs import WILDCARDS, Glob, may_be_glob, parse_globs
from andy_cli.toolbox.files.search.ignoring import IgnoreFilter
from andy_cli.toolbox.files.search.walking import FolderEntry, Walk
from andy_cli.toolbox.runtime_context import GrantedPath, Work, current_context
from andy_cli.toolbox.tool import Outcome, progress

MAX_RESULTS = 200
"""Results."""
WIDEST = 300
"""Characters of a line that are shown."""
MAX_LINE_LENGTH = 1_000_000
"""Characters from which on a line is looked at in stretches."""
OVERLAP = 10_000
"""Characters that two stretches of a line share: what is looked for may stand where it is cut."""
MAX_NAMED = 20
"""Files that are named of those that could not be looked into."""
MAX_DOCUMENT_SIZE = 20_000_000
"""Bytes of a PDF or an office file that is looked into: to read one takes its time."""
BATCH_SIZE = 1000
"""Files that are looked at together."""
MIN_WORD_LENGTH = 4
"""Letters of a word that is looked for alone, where a phrase is found nowhere; shorter ones are
seldom what is meant."""
MAX_WORDS = 8
"""Words of a phrase that are looked for alone: each is a search of its own."""
LINE_BREAK = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n")
"""In a pattern, as it is or as expressions write it."""
WORD_EDGES = "(),;:!'\""
"""Signs around a word of a phrase."""
MISSPELT = range(6, 17)
"""Letters of a word that is looked for as it may be spelled too; of shorter ones many are near."""


class SearchRequest(NamedTuple):
    """The things to look for, by pattern or glob or both, and the place."""

    pattern: str
    glob: str
    path: str
    taken_as_glob: str = ""
    """A pattern of names that was given as a regular expression; the glob has to fit too."""
    instead_of: str = ""
    """A pattern that is found nowhere, for which this one is taken."""
    finding: str = ""
    """The words that name what this one finds then."""


def search_files(granted: GrantedPath, search_request: SearchRequest, work: Work) -> Outcome:
    """Find what is asked for; a pattern that finds nothing as a regular expression, or is none, is
    taken as a glob if it can be one, else as the text that it is. Of a phrase that is found nowhere
    the rarest word is found, of a word what is spelled nearly so.

    Raises ToolError for a pattern that is neither an expression nor found as text, and where
    nothing is to be looked for.
    """
    try:
        by_expression = Search(granted, search_request, work)
    except ToolError:
        if instead := _search_otherwise(granted, search_request, work, is_expression=False):
            return instead
        raise
    outcome = by_expression.outcome()
    if by_expression.number or work.over:
        return outcome
    instead = _search_otherwise(granted, search_request, work)
    if instead is None and by_expression.looked_at <= BATCH_SIZE:  # each is opened once more
        instead = _search_spellings(granted, search_request, work)
    return instead or outcome


def _search_otherwise(
    granted: GrantedPath, search_request: SearchRequest, work: Work, is_expression: bool = True
) -> Outcome | None:
    """Find a pattern that is found nowhere as an expression: as a glob of names if it can be one,
    else as text, or one word of it. A glob that is no expression may be found nowhere too.
    """
    if not may_be_glob(search_request.pattern):
        by_text = _search_text(granted, search_request, work)
        return by_text or _search_words(granted, search_request, work)
    as_glob = search_request._replace(pattern="", taken_as_glob=search_request.pattern)
    search = Search(granted, as_glob, work)
    outcome = search.outcome()
    return outcome if search.number or not is_expression else None


def _search_text(granted: GrantedPath, search_request: SearchRequest, work: Work) -> Outcome | None:
    """Find a pattern as the text that it is: `Bosnia (2026)`. None where it has no sign of an
    expression, is too long, or is found nowhere.
    """
    pattern = search_request.pattern
    escaped = re.escape(pattern)
    if escaped.replace("\\ ", " ") == pattern or len(escaped) > MAX_CHARACTERS:
        return None
    asked = search_request._replace(
        pattern=escaped, instead_of=f"{pattern} as an expression", finding="it as it is written"
    )
    search = Search(granted, asked, work)
    outcome = search.outcome()
    return outcome if search.number else None


def _search_words(
    granted: GrantedPath, search_request: SearchRequest, work: Work
) -> Outcome | None:
    """Find the word of a phrase that is found least often: it says most of what is meant.

    None where the pattern is no phrase, or none of its longer words is found.
    """
    phrase = search_request.pattern
    found: list[tuple[int, Outcome]] = []
    for pattern in _list_telling_words(phrase):
        asked = search_request._replace(
            pattern=pattern, instead_of=phrase, finding=f"the word {pattern} alone"
        )
        search = Search(granted, asked, work)
        outcome = search.outcome()
        if search.number:
            found.append((search.number, outcome))
    return min(found, key=lambda counted: counted[0])[1] if found else None


def _list_telling_words(phrase: str) -> list[str]:
    """List the longer words of a phrase; none where it is one word or a regular expression."""
    words = [word.strip(WORD_EDGES) for word in phrase.lower().split()]
    if len(words) < 2 or not all(word.isalnum() for word in words):
        return []
    longer = [word for word in words if len(word) >= MIN_WORD_LENGTH][:MAX_WORDS]
    # `plumbers` are looked for as `plumber`: a text may have one of them alone.
    return [word.removesuffix("s") if len(word) > MIN_WORD_LENGTH else word for word in longer]


def _search_spellings(
    granted: GrantedPath, search_request: SearchRequest, work: Work
) -> Outcome | None:
    """Find words that begin as the pattern does but for one letter; None where it is no word, or
    nothing is spelled so.
    """
    word = search_request.pattern
    if not word.isalpha() or len(word) not in MISSPELT:
        return None
    asked = search_request._replace(
        pattern=spell_variants(word), instead_of=word, finding="words spelled nearly so"
    )
    search = Search(granted, asked, work)
    outcome = search.outcome()
    return outcome if search.number else None


def spell_variants(word: str) -> str:
    """Give the regular expression of a word in which one letter is another one, is missing, is too
    many, or stands before its neighbour: never the first, and of the last only the order.
    """
    inner = range(1, len(word) - 1)
    variants = [f"{word[:at]}\\w?{word[at + 1 :]}" for at in inner]
    variants += [f"{word[:at]}\\w{word[at:]}" for at in range(1, len(word))]
    variants += [f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in inner]
    return rf"\b(?:{'|'.join(variants)})"


Group = Literal["documents", "unreadable", "too large", "may hold keys", "no text"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""Reasons why files were left out, first those that say most."""


class Unopened(NamedTuple):
    """A file whose text was to be searched and was not."""

    name: str
    group: Group
    why: str
    """The words after its name: `is a PNG picture`."""


class Search:
    """One search: first `results()`, then what is to be said about it."""

    def __init__(self, granted: GrantedPath, search_request: SearchRequest, work: Work) -> None:
        """`asked.path` is how the place was written: the results are written so that they can be
        opened. Raises ToolError for a pattern that is none."""
        if not (search_request.pattern or search_request.glob or search_request.taken_as_glob):
            raise ToolError("Say what to look for: a pattern, a glob of names, or both.")
        self._asked, self._work, self._where = search_request, work, show_path(granted.path)
        self._finder = Finder(search_request.pattern) if search_request.pattern else None
        given_globs = (search_request.glob, search_request.taken_as_glob)
        self._globs = [_read_glob(glob) for glob in given_globs if glob]
        """Each with the readings of its braces: one reading of each has to fit."""
        self.number = 0
        """Results."""
        is_file = granted.path.is_file()
        self._place = granted._replace(path=granted.path.parent) if is_file else granted
        self._prefix = _name_prefix(search_request.path, is_file)
        self._ignored = IgnoreFilter(self._place)
        self._walk = Walk(self._place, work, lambda entry: not self._ignored(entry))
        self._entries: Iterable[FolderEntry] = (
            [FolderEntry((granted.path.name,), "file")] if is_file else self._walk
        )
        self._alone = is_file
        self._unopened: list[Unopened] = []
        self.looked_at = 0
        """Files and folders."""
        self._fitting = 0  # those of them that the glob allows
        self._over = False

    def outcome(self) -> Outcome:
        results = self._find_results()
        self.number = len(results)
        is_cut = len(results) > MAX_RESULTS
        summary = self._summarize_count(len(results))
        notes = self._result_notes(is_cut, is_empty=not results)
        as_glob, nowhere = self._asked.taken_as_glob, self._asked.instead_of
        if not notes and not self._unopened and not as_glob and not nowhere:
            return Outcome(results, summary)
        record: dict[str, object] = {"data": results[:MAX_RESULTS]}
        if as_glob:
            glob_note = (
                f"{as_glob} was taken as a glob of names: as a regular expression it fits nothing."
            )
            record = {"note": glob_note, **record}
            summary += f", by names like {spell_out(as_glob)}"
        if nowhere:
            found = spell_out(self._asked.finding)
            record = {"note": f"Nothing has {spell_out(nowhere)}; this has {found}.", **record}
            summary += f", by {found}"
        if notes:
            record = {"truncated": True, **record, "rest": " ".join(notes)}
        return Outcome(record | self._named_unopened(), summary, self._describe_unopened())

    def _summarize_count(self, count: int) -> str:
        """Say how much was found, and where."""
        if self._fits_no_name():
            return (
                f"found nothing in {self._where}, where no name fits {spell_out(self._asked.glob)}"
            )
        many = f"more than {MAX_RESULTS} matches"
        number = many if count > MAX_RESULTS else count_noun(count, "match")
        return f"found {number if count else 'nothing'} in {self._where}"

    def _fits_no_name(self) -> bool:
        """Tell whether the glob left nothing to look into."""
        asked = self._asked
        return bool(asked.pattern and asked.glob and self.looked_at) and not self._fitting

    def _named_unopened(self) -> dict[str, object]:
        """The files that could not be looked into, as far as they are named."""
        if not self._unopened:
            return {}
        telling_files = sorted(self._unopened, key=lambda file: GROUPS.index(file.group))[
            :MAX_NAMED
        ]
        named_files = [{"file": file.name, "why": file.why} for file in telling_files]
        more_files = len(self._unopened) - len(named_files)
        groups = Counter(file.group for file in self._unopened)
        counts = {group: groups[group] for group in GROUPS if groups[group]}
        return {
            "unopened": named_files,
            **({"more_unopened": more_files, "unopened_counts": counts} if more_files else {}),
        }

    def _describe_unopened(self) -> str:
        """Say for the user what could not be looked at."""
        groups = Counter(file.group for file in self._unopened)
        unreadable, documents = groups["unreadable"], groups["documents"] + groups["too large"]
        reasons = []
        if unreadable:
            reasons.append(f"{count_noun(unreadable, 'file')} could not be opened")
        if documents:
            reasons.append(f"{count_noun(documents, 'file')} could not be searched for text")
        if self._walk.closed:
            reasons.append(f"{count_noun(self._walk.closed, 'folder')} could not be opened")
        if self._over or self._walk.cut:
            reasons.append("there was too much to look through all of it")
        return ", ".join(reasons)

    def _find_results(self) -> list[dict[str, object]]:
        """The results; where the time is up, those there are by then."""
        results: list[dict[str, object]] = []
        try:
            results.extend(islice(self._search_entries(), MAX_RESULTS + 1))
        except ToolError:
            if self._work.is_stopped or not self._work.over:
                raise
            self._over = True
        return results

    def _result_notes(self, is_cut: bool, is_empty: bool) -> list[str]:
        """Say for the model what is not there."""
        holds_keys = any(file.group == "may hold keys" for file in self._unopened)
        closed = f"{count_noun(self._walk.closed, 'folder')} may not be read by this user."
        notes = {
            f"There are more than {MAX_RESULTS}. Narrow the pattern, the glob or the path.": is_cut,
            "A pattern is matched in one line at a time: search for one of its lines.": (
                is_empty and LINE_BREAK.search(self._asked.pattern) is not None
            ),
            "Not everything was looked through: there is too much. Give a subfolder.": (
                self._over or self._walk.cut
            ),
            f"No name here fits the glob {spell_out(self._asked.glob)}: leave it out to search all"
            " files.": self._fits_no_name(),
            "What .gitignore names was left out; it is searched if its path is given.": (
                is_empty and self._ignored.any
            ),
            "Files that may hold keys were not looked into; give the path of one.": (
                is_empty and holds_keys
            ),
            closed: bool(self._walk.closed),
        }
        return [note for note, is_so in notes.items() if is_so]

    def _search_entries(self) -> Iterator[dict[str, object]]:
        entries = iter(self._entries)
        while portion := list(islice(entries, BATCH_SIZE)):
            self.looked_at += len(portion)
            progress(f"{self.looked_at:,} files")
            matching_entries = [entry for entry in portion if self._matches_glob(entry)]
            self._fitting += len(matching_entries)
            for entry in matching_entries:
                yield from self._search_entry(entry)

    def _matches_glob(self, entry: FolderEntry) -> bool:
        return all(any(glob.matches(entry.path) for glob in globs) for globs in self._globs)

    def _search_entry(self, entry: FolderEntry) -> Iterator[dict[str, object]]:
        """One entry's results: its name, then its lines."""
        if self._finder is None or self._name_matches(self._finder, entry):
            folder = entry.kind == "folder"
            yield {"file": self._prefix + entry.name, **({"type": entry.kind} if folder else {})}
        if entry.kind != "file" or self._finder is None:
            return
        path = self._place.path.joinpath(*entry.path)
        if not self._alone and is_secret_file(path, current_context().workspace):
            self._pass_over(entry, "may hold keys", "may hold keys, and was not looked into")
        else:
            yield from self._search_lines(entry, path)

    def _name_matches(self, finder: Finder, entry: FolderEntry) -> bool:
        """Hold the pattern against the name, or the path if the pattern is one, in the code points
        that it has and in those of keyboards."""
        name = entry.name if "/" in self._asked.pattern else entry.name.rpartition("/")[2]
        return finder.matches(name) or finder.matches(compose_name(name))

    def _search_lines(self, entry: FolderEntry, path: Path) -> Iterator[dict[str, object]]:
        try:
            file = self._place._replace(path=path).open()
        except ToolError:  # closed to us, or exchanged meanwhile
            self._pass_over(entry, "unreadable", "may not be read")
            return
        with file:
            file_kind = kind_of_bytes(file.read(SAMPLE_BYTES))
            file.seek(0)
            if not file_kind:
                yield from self._written_lines(entry, file)
            elif not is_document(file_kind, entry.name):
                group: Group = "documents" if holds_text(file_kind) else "no text"
                self._pass_over(entry, group, f"is {name_one(file_kind)}")
            elif entry.size > MAX_DOCUMENT_SIZE:
                self._pass_over(
                    entry, "too large", f"is larger than {show_size(MAX_DOCUMENT_SIZE)}"
                )
            else:
                yield from self._document_lines(entry, file)

    def _written_lines(self, entry: FolderEntry, file: BinaryIO) -> Iterator[dict[str, object]]:
        """Lines of a text; of one in which words are encoded those first that a person reads."""
        is_encoded = is_document("", entry.name) and entry.size <= MAX_DOCUMENT_SIZE
        found = list(self._document_lines(entry, file)) if is_encoded else []
        file.seek(0)
        yield from found or self._text_lines(entry, file)

    def _pass_over(self, entry: FolderEntry, group: Group, reason: str) -> None:
        self._unopened.append(Unopened(self._prefix + entry.name, group, reason))

    def _text_lines(self, entry: FolderEntry, file: BinaryIO) -> Iterator[dict[str, object]]:
        encoding = encoding_of(file, self._work)
        for number, line in self._match_lines(read_pieces(file, encoding, self._work)):
            yield {"file": self._prefix + entry.name, "line": number, "text": line}

    def _document_lines(self, entry: FolderEntry, file: BinaryIO) -> Iterator[dict[str, object]]:
        # The readers of documents are imported when there is a document.
        from andy_cli.toolbox.documents.text import text_of

        try:
            for part in text_of(file, entry.name, go_on=self._work.go_on):
                self._work.go_on()
                for _, line in self._match_lines([part.text]):
                    result: dict[str, object] = {"file": self._prefix + entry.name}
                    yield result | ({"place": part.place} if part.place else {}) | {"text": line}
        except ToolError as error:
            if self._work.is_stopped or self._work.over:
                raise
            self._pass_over(entry, "documents", f"could not be read: {error}")

    def _match_lines(self, texts: Iterable[str]) -> Iterator[tuple[int, str]]:
        finder = self._finder
        assert finder is not None
        for number, line in matching_lines(texts, finder):
            yield number, _line_excerpt(line, finder)


def _read_glob(pattern: str) -> tuple[Glob, ...]:
    """Read a glob: a folder means all that is in it, and several may stand between commas."""
    if "{" in pattern or not (WILDCARDS.search(pattern) or pattern.rstrip().endswith("/")):
        return parse_globs(pattern)
    parts = [part.strip() for part in pattern.split(",") if part.strip()]
    as_list = ",".join(f"**/{part}**" if part.endswith("/") else part for part in parts)
    return (*parse_globs(pattern), *parse_globs(f"{{{as_list}}}"))


def matching_lines(texts: Iterable[str], finder: Finder) -> Iterator[tuple[int, str]]:
    """The lines that match, with their numbers; of a long line the first stretch that does."""
    last_match = 0
    for first_number, block in _join_lines(texts):
        if not finder.may_match(block):
            continue
        for number, line in enumerate(block.split("\n"), first_number):
            if number != last_match and finder.matches(line):
                last_match = number
                yield number, line


def _join_lines(texts: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Whole lines as one text, with the number of the first. Memory is bounded: a line that is too
    long comes in stretches, each of which begins with the end of the one before it.
    """
    number, pending = 1, ""
    for text in texts:
        joined = (pending + text).replace("\r\n", "\n")
        whole_lines, line_end, pending = joined.rpartition("\n")
        if line_end:
            yield number, whole_lines
            number += whole_lines.count("\n") + 1
        if len(pending) > MAX_LINE_LENGTH:
            yield number, pending
            pending = pending[-OVERLAP:]
    if pending:
        yield number, pending


def _name_prefix(path: str, alone: bool) -> str:
    """Return what stands before the names that are found; `alone`: the path is that of a file."""
    folder = path.rpartition("/")[0] if alone else path.rstrip("/")
    if alone and not folder:
        return "/" if path.startswith("/") else ""
    return "" if folder == "." else f"{folder}/"


def _line_excerpt(line: str, finder: Finder) -> str:
    """The part of a line in which the match stands, if that can be told."""
    if len(line) <= WIDEST:
        return line
    for start in range(0, len(line), WIDEST // 2):
        if finder.matches(excerpt := line[start : start + WIDEST]):
            beginning = "..." if start else ""
            ending = "..." if start + WIDEST < len(line) else ""
            return f"{beginning}{excerpt}{ending}"
    return line[:WIDEST] + "..."
