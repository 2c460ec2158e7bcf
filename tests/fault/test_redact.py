"""Secrets are redacted; strings that only look like secrets are kept."""

from __future__ import annotations

import copy
import random
import re
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.fault import redact as rules
from strictwire.fault.redact import (
    HARMLESS_TEXTS,
    MARK,
    MAX_KEPT,
    MAX_REMEMBERED,
    is_harmless,
    is_plain_name,
    redact,
    redact_text,
)

SECRET_NAMES = [
    "password",
    "PASSWORD",
    "userPassword",
    "db_password",
    "passwd",
    "passphrase",
    "secret",
    "client_secret",
    "clientSecret",
    "token",
    "accessToken",
    "refresh-token",
    "X-Auth-Token",
    "api_key",
    "apiKey",
    "APIKey",
    "x-api-key",
    "apikey",
    "private_key",
    "sshKey",
    "signing_key",
    "Authorization",
    "Bearer",
    "Cookie",
    "Set-Cookie",
    "credentials",
    "auth",
    "jwt",
]
PLAIN_NAMES = [
    "monkey",
    "author",
    "authors",
    "keyboard",
    "key",
    "keys",
    "primary_key",
    "sort_key",
    "turkey",
    "passage",
    "compass",
    "secretary",
    "tokenizer",
    "authority",
    "bearing",
    "path",
    "version",
    "tool_name",
    "session_id",
]
SECRET_TEXTS = {
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N": MARK,
    "AKIAIOSFODNN7EXAMPLE": MARK,
    "ghp_" + "a1B2" * 9: MARK,
    "sk-proj-abcdef0123456789abcdef": MARK,
    "xoxb-1234567890-abcdef": MARK,
    "Authorization: Bearer abcdef0123456789": f"Authorization: Bearer {MARK}",
    "Basic dXNlcjpwYXNzd29yZA==": f"Basic {MARK}",
    "postgres://app:hunter2@db/app": f"postgres://app:{MARK}@db/app",
    "connect https://me:pw@host/x failed": f"connect https://me:{MARK}@host/x failed",
    "password=hunter2": f"password={MARK}",
    "DB_PASSWORD=x y": f"DB_PASSWORD={MARK} y",
    'api_key: "abc123def"': f'api_key: "{MARK}"',
    "?token=abc&page=2": f"?token={MARK}&page=2",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----": MARK,
    "-----BEGIN PRIVATE KEY-----\nMIIE": MARK,
    "PRIVATE+KEY+log+c74f20a3+ARpc2QcU": MARK,
}
PLAIN_TEXTS = [
    "1.2.3",
    "10.20.30.40",
    "file.test.js",
    "a.b.c",
    "com.example.app",
    "monkey",
    "author",
    "sha256:" + "0123456789abcdef" * 4,
    "0123456789abcdef0123456789abcdef01234567",
    "d9428888-122b-11e1-b85c-61cd3cbb3210",
    "A" * 100,
    "unexpected token: }",
    "unexpected token: expected identifier",
    "password: must not be empty",
    "basic understanding",
    "the bearer of bad news",
    "https://example.org/a:b@c",
    "user@example.org",
    "http://host:8080/path",
    "skeleton-key",
    "task-1234",
    "the secret is out",
    "2026-01-01T00:00:00.000Z",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_member_with_the_name_of_a_secret_is_redacted(name: str):
    assert redact({name: "value"}) == {name: MARK}


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_name_that_only_contains_the_letters_of_a_secret_word_is_kept(name: str):
    assert redact({name: "value"}) == {name: "value"}


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_a_string_that_matches_a_secret_pattern_is_redacted_anywhere(text: str):
    expected = SECRET_TEXTS[text]

    assert redact({"a": [{"b": text}], "c": text}) == {"a": [{"b": expected}], "c": expected}
    assert redact([text]) == [expected]


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_a_string_that_is_not_a_secret_is_kept(text: str):
    assert redact({"a": [text]}) == {"a": [text]}


def test_numbers_under_token_names_are_kept():
    value = {"max_tokens": 4096, "tokens": [1, 2], "has_token": True, "token": None, "password": 1234}

    assert redact(value) == {**value, "password": MARK}


def test_every_value_under_a_secret_name_is_redacted():
    assert redact({"credentials": {"user": "a", "pw": "b"}, "tokens": ["a", ["b"]]}) == {
        "credentials": MARK,
        "tokens": [MARK, [MARK]],
    }


def test_a_secret_used_as_a_name_is_redacted():
    assert redact({"AKIAIOSFODNN7EXAMPLE": 1}) == {MARK: 1}


def test_the_input_is_not_modified():
    value = {"a": [{"password": "x"}]}
    before = copy.deepcopy(value)
    redact(value)

    assert value == before


@given(st.text())
def test_redact_is_idempotent(text: str):
    assert redact_text(redact_text(text)) == redact_text(text)


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_a_redacted_string_is_not_redacted_again(text: str):
    assert redact_text(SECRET_TEXTS[text]) == SECRET_TEXTS[text]


def by_definition(text: str) -> str:
    """The definition: all patterns, without the fast path."""
    text = rules._SHAPES.sub(MARK, text)
    for form in (rules._ASSIGNED, rules._SCHEME, rules._USERINFO):
        text = form.sub(rf"\g<1>{MARK}", text)
    return text


PIECES = [
    *("sk-", "sk_live_", "rk-test-", "pk_", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xox", "AKIA", "ASIA", "AIza"),
    *("npm_", "pypi-", "hf_", "SG.", "whsec_", "eyJ", "PRIVATE+KEY+", "AGE-SECRET-KEY-1", "-----BEGIN ", "RSA PRIVATE KEY"),
    *(
        "-----",
        "-----END ",
        "password",
        "Passwd",
        "PASSPHRASE",
        "pa\u017f\u017fword",
        "pwd",
        "secret",
        "TOKEN",
        "to\u212aen",
    ),
    *("api_key", "ap\u0131key", "AP\u0130key", "access-key", "s\u0131g", "SIG", "signature", "design", "key", "keys"),
    *(
        "bearer",
        "Bearer ",
        "ba\u017fic ",
        "BASIC\t",
        "digest ",
        "d\u0131gest ",
        "http://",
        "postgres://u:",
        "://",
        "@",
        "@host",
    ),
    *("=", ":", ": ", '": "', "'", '"', " ", "\n", "_", "-", ".", "+", "/", ",", "&", "1", "a", "é", "\u3000", MARK),
    *(
        "a1B2" * 3,
        "a1B2" * 5,
        "Z9" * 9,
        "abcdefgh",
        "0123456789abcdef",
        "dXNlcjpwdw==",
        "hunter2",
        "x" * 40,
        "words and more",
    ),
]
"""Parts of secrets and of strings that only look like secrets."""

WHOLE = [
    *SECRET_TEXTS,
    *(f"{kind}{gap}{use}{gap}abc_def-ghi01" for kind in ("sk", "rk", "pk") for gap in "-_" for use in ("live", "ant", "or")),
    *(f"{prefix}_{'a1B2' * 5}" for prefix in ("ghp", "gho", "ghu", "ghs", "ghr", "github_pat")),
    *("sk-" + "a1B2" * 5, "glpat-" + "a-_1" * 4, "xoxs-0123456789", "ASIA" + "Z9" * 8, "AIza" + "a1B2_" * 7),
    *("npm_" + "a1B2" * 8, "pypi-" + "a1B2-" * 8, "hf_" + "a1B2" * 8, "SG." + "a-_1" * 4 + "." + "b-_2" * 4),
    *("whsec_" + "a1B2" * 4, "AGE-SECRET-KEY-1" + "Q9" * 10, "PRIVATE+KEY+x", "eyJ01234567.01234567.", "pa\u017fscode=x"),
    *(
        "ACCES\u017f_KEY=1",
        "my_s\u0131g: ab12x3456",
        "\u212aey to\u212aen=1",
        "D\u0130GEST abcdefghijk0",
        "x://:p@",
        "pwd=1",
        "client_secret=1",
    ),
]
"""One secret for each pattern."""


def _compare(seed: int, texts: int) -> tuple[int, int]:
    """How many strings are redacted, and how many the fast path accepts."""
    chance, redacted, harmless = random.Random(seed), 0, 0
    for _ in range(texts):
        pieces = chance.choices(PIECES, k=chance.randint(0, 6)) + chance.sample(WHOLE, chance.randint(0, 1))
        text = "".join(chance.sample(pieces, len(pieces)))
        expected = by_definition(text)

        assert redact_text(text) == expected, (seed, text)
        assert redact_text(text) == expected, (seed, text)
        redacted, harmless = redacted + (expected != text), harmless + is_harmless(text)
    return redacted, harmless


def test_the_fast_path_does_not_change_the_result() -> None:
    texts = 3_000
    redacted, harmless = _compare(seed=1, texts=texts)

    assert redacted > texts / 10
    assert harmless > texts / 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_the_fast_path_does_not_change_the_result_for_many_strings(seed: int) -> None:
    texts = 20_000
    redacted, harmless = _compare(seed, texts)

    assert min(redacted, harmless) > texts / 10


@pytest.mark.parametrize("text", [*WHOLE, *PLAIN_TEXTS])
def test_the_fast_path_does_not_change_the_result_for_the_examples(text: str) -> None:
    assert redact_text(text) == by_definition(text)
    assert (by_definition(text) != text) == (text in WHOLE)
    assert not (is_harmless(text) and text in WHOLE)


@given(st.text())
def test_the_fast_path_does_not_change_the_result_for_any_string(text: str) -> None:
    assert redact_text(text) == by_definition(text)


def test_every_letter_that_matches_an_ascii_letter_ignoring_case_is_folded() -> None:
    """Where case is ignored, some letters beyond ASCII match one: a mark in such letters must be found."""
    letters = re.compile("[a-z]", re.IGNORECASE)
    alike = [letter for letter in map(chr, range(128, sys.maxunicode + 1)) if letters.match(letter)]

    assert alike == ["\u0130", "\u0131", "\u017f", "\u212a"]
    assert [letter.translate(rules._FOLDED).lower() for letter in alike] == ["i", "i", "s", "k"]


def _value_by_definition(value: Any) -> Any:
    if isinstance(value, str):
        return by_definition(value)
    if isinstance(value, list):
        return [_value_by_definition(item) for item in value]
    if isinstance(value, dict):
        return {by_definition(name): _member_by_definition(name, item) for name, item in value.items()}
    return value


def _member_by_definition(name: str, value: Any) -> Any:
    redactor = rules._redactor_of(name)
    return _value_by_definition(value) if redactor is rules._redact else redactor(value, [rules.MAX_SEARCHED])


_names = st.sampled_from([*SECRET_NAMES[:12], *PLAIN_NAMES, "tokens", "a=b", "x" * 200]) | st.text(max_size=5)
_texts = st.sampled_from([*SECRET_TEXTS, *PLAIN_TEXTS]) | st.text(max_size=8)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)


@given(_values)
def test_the_cache_does_not_change_the_result(value: Any) -> None:
    expected = _value_by_definition(value)

    assert redact(value) == expected
    assert redact(value) == expected


def test_the_caches_are_bounded_and_never_contain_a_secret() -> None:
    for number in range(2 * MAX_REMEMBERED):
        is_harmless(f"an ordinary text, number {number}")
        is_plain_name(f"ordinary_{number}")
    for text in (*SECRET_TEXTS, "x" * (MAX_KEPT + 1), "é" * 20):
        redact({text: text})

    assert len(HARMLESS_TEXTS) <= MAX_REMEMBERED
    assert len(rules.PLAIN_NAMES) <= MAX_REMEMBERED
    assert HARMLESS_TEXTS.isdisjoint([text for text in SECRET_TEXTS if by_definition(text) != text])
    assert max(map(len, HARMLESS_TEXTS)) <= MAX_KEPT
    assert all(map(str.isascii, HARMLESS_TEXTS))


# Work.


REPEATED = {
    "words before a colon": "token:",
    "the start of a JSON web token": "eyJ-",
    "the first part of a JSON web token": "eyJaaaaaaaa.",
    "the start of a SendGrid key": "SG.aaaaaaaaaaaaaaaa",
    "the start of a key block": "-----BEGIN A ",
    "the middle of a key block": "-----BEGIN PRIVATE KEY-----END ",
    "a scheme": "bearer ",
    "a scheme and spaces": "bearer      ",
    "a scheme and a word": "basic a-",
    "a URL with a user": "a://b:",
    "what may be a scheme of a URL": "a+b.c-",
    "a word and spaces": "token                    ",
    "a quoted word": 'password" : ',
    "several words": "token:'secret:pwd=\"a ",
    "the start of an access key": "AKIA",
    "prose": "the password: is not here, token= abc; ",
}
"""Each is cheap, and took quadratic time in at least one version of the patterns, or could have."""


def seconds(text: str) -> float:
    """The least processor time of three runs. Other processes do not count, and can only slow it down."""
    taken = []
    for _ in range(3):
        began = time.thread_time()
        redact_text(text)
        taken.append(time.thread_time() - began)
    return min(taken)


@pytest.mark.parametrize("kind", REPEATED)
def test_the_work_grows_no_faster_than_the_text(kind: str) -> None:
    """Of 32 times the text. Where it is quadratic, that takes more than 400 times as long."""
    short, long = (REPEATED[kind] * (size // len(REPEATED[kind])) + " sk-" for size in (4096, 32 * 4096))

    assert seconds(long) < 150 * max(seconds(short), 0.001)


def test_beyond_the_budget_a_string_with_a_hint_is_redacted_as_a_whole() -> None:
    searched, text = "token: none " * 1000, "x" * 1_000_000

    assert redact([searched] * 100 + [text, "password=a"]) == [searched] * 10 + [MARK] * 90 + [text, MARK]


def test_the_value_of_a_very_long_name_is_taken_for_a_secret() -> None:
    assert redact({"aB" * 1000: "value", "a" * 256: "value"}) == {"aB" * 1000: MARK, "a" * 256: "value"}
