"""Explanations of failure codes."""

from __future__ import annotations

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.explain import UnknownCode, explain, render_explanation
from strictwire.fault.spellings import NATIVE


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_is_explained_with_its_meaning_and_action(code: str) -> None:
    entry = CATALOGUE[code]
    text = render_explanation(explain(code))

    assert explain(code).meanings[0][1].entry == entry
    assert entry.meaning in text
    assert entry.action in text


@pytest.mark.parametrize("word", sorted({str(word) for words in NATIVE.values() for word in words}))
def test_every_spelling_of_every_dialect_is_explained(word: str) -> None:
    assert explain(word).meanings


def test_a_number_means_what_each_dialect_means_by_it() -> None:
    senses = {meaning.entry.code: dialects for dialects, meaning in explain("-32602").meanings}

    assert senses == {"MALFORMED_PARAMS": ("mcp protocol", "editor/0.1"), "INVALID_PARAMS": ("canonical",)}


def test_a_spelling_lists_the_other_codes_it_stands_for() -> None:
    also = dict(explain("INVALID_TOOL_INPUT").also)["canonical"]

    assert "INVALID_PATH" in also
    assert "INVALID_PARAMS" not in also


def test_an_explanation_lists_every_spelling() -> None:
    assert render_explanation(explain("timeout")).splitlines() == [
        "TIMEOUT (catalogue, mcp)",
        "  The tool did not finish within its time limit.",
        "  message:    The tool exceeded its time limit",
        "  action:     Request less, or try again later.",
        "  caused by:  tool, at stage run",
        "  retryable:  yes, the same call may succeed later",
        "  spelled:",
        "    mcp protocol  -32603",
        "    mcp           TIMEOUT",
        "    mcp/v1        CAP_EXCEEDED",
        "    resolve/v0    internal_error",
        "    system/1.0    UNKNOWN_TOOL_FAILURE",
        "    canonical     INTERNAL_ERROR",
        "    editor/0.1    -32003",
        "    http status   504",
        "    exit code     1",
    ]


def test_the_invariants_are_listed_with_their_code() -> None:
    assert "WRITE_ATOMIC" in render_explanation(explain("INVARIANT_VIOLATION"))


@pytest.mark.parametrize(
    ("typo", "nearest"), [("FILE_NOTFOUND", "FILE_NOT_FOUND"), ("cache_mising", "CACHE_MISSING"), ("-32604", "-32603")]
)
def test_a_typo_suggests_the_closest_code(typo: str, nearest: str) -> None:
    with pytest.raises(UnknownCode) as caught:
        explain(typo)

    assert nearest in caught.value.nearest
    assert "did you mean" in str(caught.value)


def test_an_unrelated_word_has_no_suggestion() -> None:
    with pytest.raises(UnknownCode) as caught:
        explain("%" * 100_000)

    assert caught.value.nearest == ()
    assert len(str(caught.value)) < 200
