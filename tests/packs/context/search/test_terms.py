"""Search terms: punctuation, case, Unicode, identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.context.search.terms import MAX_TERM, MAX_WORD, find_words, parse_terms, stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The guide. (Guide!)", ["the", "guid", "guid"]),
        ("getUserIDs", ["getuserid", "get", "user", "id"]),
        ("get_user_name", ["getusernam", "get", "user", "nam"]),
        ("get_user_ids", ["getuserid", "get", "user", "id"]),
        ("получитьИмя", ["получитьимя", "получить", "имя"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("__init__", ["init"]),
        ("café CAFE\u0301", ["caf", "caf"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("日本語", ["日本", "本語"]),
        ("日", ["日"]),
        ("python入門", ["python", "入門"]),
        ("हिन्दी", ["हिन्दी"]),
        ("don't", ["don", "t"]),
        ("", []),
        ("... — !", []),
    ],
)
def test_text_becomes_terms(text: str, expected: list[str]) -> None:
    assert parse_terms(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ("query", "queries"),
        ("file", "files"),
        ("parse", "parses", "parsed", "parsing"),
        ("match", "matches", "matched", "matching"),
        ("run", "runs", "running"),
        ("call", "calls", "called", "calling"),
    ],
)
def test_forms_of_one_word_have_the_same_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["class", "status", "this", "red", "string", "bed", "is", "abc1s"])
def test_other_words_are_not_changed(word: str) -> None:
    assert stem(word) == word


def test_spellings_of_one_identifier_share_its_terms() -> None:
    assert {parse_terms(name)[0] for name in ("getUserName", "get_user_name", "GetUserName", "GET_USER_NAME")} == {
        "getusernam"
    }


@given(st.text(max_size=200))
def test_terms_are_folded_bounded_and_never_empty(text: str) -> None:
    terms = parse_terms(text)

    assert all(0 < len(term) <= MAX_TERM for term in terms)
    assert parse_terms(text) == terms


@given(st.text(alphabet="aBz_9 .", max_size=40))
def test_case_of_single_words_makes_no_difference(text: str) -> None:
    assert parse_terms(text.lower()) == parse_terms(text.lower().lower())
    assert parse_terms(text.upper())[:1] == parse_terms(text.lower())[:1]


def test_a_word_of_megabytes_counts_as_several_words() -> None:
    found = find_words("aB" * 1_000_000)

    assert max(map(len, found)) == MAX_WORD
    assert sum(map(len, found)) == 2_000_000
