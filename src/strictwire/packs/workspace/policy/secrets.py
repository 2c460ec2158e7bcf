"""Finds keys, tokens and passwords in any text: by the formats of their issuers, and by random-looking values next to a
telling name.

A value looks random if it mixes letters and digits as no word does. Values that are marked as examples are not secrets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

_ISSUED: Final = re.compile(
    r"""(?x)
    -----BEGIN\ (?:RSA\ |EC\ |OPENSSH\ |DSA\ |PGP\ |ENCRYPTED\ )?PRIVATE\ KEY(?:\ BLOCK)?-----
      ["'\s+/*#;]*(?:\\n|\n)["'\s+/*#;]*[A-Za-z0-9+/]{16}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \bgh[pousr]_[A-Za-z0-9]{36}\b
  | \bgithub_pat_[A-Za-z0-9_]{60,}\b
  | \bglpat-[A-Za-z0-9_-]{20}\b
  | \bxox[abprs]-[0-9]{8,}-[A-Za-z0-9-]{16,}\b
  | \bhooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{24}\b
  | \b[rs]k_live_[A-Za-z0-9]{20,}\b
  | \bsk-(?:proj-|ant-)[A-Za-z0-9_-]{40,}
  | \bAIza[A-Za-z0-9_-]{35}\b
  | \bnpm_[A-Za-z0-9]{36}\b
  | \bpypi-AgEI[A-Za-z0-9_-]{50,}
  | \bhf_[A-Za-z0-9]{34,}\b
  | \bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b
  | \bdop_v1_[0-9a-f]{64}\b
  | \bshp(?:at|ss|ca)_[0-9a-fA-F]{32}\b
"""
)
"""Formats that only these issuers use."""

_NAMED: Final = re.compile(
    r"""(?xi)
    (?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth_?token|access_?token|client_?secret|credential)
    \w{0,24} ["']?\]? [\ \t]{0,8}
    (?: : \s{0,8} (?:&'?\w{0,20}\s{0,8})? \w{0,20} \s{0,8} = | [:=]>? | , | [\ \t]{1,8} )
    [\ \t]{0,8} [bfru]? (["']) (?P<value>[^"'\s\\]{12,200}) \1
"""
)
"""A name that identifies the value next to it as a secret."""

_IN_URL: Final = re.compile(
    r"""\b[a-z][a-z0-9+]{1,20}://[^\s/:@"'<>{}$]{0,40}:(?P<value>(?:[^\s/:@"'<>{}$%*]|%(?![sdr({])){8,80})@[\w(]"""
)
"""A password in a URL."""

_DOCUMENTED: Final = re.compile(r"(?i)EXAMPLE|XXXX|0{8}|1234567890")
"""Parts of an issued secret that mark it as an example in documentation."""

_EXAMPLE: Final = re.compile(
    r"(?i)EXAMPLE|XXXX|0{8}|1234567890|dummy|change.?me|placeholder|your[-_]|test|fake|sample|abcdef"
)
"""Parts of any other value that mark it as an example."""


def find_secrets(text: str) -> Iterator[int]:
    """Yield the offset at which each secret begins."""
    yield from (each.start() for each in _ISSUED.finditer(text) if not _DOCUMENTED.search(each[0]))
    for pattern in (_NAMED, _IN_URL):
        yield from (
            each.start() for each in pattern.finditer(text) if _looks_random(each["value"]) and not _ISSUED.search(each[0])
        )


def _looks_random(value: str) -> bool:
    """Return whether a value looks like a random string or a chosen password, rather than a name."""
    if _EXAMPLE.search(value) or re.search(r"[{}<>$()\[\],;]|://|\.\w+\.", value):
        return False
    if re.fullmatch(r"[0-9a-fA-F]{32,}", value):
        return _entropy(value) > 3.0
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_.-]"))
    turns = len(re.findall(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])", value))
    return kinds >= 3 and turns >= 2 and _entropy(value) > 3.0


def _entropy(value: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
