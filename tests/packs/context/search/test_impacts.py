"""BM25F impacts of one passage."""

from __future__ import annotations

import pytest

from strictwire.packs.context.search.impacts import (
    MAX_INDEXED,
    SCALE,
    PassageFields,
    find_impacts,
    inverse_frequency,
    passage_fields,
)
from strictwire.packs.context.search.passages import Passage


def impacts(body: str, title: str = "", headings: str = "") -> dict[str, int]:
    return find_impacts(PassageFields(title=title, headings=headings, body=body))


@pytest.mark.parametrize(("kind", "weight"), [("code", 2.0), ("markdown", 1.0), ("rst", 1.0)])
def test_impacts_follow_the_formula(kind: str, weight: float) -> None:
    share = 1.0 / (1 - 0.75 + 0.75 * 2 / 120)
    title = weight / (1 - 0.5 + 0.5 * 1 / 8)

    assert find_impacts(PassageFields(title="ant", headings="", body="ant bee", kind=kind)) == {
        "ant": round(SCALE * (share + title) / (1.2 + share + title)),
        "bee": round(SCALE * share / (1.2 + share)),
    }


def test_more_occurrences_shorter_passages_and_headings_raise_the_impact() -> None:
    once = impacts("ant bee cat")["ant"]

    assert impacts("ant ant bee")["ant"] > once
    assert impacts("ant bee")["ant"] > once
    assert impacts("ant bee cat", headings="ant")["ant"] > once
    assert once > impacts("ant " + "bee " * 300)["ant"] >= 1


def test_an_impact_never_exceeds_its_scale() -> None:
    assert impacts("ant " * 100_000, title="ant " * 300)["ant"] <= SCALE


@pytest.mark.parametrize("having", [0, 1, 5, 10])
def test_rare_terms_weigh_more_and_no_weight_is_negative(having: int) -> None:
    assert 0 < inverse_frequency(10, having + 1 if having < 10 else 10) <= inverse_frequency(10, having)


def test_the_fields_of_a_passage_are_its_lines_and_its_three_innermost_headings() -> None:
    passage = Passage(1, 3, ("a", "b", "c", "d"))

    assert passage_fields("title", passage, ["0", "1", "2", "3"]) == PassageFields(
        title="title", headings="b c d", body="1\n2"
    )


def test_roles_of_restructuredtext_are_not_words_of_the_page() -> None:
    made = passage_fields("", Passage(0, 1, ()), ["see :class:`~flask.Blueprint` and :doc:`the guide <x>`: ok"], "rst")

    assert made.body == "see `~flask.Blueprint` and `the guide <x>`: ok"


def test_only_the_beginning_of_a_very_long_passage_is_indexed() -> None:
    line = "start " + ":role" * 1_000_000 + " end"
    fields = passage_fields("title", Passage(0, 1, ()), [line], "rst")
    terms = find_impacts(fields)

    assert len(fields.body) == MAX_INDEXED
    assert ("start" in terms, "end" in terms) == (True, False)
