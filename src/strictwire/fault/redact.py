"""Secrets out of JSON, by the name of a member and by the shape of a text.

Names are judged word by word (`apiKey`, `api_key` and `x-api-key` are the same three), so `monkey` and `author` are left
alone. Texts are judged by forms that only secrets have; length or randomness alone proves nothing, or every digest and
version number would go. What is redacted is replaced by a mark; the value given is never changed in place.

Every form holds a mark, such as `sk-` or an equals sign, that most texts do not: marks are looked for first, and only a text
that has one is searched for the form.

Not here: bounding and normalising causes, and deciding which values are stored at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue

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

_USERINFO: Final = re.compile(r"((?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://[^\s/:@]*:)[^\s/@]+(?=@)")
"""`scheme://user:password@host`: the password goes. Tried only where a word begins, so that long words stay cheap."""

_SHORTEST: Final = 13
"""No form without `=` or `:` is shorter, so most names and words need not be searched."""

_SHAPE_MARKS: Final = (
    ("-", ("-----BEGIN ", "AGE-SECRET-KEY-1", "sk-", "rk-", "pk-", "glpat-", "xox", "pypi-")),
    ("_", ("sk_", "rk_", "pk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "npm_", "hf_", "whsec_")),
    (".", ("eyJ", "SG.")),
    ("A", ("AKIA", "ASIA", "AIza")),
    ("+", ("PRIVATE+KEY+",)),
)
"""A character, and marks with it: a text in one of the shapes has the two."""

_ASSIGNED_MARKS: Final = ("pass", "pwd", "secret", "token", "key", "sig")
_SCHEME_MARKS: Final = ("bearer", "basic", "digest")

_FOLDED: Final = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s"})
"""Letters that count as ASCII ones where case is ignored, and that `lower` leaves as they are, or makes two."""

MAX_KEPT: Final = 100
"""Characters of a text or name whose judgement is remembered: schemas and failures use the same words again and again."""

MAX_REMEMBERED: Final = 4096
"""How many of them."""

KNOWN: Final[set[str]] = set()
"""Short ASCII texts without any mark, met before: `is_harmless` knows them. What may hold a secret is never kept."""

KNOWN_NAMES: Final[set[str]] = set()
"""Short ASCII names met before that `is_plain_name` knows."""


def redact(value: JsonValue) -> JsonValue:
    """A copy of a JSON value without its secrets."""
    if isinstance(value, str):
        return value if value in KNOWN else redact_text(value)
    if isinstance(value, list):
        return [redact(item) for item in value]
    return _redact_members(value) if isinstance(value, dict) else value


def _redact_members(members: JsonObject) -> JsonObject:
    redacted: JsonObject = {}
    for name, value in members.items():
        if name in KNOWN_NAMES or is_plain_name(name):
            redacted[name] = redact(value)
        else:
            redacted[redact_text(name)] = _treatment_of(name)(value)
    return redacted


def redact_text(text: str) -> str:
    """A text without the secrets that their shape gives away."""
    if is_harmless(text):
        return text
    text = _SHAPES.sub(MARK, text)
    text = _ASSIGNED.sub(rf"\g<1>{MARK}", text)
    text = _SCHEME.sub(rf"\g<1>{MARK}", text)
    return _USERINFO.sub(rf"\g<1>{MARK}", text)


def is_harmless(text: str) -> bool:
    """Whether no form can be in the text, because no mark of one is. False proves nothing."""
    if text in KNOWN:
        return True
    if (len(text) >= _SHORTEST or "=" in text or ":" in text) and _has_mark(text):
        return False
    _remember(KNOWN, text)
    return True


def is_plain_name(name: str) -> bool:
    """Whether the name has nothing secret, and says nothing secret about its member."""
    if name in KNOWN_NAMES:
        return True
    if not is_harmless(name) or _treatment_of(name) is not redact:
        return False
    _remember(KNOWN_NAMES, name)
    return True


def _remember(known: set[str], text: str) -> None:
    if len(text) <= MAX_KEPT and text.isascii():
        if len(known) >= MAX_REMEMBERED:
            known.clear()
        known.add(text)


def _has_mark(text: str) -> bool:
    for character, marks in _SHAPE_MARKS:
        if character in text and _has_any(text, marks):
            return True
    folded = (text if text.isascii() else text.translate(_FOLDED)).lower()
    return (
        _has_any(folded, _SCHEME_MARKS)
        or (("=" in text or ":" in text) and _has_any(folded, _ASSIGNED_MARKS))
        or ("@" in text and "://" in text)
    )


def _has_any(text: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110 - a third of the time of any() with a generator
        if mark in text:
            return True
    return False


Treatment: TypeAlias = Callable[[JsonValue], JsonValue]
"""What happens to a member because of its name."""


def _treatment_of(name: str) -> Treatment:
    """How the member of this name is redacted: like any value, its texts, or all of it."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not _SECRET_WORDS.isdisjoint(words) or any(
        kind in _KEY_KINDS and key in ("key", "keys") for kind, key in pairwise(words)
    ):
        return _redact_whole
    return redact if _TEXT_WORDS.isdisjoint(words) else _redact_texts


def _redact_whole(value: JsonValue) -> JsonValue:
    """Yes, no and nothing are no secrets."""
    return value if value is None or isinstance(value, bool) else MARK


def _redact_texts(value: JsonValue) -> JsonValue:
    """Every text under a name such as `tokens`; numbers stay."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, list):
        return [_redact_texts(item) for item in value]
    return redact(value)
