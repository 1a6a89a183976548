"""The page that says which test proves which demand is complete and up to date."""

from tests import spec_table


def test_every_demand_has_a_test() -> None:
    assert spec_table.missing() == []


def test_every_case_has_a_test() -> None:
    assert spec_table.missing_cases() == []
    there = {each.where for each in spec_table.proofs(r"test_(\w)")}
    named = [each for tests in spec_table.ELSEWHERE.values() for each in tests]
    assert [each for each in [*named, spec_table.BY_DATA] if each not in there] == []


def test_the_demands_are_numbered_without_a_gap() -> None:
    numbers = [f"{part}{at}" for part, last in LAST.items() for at in range(1, last + 1)]
    assert [*spec_table.demands()] == numbers


def test_the_page_is_up_to_date() -> None:
    written = spec_table.TABLE.read_text(encoding="utf-8")
    assert written == spec_table.table(), "python -m tests.spec_table writes it anew"


LAST = {"A": 31, "B": 41, "C": 35, "D": 17}
