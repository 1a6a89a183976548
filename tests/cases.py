"""Cases as data: the rows of the corpora in tests/corpora."""

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from tests import history_rules

Row = dict[str, Any]
Case = TypeVar("Case")
CORPORA = Path(__file__).parent / "corpora"


def rows(*files: str) -> list[Row]:
    """The rows of corpus files, in order."""
    lines = [line for file in files for line in (CORPORA / file).read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def name(row: Row) -> str:
    return str(row["id"])


def quick_every(step: int, cases: Iterable[Any]) -> list[Any]:
    """For `parametrize`: one case of so many is in the quick suite, the others are slow."""
    slow = pytest.mark.slow
    return [
        case if at % step == 0 else pytest.param(case, marks=slow) for at, case in enumerate(cases)
    ]


# Thousands of cases, in one test each promise.

only = ""
"""`pytest --case TEXT` sets it: cases whose name holds this text are looked at alone."""
quick = False
"""The quick suite sets it: it looks at a sample of what the whole suite looks at."""
PARAMETERS = type(pytest.param())


def sample_every(step: int, cases: Iterable[Case]) -> list[Case]:
    """Take one case of so many in the quick suite, else all; for a test that loops over them."""
    return [*cases][:: step if quick and not only else 1]


def draw_cases(number: int, **more: Any) -> settings:  # noqa: ANN401
    """Let Hypothesis draw so many cases, in the quick suite a tenth of them."""
    return settings(max_examples=-(-number // 10) if quick else number, **more)


def loop_over(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], object] | Iterable[object] = str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on every case in one go; the failure names all cases in which it failed.

    It is written as `pytest.mark.parametrize` is, whose tests cost more than most of these cases.
    Fixtures are made once: what changes with the case (a folder, a history) is the test's to make.
    """
    wanted = [names] if isinstance(names, str) else names
    listed = [*cases]
    titles = map(ids, listed) if callable(ids) else ids
    table = [_named(case, str(title)) for case, title in zip(listed, titles, strict=True)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_all(**fixtures: object) -> None:
            chosen = [(title, case) for title, case in table if only in title]
            if not chosen:
                pytest.skip(f"no case has {only!r} in its name")
            faults = []
            for title, case in chosen:
                values = case if len(wanted) > 1 else (case,)
                fault = _failure(test, {**fixtures, **dict(zip(wanted, values, strict=True))})
                faults += [f"{title}: {fault}"] if fault else []
            if faults:
                told = "\n\n".join(faults)
                pytest.fail(f"{len(faults)} of {len(chosen)} cases:\n\n{told}", pytrace=False)

        signature = inspect.signature(test)
        left = [one for one in signature.parameters.values() if one.name not in wanted]
        run_all.__dict__["__signature__"] = signature.replace(parameters=left)
        return run_all

    return decorate


def _named(case: object, title: str) -> tuple[str, Any]:
    if isinstance(case, PARAMETERS):
        return str(case.id), case.values if len(case.values) > 1 else case.values[0]
    return title if len(title) < 80 else f"{title[:76]} ...", case


def _failure(test: Callable[..., None], values: dict[str, object]) -> str:
    """Where a case failed, and how; empty if it did not."""
    history_rules.FOUND.clear()
    try:
        test(**values)
    except (Exception, pytest.fail.Exception) as error:
        file = inspect.unwrap(test).__code__.co_filename
        lines = [at.lineno for at in extract_tb(error.__traceback__) if at.filename == file]
        return f"line {lines[-1] if lines else '?'}: {type(error).__name__}: {error}"
    broken = "\n".join(history_rules.FOUND)
    history_rules.FOUND.clear()
    return broken
