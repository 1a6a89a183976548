"""Find words in the indexed documents.

    found = find(index, 'tram "last stop"', scope="notes", limit=10)

All words must be there, in any order and any of their forms; what stands in quotation marks, as it
stands; `tram*`, as a beginning. Where nothing has all words, what has the most telling of them is
found. The best comes first (BM25), one hit a file.
"""

import os
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.documents.index import DocumentIndex, as_indexed, as_written

WORD = re.compile(r"\"([^\"]+)\"|(\S+)")
MAX_WORDS = 50
MORE, MAX_ROWS = 10, 10_000
"""Rows beside those wanted, as some are of the same file; and all that are looked at."""

BEFORE, AFTER = "\x01", "\x02"
"""Stand around a word that was found; the index holds neither."""

SNIPPET_CHARACTERS = 300
"""Characters of a snippet."""

COMMON_WORDS = frozenset(
    """a about an and are as at be by can did do does for from had has have how i in is it me my of
    on or that the this to was we were what when where which who why will with you your""".split()
)
"""Words of questions rather than of answers: left out where there are others to look for."""

WILDCARDS = frozenset("*?[")
AS_ANY_LETTER = str.maketrans("*[", "??")


class Hit(NamedTuple):
    path: str
    place: str
    """`line 12`, `page 3`, or nothing."""
    snippet: str
    changed: bool
    """The file is another one now than when it was read."""


class DocumentHits(NamedTuple):
    """The places of the index that were found for a query."""

    hits: tuple[Hit, ...]
    all_words: bool
    """True if the hits have all the words, and not some of them."""
    gone: int
    """Files with a hit that are not there any more."""


class SearchScope(NamedTuple):
    """The part of the index that is looked through: a condition on `files.path`, and its values."""

    condition: str = ""
    values: tuple[str, ...] = ()


def find_documents(
    index: DocumentIndex, query: str, scope: str, limit: int, workspace: Path
) -> DocumentHits:
    """Raises ToolError for a query without words and for a scope where nothing is indexed."""
    words = list(_query_words(query))
    if not words:
        raise ToolError("The query holds no words to look for.", "Write some.")
    search_scope = _resolve_scope(index, scope, workspace)
    for search_expression in dict.fromkeys((" ".join(words), " OR ".join(words))):
        found_hits, missing_files = _find_hits(index, search_expression, search_scope, limit)
        if found_hits or missing_files:
            return DocumentHits(
                tuple(found_hits), search_expression == " ".join(words), missing_files
            )
    return DocumentHits((), True, 0)


def _query_words(query: str) -> Iterator[str]:
    """The words as FTS5 takes them: each a string of its own, so that none is an operator."""
    matches = list(WORD.finditer(query))[:MAX_WORDS]
    telling_words = [
        match for match in matches if match[0].lower().strip("?!.,") not in COMMON_WORDS
    ]
    for match in telling_words or matches:
        written = match[1] or match[2]
        if any(character.isalnum() for character in written):
            beginning = "*" if match[2] and written.endswith("*") else ""
            indexed_word = as_indexed(written.rstrip("*")).replace('"', '""')
            yield f'"{indexed_word}"{beginning}'


def _resolve_scope(index: DocumentIndex, scope: str, workspace: Path) -> SearchScope:
    """A folder, as a path or as a name anywhere in one; or a pattern of file names or paths."""
    written = scope.strip().removeprefix("./").rstrip("/")
    if written in ("", "*", "."):
        return SearchScope()
    if not WILDCARDS.isdisjoint(written):
        pattern = str(Path(written).expanduser()) if written[0] in "~/" else f"*/{written}"
        candidates = [SearchScope("files.path glob ?", (pattern,))]
    else:
        path = os.path.normpath(workspace / Path(written).expanduser())
        candidates = [_scope_below(path)]
        if not written.startswith(("/", "~", ".")):
            inside = f"*/{written.translate(AS_ANY_LETTER)}"
            candidates.append(
                SearchScope("(files.path glob ? or files.path glob ?)", (f"{inside}/*", inside))
            )
    for candidate in candidates:
        if index.rows(f"select 1 from files where {candidate.condition} limit 1", candidate.values):
            return candidate
    folders = ", ".join(spell_out(folder.path) for folder in index.folders()) or "no folder yet"
    raise ToolError(f"Nothing is indexed in {spell_out(scope)}. Indexed are: {folders}.")


def _scope_below(path: str) -> SearchScope:
    # What begins with the folder and a slash; the character after the slash is 0.
    return SearchScope(
        "(files.path = ? or (files.path > ? and files.path < ?))", (path, f"{path}/", f"{path}0")
    )


def _find_hits(
    index: DocumentIndex, match: str, scope: SearchScope, limit: int
) -> tuple[list[Hit], int]:
    """The best hit of each file, best first, and how many files with hits are gone."""
    row_limit = limit + MORE
    rows = _select_rows(index, match, scope, row_limit)
    while len(rows) == row_limit and len({row[0] for row in rows}) < limit and row_limit < MAX_ROWS:
        # A few files with many hits are before all others.
        row_limit *= 8
        rows = _select_rows(index, match, scope, row_limit)
    hits_by_path: dict[str, Hit | None] = {}
    for row in rows:
        path = str(row[0])
        if path not in hits_by_path and sum(map(bool, hits_by_path.values())) < limit:
            hits_by_path[path] = _read_hit(row)
    present_hits = [file_hit for file_hit in hits_by_path.values() if file_hit]
    return present_hits, len(hits_by_path) - len(present_hits)


def _select_rows(
    index: DocumentIndex, match: str, scope: SearchScope, row_limit: int
) -> list[tuple[object, ...]]:
    files = "parts on parts.id = {} join files on files.id = parts.file"
    marked = f"highlight(pieces, 1, '{BEFORE}', '{AFTER}') as marked"
    if not scope.condition:
        # Only what is best is looked up and marked, not all that was found.
        best_rows = f"""select rowid, rank, {marked} from pieces where pieces match ?
                   order by rank limit ?"""
        statement = f"""select path, size, changed, place, unit, line, marked
                  from ({best_rows}) as best join {files.format("best.rowid")} order by best.rank"""
        return index.rows(statement, [match, row_limit])
    statement = f"""select path, size, changed, place, unit, line, {marked} from pieces
              join {files.format("pieces.rowid")}
              where pieces match ? and {scope.condition} order by pieces.rank limit ?"""
    return index.rows(statement, [match, *scope.values, row_limit])


def _read_hit(row: Sequence[object]) -> Hit | None:
    """A row as what is told; None for a file that is not there any more."""
    path, size, changed, location, unit, line, marked = row
    try:
        state = os.lstat(str(path))
    except OSError:
        return None
    snippet, lines = _cut_snippet(str(marked))
    if unit:
        location = f"{unit} {int(str(line)) + lines}"
    is_other = (state.st_size, state.st_mtime_ns) != (size, changed)
    return Hit(str(path), str(location), snippet, is_other)


def _cut_snippet(marked: str) -> tuple[str, int]:
    """The part with the most of what was found, and how many lines are before its best one."""
    hit_starts = [index for index, sign in enumerate(marked) if sign == BEFORE]
    best_start = _find_densest(marked, hit_starts)
    start = max(marked.rfind("\n", 0, best_start) + 1, best_start - SNIPPET_CHARACTERS // 3)
    start = _at_a_word(marked, start, best_start)
    end = start + SNIPPET_CHARACTERS
    text = as_written(marked[start:end].replace(BEFORE, "").replace(AFTER, ""))
    before_mark = "..." if start and marked[start - 1] != "\n" else ""
    after_mark = "..." if end < len(marked) else ""
    return before_mark + " ".join(text.split()) + after_mark, marked.count("\n", 0, best_start)


def _find_densest(marked: str, hit_starts: Sequence[int]) -> int:
    """Find where most was found: on the rest of a line first, then near."""
    densest_start, highest_density = 0, (0, 0)
    for index, start in enumerate(hit_starts):
        end = marked.find("\n", start, start + SNIPPET_CHARACTERS)
        hits_on_line = bisect(hit_starts, end if end >= 0 else start + SNIPPET_CHARACTERS) - index
        density = (hits_on_line, bisect(hit_starts, start + SNIPPET_CHARACTERS) - index)
        if density > highest_density:
            densest_start, highest_density = start, density
    return densest_start


def _at_a_word(text: str, start: int, latest_start: int) -> int:
    """The beginning of a word at or after the start, if there is one."""
    if start == 0 or text[start - 1].isspace():
        return start
    blank = text.find(" ", start, latest_start)
    return blank + 1 if blank >= 0 else start
