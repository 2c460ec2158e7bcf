"""Names of live sources for reports: commands and URLs without the secrets that they contain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from strictwire.fault.redact import MARK, redact, redact_text


def command_label(command: Sequence[str]) -> str:
    """A command without secrets: values of options such as `--api-key`, and words that look like a secret."""
    words: list[str] = []
    for index, word in enumerate(command):
        option = command[index - 1] if index else ""
        is_value = option.startswith("-") and "=" not in option and not word.startswith("-")
        words.append(_redact_value(option.lstrip("-"), word) if is_value else _redact_word(word))
    return " ".join(words)


def _redact_word(word: str) -> str:
    if word.startswith(("http://", "https://")):
        return url_label(word)
    name, separator, value = word.partition("=")
    return f"{name}={_redact_value(name.lstrip('-'), value)}" if separator else redact_text(word)


_HEADER: Final = re.compile(r"(?P<name>[A-Za-z0-9-]+)(?P<separator>:\s*)(?P<value>.+)", re.DOTALL)
"""The value of an option such as `--header`."""

_QUERY_SECRETS: Final = frozenset({"key", "code", "sig", "signature"})
"""Query parameters that hold a secret, although members of these names often do not."""


def _redact_value(name: str, value: str) -> str:
    header = _HEADER.fullmatch(value)
    if header is not None and "header" in name.lower():
        return f"{header['name']}{header['separator']}{_redact_value(header['name'], header['value'])}"
    if value.startswith(("http://", "https://")):
        return url_label(value)
    redacted = redact({name: value})
    return redact_text(str(redacted[name])) if isinstance(redacted, dict) else MARK


def url_label(url: str) -> str:
    """A URL without user, password and secret query parameters. A malformed one is not shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a malformed URL"
    host = parts.netloc.rpartition("@")[2]
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    shown = [(name, MARK if name.lower() in _QUERY_SECRETS else _redact_value(name, value)) for name, value in parameters]
    query = urlencode(shown, safe="[]")
    return redact_text(urlunsplit((parts.scheme, host, parts.path, query, "")))
