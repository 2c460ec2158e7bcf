"""Unified diffs are applied exactly or not at all."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.workspace.patch import PatchInvalid, PatchRejected, apply_patch, parse_patch

OLD = "one\ntwo\nthree\nfour\nfive\n"
PATCH = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -5 +5,2 @@ more\n five\n+six\n"


def test_a_patch_is_applied_at_its_position() -> None:
    assert apply_patch(OLD, parse_patch(PATCH)) == "one\nTWO\nthree\nfour\nfive\nsix\n"


def test_a_patch_that_was_applied_does_not_apply_again() -> None:
    new = apply_patch(OLD, parse_patch(PATCH))

    with pytest.raises(PatchRejected, match="hunk 1"):
        apply_patch(new, parse_patch(PATCH))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "--- a\n+++ b\n",
        "@@ -1 +1 @@\n",
        "@@ -1 +1 @@\n-one\n",
        "@@ -1,2 +1 @@\n-one\n+ONE\n",
        "@@ -1 +1 @@\n-one\n+ONE\n+more\n",
        "@@ -1 +1 @@\n one\n",
        "@@ -1 +1 @@\n?one\n",
        "@@ -0 +1 @@\n-one\n+ONE\n",
        "@@ -x +1 @@\n-one\n+ONE\n",
        PATCH + PATCH,
        "\\ No newline at end of file\n",
        "@@ -1 +1 @@\n\\ No newline at end of file\n-one\n+ONE\n",
    ],
)
def test_anything_but_a_patch_of_one_file_is_refused(text: str) -> None:
    with pytest.raises(PatchInvalid):
        parse_patch(text)


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        ("two\none\n", "@@ -1 +1 @@\n-one\n+ONE\n"),
        ("one\r\n", "@@ -1 +1 @@\n-one\n+ONE\n"),
        ("one", "@@ -1 +1 @@\n-one\n+ONE\n"),
        ("one\n", "@@ -9 +9 @@\n-one\n+ONE\n"),
        ("one\n", "@@ -9,0 +9 @@\n+ONE\n"),
        ("one\ntwo\n", "@@ -2 +2 @@\n-two\n+TWO\n@@ -1 +1 @@\n-one\n+ONE\n"),
        ("one\ntwo\n", "@@ -1 +1 @@\n-one\n+ONE\n\\ No newline at end of file\n"),
    ],
)
def test_a_patch_of_another_text_is_rejected(old: str, patch: str) -> None:
    with pytest.raises(PatchRejected):
        apply_patch(old, parse_patch(patch))


def test_line_ends_are_kept() -> None:
    crlf = "@@ -1,2 +1,2 @@\n-one\r\n+ONE\r\n two\r\n"
    endless = "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+ONE\n\\ No newline at end of file\n"
    both = "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n\\ No newline at end of file\n"

    assert apply_patch("one\r\ntwo\r\n", parse_patch(crlf)) == "ONE\r\ntwo\r\n"
    assert apply_patch("one", parse_patch(endless)) == "ONE"
    assert apply_patch("one\ntwo", parse_patch(both)) == "ONE\ntwo"


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "-", "+x", " y", "@@ -1 +1 @@"]), max_size=12)


@given(old=LINES, new=LINES)
def test_a_patch_made_by_difflib_applies_whatever_differs(old: list[str], new: list[str]) -> None:
    before, after = [f"{line}\n" for line in old], [f"{line}\n" for line in new]
    patch = "".join(difflib.unified_diff(before, after, "a", "b", n=1))
    if before == after:
        return

    assert apply_patch("".join(before), parse_patch(patch)) == "".join(after)
