"""Places in text, and which files are text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strictwire.packs.code.engine import Mention
from strictwire.packs.code.lines import PREVIEW, NotSource, decode, locate, neighbours, normalise, read_source, utf16_length


def test_lines_and_characters_are_counted_as_in_lsp() -> None:
    raw = normalise("a😀b\r\n\rname = é\n".encode())
    start = raw.index("é".encode())

    assert list(locate(Path("/x"), raw, [(5, 6), (start, start + 2)])) == [
        Mention(path=Path("/x"), line=0, character=3, end=4, preview="a😀b"),
        Mention(path=Path("/x"), line=2, character=7, end=8, preview="name = é"),
    ]


def test_the_preview_of_a_very_long_line_is_short_and_holds_the_match() -> None:
    raw = b"x" * 100_000 + b"name" + b"y" * 100_000
    (found,) = locate(Path("/x"), raw, [(100_000, 100_004)])

    assert (found.character, len(found.preview)) == (100_000, PREVIEW)


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("é", 1), ("😀", 2), ("\ud83d", 1)])
def test_utf16_units(text: str, units: int) -> None:
    assert utf16_length(text) == units


def test_neighbours_are_whole_characters() -> None:
    raw = "名x😀".encode()

    assert (neighbours(raw, 3, 4), neighbours(b"x", 0, 1)) == (("名", "😀"), ("", ""))


def test_bytes_that_are_not_utf8_are_replaced_and_the_rest_stays() -> None:
    assert decode(b"a\xffb\r\nc") == "a\ufffdb\nc"


def test_text_is_read_up_to_the_limit_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 100)
    assert read_source(str(file), limit=100) == b"x" * 100

    for content, too_large in ((b"x" * 101, True), (b"a\0b", False)):
        file.write_bytes(content)
        with pytest.raises(NotSource) as caught:
            read_source(str(file), limit=100)

        assert caught.value.too_large is too_large


def test_pipes_and_folders_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError):
            read_source(str(path))
