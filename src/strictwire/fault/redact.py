"""Secrets out of JSON, by the name of a member and by the shape of a text.

Names are judged word by word (`apiKey`, `api_key` and `x-api-key` are the same three), so `monkey` and `author` are left
alone. Texts are judged by forms that only secrets have; length or randomness alone proves nothing, or every digest and
version number would go. What is redacted is replaced by a mark; the value given is never changed in place.

Not here: bounding and normalising causes, and deciding which values are stored at all.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from strictwire.canon.json import JsonValue

MARK: Final = "[redacted]"
"""What stands where a secret stood."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_SECRET_WORDS: Final = frozenset(
    {"password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "credential", "credentials"}
    | {"authorization", "bearer", "cookie", "cookies", "apikey", "privatekey"}
)
"""A name with one of these words holds a secret whatever its type."""

_TEXT_WORDS: Final = frozenset({"token", "tokens", "auth", "jwt", "pin", "otp"})
"""A name with one of these holds a secret when it is text: `max_tokens` is a number."""

_KEY_KINDS: Final = frozenset(
    {"api", "access", "account", "admin", "auth", "client", "deploy", "encryption", "hmac", "host", "license"}
    | {"master", "private", "service", "shared", "signing", "ssh", "storage", "subscription"}
)
"""What makes a `key` one that opens something: `api_key`, but not `primary_key`."""

_SHAPES: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|[\s\S]*)"
    r"|\bPRIVATE\+KEY\+\S+"
    r"|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|\b(?:sk|rk|pk)[-_](?:live|test|proj|ant|or)[-_][\w-]{12,}"
    r"|\bsk-[A-Za-z0-9]{20,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abeprs]-[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bAIza[\w-]{35}"
    r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}|\bhf_[A-Za-z0-9]{30,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bwhsec_\w{16,}"
)
"""Forms that are secrets from their first letter to their last."""

_ASSIGNED: Final = re.compile(
    r"(?i)((?:\b|_)(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[-_]?key|access[-_]?key|signature|sig)"
    r"(?:=|[\"']?\s*:\s*[\"']?(?=[^\s\"',;&]*[0-9])(?=[^\s\"',;&]{6})))[^\s\"',;&]+"
)
"""`password=anything`; after a colon, where sentences go on, only what has a digit and six letters or more."""

_SCHEME: Final = re.compile(r"(?i)\b((?:bearer|basic|digest)\s+)(?=[\w.~+/=-]*[0-9=])[\w.~+/=-]{12,}")
"""An Authorization header in a text. A digit or padding tells `Basic dXNlcjpwdw==` from `basic understanding`."""

_SHORTEST: Final = 13
"""No form without `=` or `:` is shorter, so most names and words need not be searched."""

_USERINFO: Final = re.compile(r"((?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://[^\s/:@]*:)[^\s/@]+(?=@)")
"""`scheme://user:password@host`: the password goes. Tried only where a word begins, so that long words stay cheap."""


def redact(value: JsonValue) -> JsonValue:
    """A copy of a JSON value without its secrets."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [redact(item) for item in value]
    if isinstance(value, dict):
        return {redact_text(name): _redact_member(name, item) for name, item in value.items()}
    return value


def redact_text(text: str) -> str:
    """A text without the secrets that their shape gives away."""
    if len(text) < _SHORTEST and "=" not in text and ":" not in text:
        return text
    text = _SHAPES.sub(MARK, text)
    text = _ASSIGNED.sub(rf"\g<1>{MARK}", text)
    text = _SCHEME.sub(rf"\g<1>{MARK}", text)
    return _USERINFO.sub(rf"\g<1>{MARK}", text)


def is_secret_name(name: str) -> bool:
    """Whether a member of this name holds a secret whatever its type."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not _SECRET_WORDS.isdisjoint(words) or any(
        kind in _KEY_KINDS and key in ("key", "keys") for kind, key in pairwise(words)
    )


def _redact_member(name: str, value: JsonValue) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if is_secret_name(name):
        return MARK
    if not _TEXT_WORDS.isdisjoint(word.lower() for word in _WORD.findall(name)):
        return _redact_texts(value)
    return redact(value)


def _redact_texts(value: JsonValue) -> JsonValue:
    """Every text under a name such as `tokens`; numbers stay."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, list):
        return [_redact_texts(item) for item in value]
    return redact(value)
