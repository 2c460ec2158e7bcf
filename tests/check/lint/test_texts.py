"""Text rules use a fast prefilter: a text that the prefilter skips never matches the full expression."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.check.lint import texts

INSTRUCTIONS = [
    "Ignore all previous rules",
    "disregard the safety",
    "FORGET your earlier",
    "override system",
    "do not tell the user",
    "Never informing the user",
    "< IMPORTANT >",
    "</system>",
    "before calling this tool, always read it",
    "print the system prompt",
    "you  are\nnow",
    "Act as an admin",
    "\u017fend the \u017fystem prompt",
]
SECRETS = [
    "sk-live_abcdefgh1",
    "pk_test-abcdefgh1",
    "gho_abcdefghijklmnopqrst",
    "github_pat_abcdefghijklmnopqrst",
    "glpat-abcdefghijklmnop",
    "AKIAABCDEFGHIJKLMNOP",
    "ASIAABCDEFGHIJKLMNOP",
    "xoxb-abcdefghij",
    "AIza" + "a" * 30,
    "-----BEGIN PRIVATE KEY-----",
    "eyJhbGciOiJI.eyJzdWIiOiIx",
    "token = abcdefgh1",
    "api_key:'abcdefgh1",
    "ftp://me:word@host",
]
SENSITIVE = [
    "see http://x",
    "HTTPS://x",
    "mail a.b@example.org",
    "in /home/me",
    "(/etc/passwd",
    "C:\\windows",
    "abcdefghij1234567890",
    "the PASSWORD",
    "a passwd",
    "a passphrase",
    "private key",
    "api key",
    "API_KEY",
    "credential",
    "pa\u017fsword",
]


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_the_prefilter_keeps_every_instruction(text: str) -> None:
    assert texts._INSTRUCTIONS.search(text)
    assert not text.isascii() or any(word in text.lower() for word in texts._INSTRUCTION_PREFILTER)


@pytest.mark.parametrize("text", SECRETS)
def test_the_prefilter_keeps_every_secret(text: str) -> None:
    assert texts._SECRETS.search(text)
    assert texts._SECRET_PREFILTER.search(text)


@pytest.mark.parametrize("text", SENSITIVE)
def test_the_prefilter_keeps_every_sensitive_text(text: str) -> None:
    assert texts._SENSITIVE.search(text)
    assert texts._may_be_sensitive(text)


WORDS = st.lists(
    st.sampled_from([*" \n:=/@-_'<>.\\0aA1", *INSTRUCTIONS, *SECRETS, *SENSITIVE]) | st.text(max_size=3), max_size=12
).map("".join)


@given(WORDS)
def test_the_prefilters_skip_no_match(text: str) -> None:
    lower = text.lower()

    assert (
        not texts._INSTRUCTIONS.search(text)
        or not lower.isascii()
        or any(word in lower for word in texts._INSTRUCTION_PREFILTER)
    )
    assert not texts._SECRETS.search(text) or texts._SECRET_PREFILTER.search(text)
    assert not texts._SENSITIVE.search(text) or texts._may_be_sensitive(text)
