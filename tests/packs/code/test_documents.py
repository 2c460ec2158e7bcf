"""Documents: bounds in UTF-16, words, and what cannot be opened."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from strictwire.fault.failure import Refused
from strictwire.packs.code.documents import Document, Documents, offset_of, units
from strictwire.packs.code.gate import Admitted


def at(line: int, character: int) -> dict[str, Any]:
    return {"line": line, "character": character}


@pytest.mark.parametrize(
    ("text", "line", "last"),
    [
        ("", 0, 0),
        ("abc", 0, 3),
        ("abc\n", 0, 3),
        ("abc\n", 1, 0),
        ("abc\r\nde", 0, 3),
        ("abc\r\nde", 1, 2),
        ("a\rb", 1, 1),
        ("é", 0, 1),
        ("\U0001f600", 0, 2),
        ("a\u2028b", 0, 3),
    ],
)
def test_the_last_position_of_a_line_is_its_length_in_utf16(text: str, line: int, last: int) -> None:
    document = Document(text)
    document.check(at(line, last))

    with pytest.raises(Refused, match="NOT_FOUND"):
        document.check(at(line, last + 1))


@pytest.mark.parametrize(("text", "lines"), [("", 1), ("a", 1), ("a\n", 2), ("a\r\n\r\n", 3)])
def test_a_position_past_the_last_line_is_not_found(text: str, lines: int) -> None:
    document = Document(text)
    document.check(at(lines - 1, 0))

    with pytest.raises(Refused, match="NOT_FOUND"):
        document.check(at(lines, 0))
    with pytest.raises(Refused, match="NOT_FOUND"):
        document.check(at(2**53, 2**53))


def test_the_word_at_a_position_is_found_from_its_start_to_its_end() -> None:
    document = Document("x = \U0001f600.name_1(é2)\n")

    assert [document.word_at(at(0, n)) for n in (0, 2, 7, 12, 13, 14, 16)] == [
        ("x", 0), None, ("name_1", 7), ("name_1", 7), ("name_1", 7), ("é2", 14), ("é2", 14),
    ]  # fmt: skip


def test_the_text_after_a_position_is_bounded_and_empty_past_the_end() -> None:
    document = Document("a\U0001f600b(c)\nd")

    assert [document.after(at(*where)) for where in ((0, 4), (1, 1), (9, 0))] == ["(c)\nd", "", ""]
    assert document.after(at(0, 0), limit=2) == "a\U0001f600"


def test_a_whole_word_is_found_from_a_line_on() -> None:
    document = Document("foobar\nfoo_ = 1\n\U0001f600 foo\n")

    assert document.find_word("foo", 0) == at(2, 3)
    assert document.find_word("foo", 3) is None
    assert document.find_word("foo", 99) is None


def test_characters_and_offsets_agree() -> None:
    line = "a\U0001f600b"

    assert [offset_of(line, n) for n in range(units(line) + 1)] == [0, 1, 1, 2, 3]


def open_text(path: Path, documents: Documents | None = None, root: Path | None = None) -> str:
    place = Admitted(root=root or path.parent, path=path)
    return asyncio.run((documents or Documents(max_bytes=1_000_000)).open(place)).text


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\x00b", b"x" * 1_000_001])
def test_binary_and_oversized_files_are_not_found(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)

    with pytest.raises(Refused, match="NOT_FOUND"):
        open_text(tmp_path / "f")


def test_a_file_of_a_hundred_megabytes_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)

    with pytest.raises(Refused, match="NOT_FOUND"):
        open_text(path)


def test_a_folder_a_fifo_and_a_file_that_is_gone_are_not_found(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    for name in (".", "fifo", "gone"):
        with pytest.raises(Refused, match="NOT_FOUND"):
            open_text(tmp_path / name, root=tmp_path)


def test_a_file_swapped_for_a_link_to_the_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "root/a.py").symlink_to(tmp_path / "secret")

    with pytest.raises(Refused, match="NOT_FOUND"):
        open_text(tmp_path / "root/a.py", root=tmp_path / "root")


def test_an_edit_is_seen_and_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, path = Documents(max_bytes=100), tmp_path / "a.py"
    path.write_text("one")
    reads: list[Path] = []
    read = Documents._read
    monkeypatch.setattr(Documents, "_read", lambda self, place: reads.append(place.path) or read(self, place))

    seen = [open_text(path, documents), open_text(path, documents)]
    path.write_text("two")
    seen += [open_text(path, documents), open_text(path, documents)]

    assert (seen, len(reads)) == (["one", "one", "two", "two"], 2)


def test_text_kept_is_bounded_and_the_oldest_goes_first(tmp_path: Path) -> None:
    documents = Documents(max_bytes=100, cache_bytes=100)
    for name in "abc":
        (tmp_path / name).write_text(name * 40)
        open_text(tmp_path / name, documents)

    assert [Path(name).name for name in documents._kept] == ["b", "c"]
