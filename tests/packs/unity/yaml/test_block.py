"""Block structure: mappings and sequences by indentation, as Unity writes them and as other tools do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from strictwire.packs.unity.yaml.block import BlockReader


def read(text: str) -> Any:
    return BlockReader().read(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("\n\n", {}),
        ("a:\n- 1\n- 2\nb: 3", {"a": ["1", "2"], "b": "3"}),
        ("a:\n  - 1\n  - 2\nb: 3", {"a": ["1", "2"], "b": "3"}),
        ("a:\n- k: 1\n  l: 2\n- k: 3", {"a": [{"k": "1", "l": "2"}, {"k": "3"}]}),
        ("a:\n- k:\n  - 1\n  - 2\n  l: 3", {"a": [{"k": ["1", "2"], "l": "3"}]}),
        ("a:\n- - 1\n  - 2\n- - 3", {"a": [["1", "2"], ["3"]]}),
        ("a:\n-\n  k: 1\n-\n- 2", {"a": [{"k": "1"}, "", "2"]}),
        ("a:\n- {fileID: 1}\n- 'x: y'\n- \"z\"", {"a": [{"fileID": "1"}, "x: y", "z"]}),
        ("a:\n- text that\n  wraps\n- b", {"a": ["text that wraps", "b"]}),
        ("a:\n  b:\n    c: 1\n  d: 2\ne: 3", {"a": {"b": {"c": "1"}, "d": "2"}, "e": "3"}),
        (": value\n4:3: 1\n'q: r': 2\n\"s\": 3", {"": "value", "4:3": "1", "q: r": "2", "s": "3"}),
        ("a:\nb:\n  c:\nd: 1", {"a": "", "b": {"c": ""}, "d": "1"}),
        ("a: 1\n\nb: 2\n", {"a": "1", "b": "2"}),
    ],
)
def test_collections(text: str, value: Any) -> None:
    assert read(text) == value


def test_documents_share_a_reader_and_not_their_content() -> None:
    reader = BlockReader()
    text = "a:\n- k: {fileID: 0}\n  wrapped: text\n    that goes on\nb: 1"

    assert (
        reader.read(text) == reader.read(text) == {"a": [{"k": {"fileID": "0"}, "wrapped": "text that goes on"}], "b": "1"}
    )


def test_a_known_line_is_still_a_part_of_the_text_above_it() -> None:
    """The second text has a line that the first one taught the reader as a key."""
    reader = BlockReader()
    reader.read("a:\n  b: 1")

    assert reader.read("t: some text\n  b: 1") == {"t": "some text b: 1"}


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "f" * 2_097_169,
        "a: '" + "f" * 2_097_169 + "'",
        'a: "' + "\\n" * 1_000_000 + '"',
        "a: {x: " + "1" * 2_000_000 + "}",
        "a: x" + "\n  wrapped" * 100_000,
        "a: '" + "\n  wrapped" * 100_000 + "'",
        'a: "' + "\\\n  wrapped" * 100_000 + '"',
        "a: x" + " " * 2_000_000,
        "a:\n" + "- k: 1\n" * 200_000,
    ],
)
def test_lines_of_two_million_characters_take_linear_time(text: str) -> None:
    """Generous for a busy machine: anything quadratic takes minutes."""
    began = time.thread_time()
    found = read(text)

    assert list(found) == ["a"]
    assert time.thread_time() - began < 5
