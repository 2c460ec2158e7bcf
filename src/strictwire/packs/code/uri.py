"""`file:` URIs, read strictly and written in one spelling (A.5). Pure: what a path leads to is for `gate`.

Percent-encoding is decoded once, so `%2e%2e` is `..` and `%252e` is the literal text `%2e`.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

_FILE: Final = re.compile(r"file:(?://([^/?#]*)|(?!//))(/[^?#]*)(?:\?[^#]*)?(?:#.*)?", re.DOTALL)
"""Authority and absolute path; query and fragment are ignored."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})?")


class UriRefused(ValueError):
    """The text is not a `file:` URI with an absolute path on this machine."""


def parse_file_uri(uri: str) -> str:
    """The decoded path, with `.` and `..` collapsed.

    Collapsing comes before any look at the disk: links on the way are then met only below the path that is left.
    Raises UriRefused: not absolute, a host, a broken escape, bytes that are not UTF-8, a control character.
    """
    found = _FILE.fullmatch(uri)
    if found is None or found[1]:
        raise UriRefused("expected file:///absolute/path, without a host")
    try:
        path = _ESCAPE.sub(_unescape, found[2].encode()).decode()
    except (UnicodeError, UriRefused) as exc:
        raise UriRefused("expected percent-encoded UTF-8") from exc
    if _CONTROL.search(path):
        raise UriRefused("expected no control character")
    # POSIX gives a path that begins with two slashes a meaning of its own; here it is one.
    return "/" + posixpath.normpath(path).lstrip("/")


def _unescape(found: re.Match[bytes]) -> bytes:
    if found[1] is None:
        raise UriRefused("expected two hexadecimal digits after %")
    return bytes((int(found[1], 16),))


def render_file_uri(path: Path | str) -> str:
    """Return the canonical URI of an absolute path: everything but `A-Z a-z 0-9 - . _ ~ /` is percent-encoded."""
    return "file://" + quote(os.fsencode(path), safe="/")
