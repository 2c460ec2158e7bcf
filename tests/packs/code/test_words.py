"""The word index finds every whole word, in every file that counts, as the disk is now."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.code.test_files import write

from strictwire.packs.code.engine import Mention
from strictwire.packs.code.files import Files
from strictwire.packs.code.lines import MAX_TEXT
from strictwire.packs.code.words import Words, find_words
from strictwire.packs.code.words import _words as words_of
from strictwire.packs.kit.watch import Watch


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.close()


def open_words(root: Path, watch: Watch) -> Words:
    files = Files((root,), watch)
    files.refresh()
    return Words(files)


def find(words: Words, word: str, language: str | None = None, limit: int = 20_000) -> list[tuple[str, int, int, int]]:
    found = asyncio.run(words.mentions(word, language=language, limit=limit)).items
    return [(each.path.name, each.line, each.character, each.end) for each in found]


def test_whole_words_are_found_with_line_and_utf16_character(tmp_path: Path, watch: Watch) -> None:
    words = open_words(
        write(tmp_path, {"a.py": "x = 1\n    save = '😀é' + save + saved + _save\n", "b.md": "save.\n"}), watch
    )

    assert asyncio.run(words.mentions("save")).items == (
        Mention(path=tmp_path / "a.py", line=1, character=4, end=8, preview="save = '😀é' + save + saved + _save"),
        Mention(path=tmp_path / "a.py", line=1, character=19, end=23, preview="save = '😀é' + save + saved + _save"),
        Mention(path=tmp_path / "b.md", line=0, character=0, end=4, preview="save."),
    )
    assert find(words, "save", "python") == [("a.py", 1, 4, 8), ("a.py", 1, 19, 23)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_as_one(tmp_path: Path, watch: Watch, newline: str) -> None:
    (tmp_path / "a.py").write_bytes(newline.join(["one", "two", "", "name"]).encode())

    assert find(open_words(tmp_path, watch), "name") == [("a.py", 3, 0, 4)]


def test_a_dollar_belongs_to_names_of_javascript_and_not_of_python(tmp_path: Path, watch: Watch) -> None:
    words = open_words(write(tmp_path, {"a.js": "$x + x + x$\n", "a.py": "'$x'\n"}), watch)

    assert find(words, "x") == [("a.js", 0, 5, 6), ("a.py", 0, 2, 3)]
    assert find(words, "$x") == [("a.js", 0, 0, 2), ("a.py", 0, 1, 3)]


def test_names_beside_other_scripts_are_found(tmp_path: Path, watch: Watch) -> None:
    words = open_words(write(tmp_path, {"a.py": "“name” größe 名前\n"}), watch)

    assert [find(words, word) for word in ("name", "größe", "名前", "gr")] == [
        [("a.py", 0, 1, 5)],
        [("a.py", 0, 7, 12)],
        [("a.py", 0, 13, 15)],
        [],
    ]


def test_bytes_that_are_not_utf8_hide_nothing(tmp_path: Path, watch: Watch) -> None:
    (tmp_path / "a.py").write_bytes(b"caf\xe9 = name\n")

    assert find(open_words(tmp_path, watch), "name") == [("a.py", 0, 7, 11)]


def test_edits_new_and_deleted_files_are_in_the_next_answer(tmp_path: Path, watch: Watch) -> None:
    words = open_words(write(tmp_path, {"a.py": "name\n", "b.py": "name\n"}), watch)
    first = find(words, "name")
    write(tmp_path, {"a.py": "\nname other\n", "deep/c.py": "name\n"})
    (tmp_path / "b.py").unlink()

    assert (first, find(words, "name"), find(words, "other")) == (
        [("a.py", 0, 0, 4), ("b.py", 0, 0, 4)],
        [("a.py", 1, 0, 4), ("c.py", 0, 0, 4)],
        [("a.py", 1, 5, 10)],
    )


def test_only_changed_files_are_read_again(tmp_path: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    words = open_words(write(tmp_path, {"a.py": "one", "b.py": "two"}), watch)
    asyncio.run(words.update())
    read: list[str] = []
    reading = Words._read
    monkeypatch.setattr(Words, "_read", lambda self, path: (read.append(Path(path).name), reading(self, path))[1])
    write(tmp_path, {"b.py": "three"})
    asyncio.run(words.update())
    asyncio.run(words.update())

    assert read == ["b.py"]


def test_binary_files_are_no_text_and_no_gap(tmp_path: Path, watch: Watch) -> None:
    (tmp_path / "a.py").write_bytes(b"\0name")
    words = open_words(tmp_path, watch)

    assert (find(words, "name"), words.gaps("python")) == ([], 0)


def test_a_source_file_that_is_too_large_is_a_gap(tmp_path: Path, watch: Watch) -> None:
    (tmp_path / "a.py").write_bytes(b"name\n" * (MAX_TEXT // 5 + 1))
    words = open_words(write(tmp_path, {"b.py": "name"}), watch)

    assert (find(words, "name"), words.gaps("python"), words.gaps("go")) == ([("b.py", 0, 0, 4)], 1, 0)

    (tmp_path / "a.py").unlink()
    find(words, "name")

    assert words.gaps("python") == 0


def test_more_mentions_than_the_limit_are_capped(tmp_path: Path, watch: Watch) -> None:
    words = open_words(write(tmp_path, {"a.py": "name " * 10}), watch)
    exact = asyncio.run(words.mentions("name", limit=10))
    over = asyncio.run(words.mentions("name", limit=9))

    assert (len(exact.items), exact.capped, len(over.items), over.capped) == (10, False, 9, True)


def test_what_is_no_word_is_mentioned_nowhere(tmp_path: Path, watch: Watch) -> None:
    words = open_words(write(tmp_path, {"a.py": "a == b"}), watch)

    assert [find(words, word) for word in ("==", "", " ", "absent")] == [[], [], [], []]


@given(st.text(st.sampled_from("ab_1 .$é“名\n\r\x1c😀"), max_size=40))
def test_the_index_knows_every_word_that_the_pattern_finds(text: str) -> None:
    """A word that the index does not know is never searched for: the two must agree on what a word is."""
    raw = text.encode()
    found = {word.encode() for word in re.findall(r"\w+", text)}

    assert found <= words_of(raw)
    assert all(list(find_words(raw, word.decode(), None)) for word in found)
