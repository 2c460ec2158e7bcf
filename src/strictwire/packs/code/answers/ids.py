"""Stable ids: `sha256:` and the digest of the parts joined by `|` (A.3). The same symbol has the same id in every call."""

from __future__ import annotations

import hashlib

from strictwire.packs.code.answers.ranges import Range


def stable_id(text: str) -> str:
    """The id of a canonical text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def document_symbol_id(uri: str, name: str, kind: int, place: Range, selection: Range, container: str | None) -> str:
    """The id of a symbol in its document."""
    parts = (uri, name, str(kind), place.start, place.end, selection.start, selection.end, container or "")
    return stable_id("|".join(parts))


def workspace_symbol_id(uri: str, name: str, kind: int, place: Range, container: str | None) -> str:
    """The id of a symbol in the workspace."""
    return stable_id("|".join((uri, name, str(kind), place.start, place.end, container or "")))


def diagnostic_id(
    uri: str, place: Range, *, severity: int | None, code: str | None, source: str | None, message: str
) -> str:
    """The id of a diagnostic."""
    level = "" if severity is None else str(severity)
    return stable_id("|".join((uri, place.start, place.end, level, code or "", source or "", message)))
