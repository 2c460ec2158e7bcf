"""Splitting documents into passages: every line is in exactly one, under the right headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.search.passages import (
    HARD_FACTOR,
    MAX_CODE_WORDS,
    MAX_WORDS,
    Passage,
    split_passages,
    title_of,
)

LINES = st.lists(
    st.sampled_from(["# A", "## B", "text here", "", "====", "----", "```", "def f():", "    class C:", "@dec", "* x"]),
    max_size=25,
)


@given(LINES, st.sampled_from(sorted(KINDS)))
def test_passages_follow_each_other_and_lose_no_text(lines: list[str], kind: str) -> None:
    passages = split_passages("\n".join(lines), kind)
    covered = [at for passage in passages for at in range(passage.first, passage.last)]

    assert covered == sorted(set(covered))
    assert all(not lines[at].strip() for at in range(len(lines)) if at not in covered)


def test_markdown_is_split_at_headings_outside_of_code() -> None:
    text = "intro\n\n# One #\nbody\n```\n# not a heading\n```\n## Two\nmore\n\nThree\n=====\nend\n"

    assert split_passages(text) == [
        Passage(0, 2, ()),
        Passage(2, 7, ("One",)),
        Passage(7, 10, ("One", "Two")),
        Passage(10, 13, ("Three",)),
    ]


def test_a_rule_under_a_table_or_list_is_not_a_heading() -> None:
    assert split_passages("| a | b |\n---\n- item\n---\n") == [Passage(0, 4, ())]


def test_restructured_text_levels_follow_their_first_use() -> None:
    text = "=====\nTitle\n=====\n\nPart\n----\ntext\n\nDeep\n~~~~\nx\n\nPart 2\n------\ny"

    assert [passage.headings for passage in split_passages(text, "rst")] == [
        ("Title",),
        ("Title", "Part"),
        ("Title", "Part", "Deep"),
        ("Title", "Part 2"),
    ]


def test_code_is_split_at_definitions_including_comments_above_them() -> None:
    text = "import x\n\n# about C\n@final\nclass C:\n    def m(self):\n        pass\n\nasync def f():\n    pass\n"

    assert split_passages(text, "code") == [
        Passage(0, 2, ()),
        Passage(2, 5, ("C",)),
        Passage(5, 8, ("C", "m")),
        Passage(8, 10, ("f",)),
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("pub(crate) fn run<T>(x: T)", "run"),
        ("export default async function load()", "load"),
        ("func (s *Server) Serve()", "Serve"),
        ("public static final class Box {", "Box"),
        ("interface Shape {", "Shape"),
    ],
)
def test_definitions_of_many_languages_are_found(line: str, name: str) -> None:
    assert split_passages(f"{line}\nbody", "code")[0].headings == (name,)


@pytest.mark.parametrize(("kind", "most", "count"), [("markdown", MAX_WORDS, 2), ("code", MAX_CODE_WORDS, 3)])
def test_a_long_section_is_split_at_a_blank_line_or_else_at_any_line(kind: str, most: int, count: int) -> None:
    paragraph = "word " * 50
    paragraphs = split_passages("\n\n".join([paragraph] * 12), kind)
    wall = split_passages("\n".join([paragraph] * 30), kind)

    assert len(paragraphs) == count
    assert len(wall) > 1
    assert all((passage.last - passage.first) * 50 <= HARD_FACTOR * most for passage in wall)


def test_the_title_of_a_source_file_is_its_name() -> None:
    assert title_of("net.py", [Passage(0, 1, ("C",))], "code") == "net"


def test_an_empty_document_has_no_passage_and_its_title_is_its_file_name() -> None:
    assert split_passages("") == split_passages("\n \n") == []
    assert title_of("guide/Intro.md", []) == "Intro"
    assert title_of("x.md", [Passage(0, 1, ()), Passage(1, 2, ("Head", "Sub"))]) == "Head"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('---\ntitle: "The guide"\ndate: x\n---\n# Other\n', "The guide"),
        ("+++\ntitle = 'The guide'\n+++\ntext\n", "The guide"),
        ("---\ndate: x\n---\n# Other\n", "Other"),
        ("# Other\n\n---\ntitle: no\n---\n", "Other"),
    ],
)
def test_the_title_of_the_front_matter_comes_first(text: str, title: str) -> None:
    assert title_of("a.md", split_passages(text), "markdown", text.split("\n")) == title


def test_a_long_heading_is_cut_and_read_in_linear_time() -> None:
    """A regular expression for the closing marks is quadratic: 2 s for 16,000 of them."""
    (passage,) = split_passages("# a" + " #" * 2_000_000 + " b")

    assert passage.headings == (("a" + " #" * 250)[:500],)


@pytest.mark.parametrize(("kind", "section"), [("markdown", "# a\n"), ("code", "def a():\n"), ("rst", "abc\n===\n")])
def test_headings_beyond_the_limit_are_text(monkeypatch: pytest.MonkeyPatch, kind: str, section: str) -> None:
    monkeypatch.setattr("strictwire.packs.context.search.passages.MAX_HEADINGS", 3)

    assert len(split_passages(section * 10, kind)) == 3
