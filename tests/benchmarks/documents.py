"""What it takes to index the documents of a person, and to find words in them.

20,000 notes of 400 to 5,000 characters, their words as frequent as words are (Zipf). The floor of
indexing is to read the files; that of a query is SQLite's own work on the same index, without the
files, the places and the snippets.
"""

import itertools
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

from andy_cli.toolbox.documents.finding import find_documents
from andy_cli.toolbox.documents.index import DocumentIndex, open_index
from andy_cli.toolbox.documents.indexing import update_folder
from andy_cli.toolbox.documents.walk import files_in
from tests.benchmarks.measure import table

FILES, VOCABULARY, QUERIES = 20_000, 30_000, 200
GOAL_INDEX, GOAL_QUERY = 60.0, 5.0
"""Seconds on two cores; milliseconds."""

SQL = "select rowid from pieces where pieces match ? order by rank limit 10"


def words(source: random.Random) -> list[str]:
    """Made of syllables, the most frequent first."""

    def word() -> str:
        syllables = source.randint(2, 4)
        return "".join(
            source.choice("bcdfghklmnprstvw") + source.choice("aeiou") for _ in range(syllables)
        )

    return list(dict.fromkeys(word() for _ in range(2 * VOCABULARY)))[:VOCABULARY]


def write(folder: Path, source: random.Random, known: Sequence[str]) -> int:
    """The notes, in folders of 200; returns how many bytes they have."""
    weights = list(itertools.accumulate(1 / at for at in range(1, len(known) + 1)))
    total = 0
    for at in range(FILES):
        place = folder / f"{at // 200:03}" / f"note {at}.md"
        if at % 200 == 0:
            place.parent.mkdir(parents=True)
        said = source.choices(known, cum_weights=weights, k=source.choice([60, 150, 300, 600]))
        lines = [" ".join(said[start : start + 12]) for start in range(0, len(said), 12)]
        total += place.write_text("\n".join(lines), encoding="utf-8")
    return total


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def read(folder: Path) -> int:
    return sum(len(Path(each.path).read_bytes()) for each in files_in(folder))


def asked(
    index: DocumentIndex, database: Path, queries: Sequence[str], folder: Path
) -> tuple[float, float, float]:
    """Median and slowest of ten milliseconds of a query, and SQLite's own part of it."""
    times = [seconds(partial(find_documents, index, query, "", 10, folder)) for query in queries]
    with closing(sqlite3.connect(database)) as plain:

        def search(query: str) -> None:
            plain.execute(SQL, [query]).fetchall()

        own = [seconds(partial(search, query)) for query in queries]
    return median(times) * 1000, sorted(times)[len(times) * 9 // 10] * 1000, median(own) * 1000


def main() -> None:
    source = random.Random(7)
    known = words(source)
    root = Path(tempfile.mkdtemp())
    try:
        folder, database = root / "notes", root / "index.db"
        size = write(folder, source, known) / 1e6
        read(folder)
        floor = seconds(lambda: read(folder))
        with open_index(database) as index:
            index.add(folder)
            first = seconds(lambda: update_folder(index, folder, 50_000_000))
        with open_index(database) as index:
            update_folder(index, folder, 50_000_000)  # what was fresh is looked at once more
            again = median(
                seconds(lambda: update_folder(index, folder, 50_000_000)) for _ in range(5)
            )
            report(index, database, folder, source, known, (first, again, floor, size))
    finally:
        shutil.rmtree(root)


def report(
    index: DocumentIndex,
    database: Path,
    folder: Path,
    source: random.Random,
    known: Sequence[str],
    taken: tuple[float, float, float, float],
) -> None:
    first, again, floor, size = taken
    stored = database.stat().st_size / 1e6
    rows = [
        (
            f"{FILES} files, {size:.0f} MB",
            f"{first:.1f} s",
            f"{floor:.1f} s  reading them",
            f"{first / floor:.0f}x (<= {GOAL_INDEX:.0f} s)",
        ),
        ("once more, nothing changed", f"{again:.2f} s", f"{floor:.1f} s  reading them", ""),
        (
            "the index itself",
            f"{stored:.0f} MB",
            f"{size:.0f} MB  the files",
            f"{stored / size:.1f}x",
        ),
    ]
    table("documents: indexing", rows)
    kinds = [
        (
            "two words of a person's query",
            [" ".join(source.sample(known[100:5000], 2)) for _ in range(QUERIES)],
        ),
        ("one rare word", [source.choice(known[5000:]) for _ in range(QUERIES)]),
        ("one word of every tenth file", [source.choice(known[60:120]) for _ in range(QUERIES)]),
        ("one word of every second file", [source.choice(known[5:20]) for _ in range(QUERIES)]),
    ]
    rows = []
    for what, queries in kinds:
        middle, slow, own = asked(index, database, queries, folder)
        goal = f" (<= {GOAL_QUERY:.0f} ms)" if what.startswith(("two", "one rare")) else ""
        rows.append(
            (
                what,
                f"{middle:.1f} ms, 9 in 10 {slow:.1f}",
                f"{own:.1f} ms  SQLite",
                f"{middle / own:.1f}x{goal}",
            )
        )
    table("documents: a query, ten files with snippets", rows)
