"""The clause table is true: every mark is a clause, no proven clause is without a test, the page is fresh."""

from __future__ import annotations

from tests.requirements.clauses import CLAUSES, GROUPS
from tests.requirements.page import PAGE, find_marks, read_proven, render_table, with_table


def test_every_mark_names_a_clause() -> None:
    assert set(find_marks()) <= set(CLAUSES)


def test_every_clause_belongs_to_a_group() -> None:
    assert {clause[0] for clause in CLAUSES} == set(GROUPS)


def test_a_clause_that_was_proven_still_has_a_test() -> None:
    assert [clause for clause in read_proven() if clause not in find_marks()] == []


def test_every_clause_with_a_test_is_on_the_list_of_the_proven() -> None:
    assert set(find_marks()) == set(read_proven()), "run ./scripts/contract-page"


def test_the_page_is_fresh() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page == with_table(page, render_table(find_marks())), "run ./scripts/contract-page"
