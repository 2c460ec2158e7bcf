"""Text search: what it finds, what it refuses, and that no pattern makes it slow."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packs.code.test_files import write

from strictwire.packs.code.engine import EngineTimeout, Mention, Mentions, PatternRefused, TextQuery
from strictwire.packs.code.files import Files
from strictwire.packs.code.search import MAX_PATTERN, Search, compile_pattern
from strictwire.packs.kit.watch import Watch

SECONDS = 60.0


@pytest.fixture
def search(tmp_path: Path) -> Iterator[Search]:
    watch = Watch()
    yield Search(Files((tmp_path,), watch))
    watch.close()


def run(search: Search, query: TextQuery, seconds: float = SECONDS) -> Mentions:
    return asyncio.run(search.search(query, seconds=seconds))


def found(search: Search, query: TextQuery) -> list[tuple[str, int, int, int]]:
    return [(each.path.name, each.line, each.character, each.end) for each in run(search, query).items]


def test_plain_text_is_found_literally_with_its_line(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = f(a.b)\r\n\té😀 f(a.b) fa-b\n"})

    assert run(search, TextQuery(pattern="f(a.b)")) == Mentions(
        items=(
            Mention(path=tmp_path / "a.py", line=0, character=4, end=10, preview="x = f(a.b)"),
            Mention(path=tmp_path / "a.py", line=1, character=5, end=11, preview="é😀 f(a.b) fa-b"),
        )
    )


def test_regular_expressions_work_by_line(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def one():\n  def two():\nend\n\nend\n"})

    assert found(search, TextQuery(pattern=r"^\s*def (\w+)", regex=True)) == [("a.py", 0, 0, 7), ("a.py", 1, 0, 9)]
    assert found(search, TextQuery(pattern=r"end$", regex=True)) == [("a.py", 2, 0, 3), ("a.py", 4, 0, 3)]
    assert found(search, TextQuery(pattern=r"end\s+end", regex=True)) == []


def test_case_and_whole_words_are_options(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "Save save saved résave É\n"})

    assert len(found(search, TextQuery(pattern="save"))) == 3
    assert len(found(search, TextQuery(pattern="save", ignore_case=True))) == 4
    assert found(search, TextQuery(pattern="save", whole_word=True)) == [("a.py", 0, 5, 9)]
    assert found(search, TextQuery(pattern="é", ignore_case=True, whole_word=True)) == [("a.py", 0, 23, 24)]


def test_globs_choose_files_as_in_a_gitignore(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x", "src/b.py": "x", "src/c.ts": "x", "docs/d.py": "x"})

    assert [name for name, *_ in found(search, TextQuery(pattern="x", globs=("*.py", "!docs/")))] == ["a.py", "b.py"]
    assert [name for name, *_ in found(search, TextQuery(pattern="x", globs=("src/**",)))] == ["b.py", "c.ts"]


def test_ignored_binary_and_large_files_are_not_searched_and_the_large_one_is_a_gap(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "b.py\n", "a.py": "needle", "b.py": "needle"})
    (tmp_path / "c.bin").write_bytes(b"\0needle")
    (tmp_path / "d.txt").write_bytes(b"needle\n" * 2_000_000)

    answer = run(search, TextQuery(pattern="needle"))

    assert ([each.path.name for each in answer.items], answer.gaps) == (["a.py"], 1)


def test_an_edit_is_in_the_next_answer(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "one"})
    before = found(search, TextQuery(pattern="two"))
    write(tmp_path, {"a.py": "two"})

    assert (before, found(search, TextQuery(pattern="two"))) == ([], [("a.py", 0, 0, 3)])


def test_more_matches_than_the_limit_are_capped(search: Search, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "xx\n", "b.py": "xx\n"})
    exact = run(search, TextQuery(pattern="x", limit=4))
    over = run(search, TextQuery(pattern="x", limit=3))

    assert (len(exact.items), exact.capped, len(over.items), over.capped) == (4, False, 3, True)


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", r"(?=a)b", r"(?<!a)b", "[z-a]", "(", "a{2000}", "x*", "", "(?:)", "a" * (MAX_PATTERN + 1)]
)
def test_what_the_engine_cannot_do_is_refused_with_a_reason(search: Search, pattern: str) -> None:
    with pytest.raises(PatternRefused) as caught:
        run(search, TextQuery(pattern=pattern, regex=True))

    assert caught.value.reason


def test_a_long_pattern_of_plain_text_is_refused_too(search: Search) -> None:
    with pytest.raises(PatternRefused):
        run(search, TextQuery(pattern="a" * (MAX_PATTERN + 1)))


def test_time_grows_with_the_text_and_not_with_its_square(search: Search, tmp_path: Path) -> None:
    """`(a|aa)+$` takes Python's `re` 2^n steps: 40 characters are hours. Here 40,000 lines of 40 are well under a minute."""
    write(tmp_path, {"a.txt": ("a" * 40 + "!\n") * 40_000})

    assert found(search, TextQuery(pattern="(a|aa)+$", regex=True)) == []


def test_a_search_that_takes_too_long_stops_in_time(search: Search, tmp_path: Path) -> None:
    """Each match of this pattern looks ahead to the end of a line of two million characters."""
    write(tmp_path, {"a.txt": "a" * 2_000_000})
    query = TextQuery(pattern="a[^z]*z|a", regex=True, limit=2_000_000)
    started = time.monotonic()
    with pytest.raises(EngineTimeout):
        run(search, query, seconds=0.2)

    assert time.monotonic() - started < SECONDS


EXPLOSIVE = TextQuery(pattern="[ab]*a[ab]{400}c", regex=True)
"""Its automaton has 2^400 states: RE2 falls back to simulating 800 instructions for each byte."""


def test_a_large_program_on_one_long_line_stops_in_time_too(search: Search, tmp_path: Path) -> None:
    """In one call of RE2 this takes minutes, without a look at the clock."""
    seed = 20
    print(f"seed {seed}")
    write(tmp_path, {"a.txt": "".join(random.Random(seed).choices("ab", k=8_000_000))})
    started = time.monotonic()
    with pytest.raises(EngineTimeout):
        run(search, EXPLOSIVE, seconds=0.2)

    assert time.monotonic() - started < 30


def test_windows_lose_no_match_of_whole_lines_and_anchors_see_beyond_them(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": "ab\nab cd\n\ncd ab\nab\n" * 20})
    query = TextQuery(pattern=r"\Aab|^ab\b|ab$|cd\n?", regex=True)
    whole = run(search, query)
    monkeypatch.setattr("strictwire.packs.code.search.WINDOW_WORK", 12 * compile_pattern(query).programsize)

    assert whole.gaps == 0
    assert run(search, query) == whole


def test_a_line_that_is_longer_than_a_window_is_a_gap(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": "ab" * 20 + "\n", "b.txt": "ab\n"})
    monkeypatch.setattr("strictwire.packs.code.search.WINDOW_WORK", 0)
    answer = run(search, TextQuery(pattern="a[b]", regex=True))

    assert ([each.path.name for each in answer.items], answer.gaps) == ([], 2)
