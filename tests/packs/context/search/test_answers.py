"""The budget covers the answer as it is sent, exactly; neighbours are merged; nothing is padded."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from strictwire.canon.json import render
from strictwire.contract.handler import Answer
from strictwire.packs.context.search.answers import MIN_BUDGET, AnswerWriter, Coverage, Found, merge_neighbours
from strictwire.packs.context.search.token_counters import ByteCounter, TokenCounter, VocabularyCounter

VERSION = "sha256:" + "0" * 64
LINES = tuple(f'line {number} says “{number * 7919}” äöü \\ "quoted"' for number in range(200))


def found(first: int, last: int, *, name: str = "a.md", score: float = 1.0) -> Found:
    return Found(
        cache="docs", id=name, source=name, version=VERSION, kind="markdown", headings=("Guide",),
        first=first, last=last, lines=LINES, score=score,
    )  # fmt: skip


def sent_tokens(answer: Answer, counter: TokenCounter) -> int:
    """Count what the client is sent: structured content and text."""
    return counter.count(render(answer.structured).decode()) + counter.count(answer.content[0]["text"])  # type: ignore[arg-type]


def write(offered: list[Found], budget: int, *, limit: int = 20, counter: TokenCounter | None = None) -> Answer:
    writer = AnswerWriter(counter=counter or ByteCounter(), budget=budget, limit=limit, coverage=Coverage(searched=1))
    return writer.write(offered)


def places(answer: Answer) -> list[tuple[str, int, int]]:
    return [
        (each["id"], each["lines"]["first"], each["lines"]["last"])
        for each in answer.structured["passages"]  # type: ignore[index]
    ]


@pytest.mark.parametrize("counter", [ByteCounter(), VocabularyCounter()])
def test_1000_random_answers_are_within_their_budget_and_count_themselves_exactly(counter: TokenCounter) -> None:
    dice = random.Random(20260102)
    for _ in range(1000 if counter.name == "bytes/4" else 200):
        starts = sorted(dice.sample(range(190), dice.randrange(6)))
        offered = [found(at, at + dice.randrange(1, 9), name=dice.choice(["a.md", "b.md"])) for at in starts]
        budget = dice.randrange(MIN_BUDGET, 3000)
        answer = write(offered, budget, counter=counter)
        selection = answer.structured["selection"]  # type: ignore[index]

        assert sent_tokens(answer, counter) == selection["tokensUsed"] <= budget


def test_passages_are_taken_best_first_and_a_smaller_one_may_still_fit() -> None:
    best, large, small = found(0, 3), found(10, 90, name="b.md"), found(120, 122, name="c.md")

    assert places(write([best, large, small], 700)) == [("a.md", 1, 3), ("c.md", 121, 122)]
    assert places(write([best, large, small], 700, limit=1)) == [("a.md", 1, 3)]


def test_the_best_passage_is_cut_at_a_line_if_it_does_not_fit() -> None:
    answer = write([found(0, 200)], MIN_BUDGET + 300)
    ((_, first, last),) = places(answer)

    assert first == 1
    assert 1 <= last < 200
    assert answer.structured["selection"]["tokensUsed"] > MIN_BUDGET  # type: ignore[index]


def test_neighbours_become_one_passage_in_the_place_of_the_best() -> None:
    parts = [found(5, 9, score=3.0), found(20, 30, score=2.0), found(9, 12, score=1.5), found(1, 5, score=1.0)]

    assert merge_neighbours(parts) == [found(1, 12, score=3.0), found(20, 30, score=2.0)]


def test_passages_of_other_documents_are_not_merged() -> None:
    parts = [found(0, 5), found(5, 9, name="b.md")]

    assert merge_neighbours(parts) == parts


def test_an_answer_with_the_worst_coverage_fits_the_smallest_budget() -> None:
    names = ["日本語" * 300] * 500
    coverage = Coverage(searched=10**6, skipped=tuple((name, "CACHE_INVALID") for name in names), indexing=tuple(names))
    for counter in (ByteCounter(), VocabularyCounter()):
        answer = AnswerWriter(counter=counter, budget=MIN_BUDGET, limit=5, coverage=coverage).write([])

        assert sent_tokens(answer, counter) == answer.structured["selection"]["tokensUsed"] <= MIN_BUDGET  # type: ignore[index]


def test_the_text_says_where_each_passage_is_and_what_is_missing() -> None:
    coverage = Coverage(searched=3, skipped=(("bad", "CACHE_INVALID"),), indexing=("new",))
    answer = AnswerWriter(counter=ByteCounter(), budget=1000, limit=5, coverage=coverage).write([found(0, 1)])
    used = answer.structured["selection"]["tokensUsed"]  # type: ignore[index]

    assert answer.content[0]["text"] == (
        f"1 passages from 3 caches, {used} tokens. Skipped 1: bad. Still indexing 1, search again later: new.\n\n"
        f"docs a.md lines 1-1 (Guide)\n{LINES[0]}"
    )


@pytest.mark.parametrize(
    ("offered", "text"),
    [([], "Nothing matches"), ([replace(found(0, 1), lines=("word " * 5000,))], "Not even the first line")],
)
def test_an_answer_without_passages_says_why(offered: list[Found], text: str) -> None:
    assert text in write(offered, 256).content[0]["text"]
