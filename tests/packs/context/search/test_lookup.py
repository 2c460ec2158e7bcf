"""context.get: whole documents, line ranges, and the budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packs.context.caches import make_cache
from tests.packs.context.search.planted import plant
from tests.packs.context.search.test_answers import sent_tokens

from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused
from strictwire.packs.context.layout import version_of
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.lookup import Lookup, Wanted
from strictwire.packs.context.search.token_counters import ByteCounter

LONG = "".join(f"line {number}\n" for number in range(1, 1001))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return make_cache(tmp_path / "root", {"Guide.md": "one\ntwo\nthree", "long.md": LONG, "empty.md": ""})


@pytest.fixture
def lookup(tmp_path: Path) -> Iterator[Lookup]:
    store = IndexStore(tmp_path / "state", wait_seconds=60)
    yield Lookup(ByteCounter(), store)
    store.close()


def lines(answer: Answer) -> tuple[int, int, int]:
    made = answer.structured
    assert isinstance(made, dict)
    return made["lines"]["first"], made["lines"]["last"], made["totalLines"]


def test_a_whole_document_has_its_provenance(cache: Path, lookup: Lookup) -> None:
    answer = lookup.get(Wanted(cache="docs", id="guide.md"), cache)

    assert answer.structured == {
        "cache": "docs",
        "id": "guide.md",
        "source": "Guide.md",
        "version": version_of(b"one\ntwo\nthree"),
        "kind": "markdown",
        "verbatim": True,
        "lines": {"first": 1, "last": 3},
        "totalLines": 3,
        "text": "one\ntwo\nthree",
    }
    assert answer.content == ({"type": "text", "text": "docs guide.md lines 1-3 of 3\none\ntwo\nthree"},)


def test_a_range_is_cut_to_the_document(cache: Path, lookup: Lookup) -> None:
    answer = lookup.get(Wanted(cache="docs", id="guide.md", first=2, last=99), cache)

    assert lines(answer) == (2, 3, 3)


@pytest.mark.parametrize("budget", [256, 300, 1000, 3000])
def test_a_long_document_is_cut_at_a_line_and_says_how_to_go_on(cache: Path, lookup: Lookup, budget: int) -> None:
    answer = lookup.get(Wanted(cache="docs", id="long.md", first=10, budget=budget), cache)
    first, last, total = lines(answer)

    assert sent_tokens(answer, ByteCounter()) <= budget
    assert (first, total) == (10, 1000)
    assert 10 <= last < 1000
    assert f"get more with first={last + 1}" in answer.content[0]["text"]


def test_an_empty_document_is_returned(cache: Path, lookup: Lookup) -> None:
    assert lines(lookup.get(Wanted(cache="docs", id="empty.md"), cache)) == (1, 0, 0)


def test_an_unknown_id_is_refused_with_ids_like_it(cache: Path, lookup: Lookup) -> None:
    with pytest.raises(Refused) as caught:
        lookup.get(Wanted(cache="docs", id="guid.md"), cache)

    assert caught.value.failure.code == "NOT_FOUND"
    assert "Did you mean guide.md" in caught.value.failure.text


@pytest.mark.parametrize(("section", "name"), [("sources", "guide.md"), ("ids", "absent.md")])
def test_a_planted_index_is_made_again(cache: Path, tmp_path: Path, lookup: Lookup, section: str, name: str) -> None:
    store = IndexStore(tmp_path / "state", wait_seconds=60)
    store.open_all([cache])
    store.close()
    (file,) = (tmp_path / "state").iterdir()
    good = file.read_bytes()
    file.write_bytes(plant(good, section, 0, 255))

    if name == "absent.md":
        with pytest.raises(Refused) as caught:
            lookup.get(Wanted(cache="docs", id=name), cache)
        assert caught.value.failure.code == "NOT_FOUND"
    else:
        assert lines(lookup.get(Wanted(cache="docs", id=name), cache)) == (1, 3, 3)
    assert file.read_bytes() == good


def test_a_range_that_ends_before_it_begins_is_refused(lookup: Lookup, cache: Path) -> None:
    with pytest.raises(Refused) as refused:
        lookup.get(Wanted(cache="docs", id="guide.md", first=3, last=2), cache)

    assert (refused.value.failure.code, refused.value.failure.text) == ("INVALID_PARAMS", "`last` is 2 and `first` is 3.")
