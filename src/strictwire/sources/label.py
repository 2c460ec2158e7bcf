"""Names of live sources for reports: commands and URLs without the secrets that they contain."""

from __future__ import annotations

from collections.abc import Sequence
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
    name, separator, value = word.partition("=")
    return f"{name}={_redact_value(name.lstrip('-'), value)}" if separator else redact_text(word)


def _redact_value(name: str, value: str) -> str:
    redacted = redact({name: value})
    return redact_text(str(redacted[name])) if isinstance(redacted, dict) else MARK


def url_label(url: str) -> str:
    """A URL without user, password and secret query parameters."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = urlencode([(name, _redact_value(name, value)) for name, value in parse_qsl(parts.query)], safe="[]")
    return redact_text(urlunsplit((parts.scheme, host, parts.path, query, "")))
