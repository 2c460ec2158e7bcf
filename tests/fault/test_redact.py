"""Secrets and what only looks like them."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.fault.redact import MARK, redact, redact_text

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
def test_a_member_whose_name_only_contains_such_letters_is_left_alone(name: str):
    assert redact({name: "value"}) == {name: "value"}


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_a_text_in_the_form_of_a_secret_is_redacted_wherever_it_stands(text: str):
    expected = SECRET_TEXTS[text]

    assert redact({"a": [{"b": text}], "c": text}) == {"a": [{"b": expected}], "c": expected}
    assert redact([text]) == [expected]


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_a_text_that_is_no_secret_is_left_alone(text: str):
    assert redact({"a": [text]}) == {"a": [text]}


def test_numbers_of_tokens_are_not_tokens():
    value = {"max_tokens": 4096, "tokens": [1, 2], "has_token": True, "token": None, "password": 1234}

    assert redact(value) == {**value, "password": MARK}


def test_everything_under_a_secret_name_goes():
    assert redact({"credentials": {"user": "a", "pw": "b"}, "tokens": ["a", ["b"]]}) == {
        "credentials": MARK,
        "tokens": [MARK, [MARK]],
    }


def test_a_secret_used_as_a_name_goes_too():
    assert redact({"AKIAIOSFODNN7EXAMPLE": 1}) == {MARK: 1}


def test_the_value_given_is_not_changed():
    value = {"a": [{"password": "x"}]}
    before = copy.deepcopy(value)
    redact(value)

    assert value == before


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str):
    assert redact_text(redact_text(text)) == redact_text(text)


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_what_was_redacted_stays_as_it_is(text: str):
    assert redact_text(SECRET_TEXTS[text]) == SECRET_TEXTS[text]
