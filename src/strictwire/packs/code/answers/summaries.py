"""The `summary` of each answer: one short sentence derived from its structured content (A.3, G14)."""

from __future__ import annotations

from typing import Final

_MAX: Final = 200
"""Characters of a summary and of the text in summary-only content (A.2)."""


def found(count: int, noun: str, *, capped: bool) -> str:
    """`Found 2 definitions. (Capped.)`"""
    return f"Found {count} {noun}{'' if count == 1 else 's'}." + (" (Capped.)" if capped else "")


def page(count: int, noun: str, *, more: bool, plural: str = "") -> str:
    """`Returned 100 references (next page available).` One item never mentions the next page."""
    if count == 1:
        return f"Returned 1 {noun}."
    return f"Returned {count} {plural or noun + 's'}{' (next page available)' if more else ''}."


def document_symbols(count: int, *, capped: bool) -> str:
    """`Returned 200 document symbols (Capped.)`"""
    if count == 1:
        return "Returned 1 document symbol."
    return f"Returned {count} document symbols{' (Capped.)' if capped else '.'}"


def diagnostics(count: int, *, capped: bool) -> str:
    """`Returned 2 diagnostics. (Capped.)`"""
    noun = "diagnostic" if count == 1 else "diagnostics"
    return f"Returned {count} {noun}." + (" (Capped.)" if capped else "")


def files(count: int, *, more: bool, capped: bool) -> str:
    """`Returned diagnostics for 2 files (next page available; Capped).`"""
    notes = "; ".join(["next page available"] * more + ["Capped"] * capped)
    noun = "file" if count == 1 else "files"
    return f"Returned diagnostics for {count} {noun}{f' ({notes})' if notes else ''}."


def hover(*, available: bool, truncated: bool) -> str:
    """`Hover available.`, `No hover available.`, with `(Truncated.)` where text was cut."""
    if not truncated:
        return "Hover available." if available else "No hover available."
    return "Hover available. (Truncated.)" if available else "Hover truncated."


def one_line(summary: str | None) -> str:
    """The text of summary-only content: runs of white space become one space; at most 200 characters; never empty."""
    return " ".join((summary or "").split())[:_MAX] or "OK"
