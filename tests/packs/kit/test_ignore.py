"""Ignore files with patterns that cannot be compiled, or too many of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.packs.kit.ignore import MAX_COUNTED, MAX_LINES, MAX_PATTERN, NO_RULES, is_pattern


def ignores(folder: Path, rules: bytes, name: str) -> bool:
    (folder / ".gitignore").write_bytes(rules)
    return NO_RULES.enter(str(folder), {".gitignore"}).ignores(f"{folder}/{name}", is_folder=False)


@pytest.mark.parametrize("bad", [b"[z-a]", b"!", b"\\", b"\xff\xfe", b"***", b"*a" * MAX_PATTERN + b"b"])
def test_a_line_that_is_no_pattern_does_not_turn_off_the_others(tmp_path: Path, bad: bytes) -> None:
    assert ignores(tmp_path, b"first.md\n" + bad + b"\nlast.md\n", "first.md")
    assert ignores(tmp_path, b"first.md\n" + bad + b"\nlast.md\n", "last.md")


def test_patterns_that_do_not_fit_one_automaton_keep_their_order(tmp_path: Path) -> None:
    """RE2 refuses a set of this size; the last rule that matches decides, in whatever part it is."""
    many = "".join(f"**/x{number}*[a-z]*y\n" for number in range(4000))
    rules = f"*.md\n{many}!keep.md\n".encode()

    assert (ignores(tmp_path, rules, "a.md"), ignores(tmp_path, rules, "keep.md")) == (True, False)
    assert ignores(tmp_path, rules, "x3999-ay")


def test_lines_beyond_the_limit_do_not_count(tmp_path: Path) -> None:
    assert not ignores(tmp_path, b"#\n" * MAX_LINES + b"a.md\n", "a.md")


def test_a_pattern_that_the_limit_cuts_does_not_count(tmp_path: Path) -> None:
    comment = b"#" + b" " * 510 + b"\n"
    filler = comment * (MAX_COUNTED // len(comment) - 1)
    rules = b"first.md\n" + filler + b"*.md" + b" " * 600 + b"x"

    assert (ignores(tmp_path, rules, "first.md"), ignores(tmp_path, rules, "other.md")) == (True, False)


def test_patterns_that_backtrack_take_no_time(tmp_path: Path) -> None:
    assert not ignores(tmp_path, b"*a" * 200 + b"b\n", "a" * 250)


@pytest.mark.parametrize(("line", "expected"), [("docs/*.md", True), ("[z-a]", False), ("!", False)])
def test_a_pattern_can_be_checked_beforehand(line: str, expected: bool) -> None:
    assert is_pattern(line) is expected
