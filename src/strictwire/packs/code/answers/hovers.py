"""Hover contents: normalised, ordered, and cut to the caps (A.2, A.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.answers.order import hover_key, sort_unique
from strictwire.packs.code.answers.ranges import Range, maybe_range
from strictwire.packs.code.answers.texts import maybe_text

MAX_FRAGMENTS: Final = 8
MAX_CODE_POINTS: Final = 8_192
"""Of one fragment."""

_KINDS: Final = frozenset({"markdown", "plaintext"})


class Hover(NamedTuple):
    """What a hover shows."""

    contents: list[JsonObject]
    place: Range | None
    truncated: bool


def read_hovers(values: list[JsonValue]) -> Hover:
    """The contents of one or several hovers; the range is the smallest by start, then end."""
    entries = [each for each in values if isinstance(each, dict)]
    fragments = [fragment for each in entries for fragment in _fragments(each.get("contents"))]
    places = [place for each in entries if (place := maybe_range(each.get("range"))) is not None]
    ordered = sort_unique(fragments, hover_key)
    cut = [_cut(each) for each in ordered[:MAX_FRAGMENTS]]
    return Hover(cut, min(places, default=None), truncated=cut != ordered)


def _fragments(value: JsonValue) -> list[JsonObject]:
    entries = value if isinstance(value, list) else [value]
    return [found for each in entries if (found := _maybe_fragment(each)) is not None]


def _maybe_fragment(value: JsonValue) -> JsonObject | None:
    """A text is Markdown; `{kind, value}` is kept; `{language, value}` becomes a fenced block."""
    text = maybe_text(value.get("value") if isinstance(value, dict) else value)
    if text is None:
        return None
    if not isinstance(value, dict):
        return {"kind": "markdown", "value": text}
    kind, language = value.get("kind"), value.get("language")
    if isinstance(kind, str) and kind in _KINDS:
        return {"kind": kind, "value": text}
    if not isinstance(language, str):
        return None
    return {"kind": "markdown", "value": f"```{language}\n{text}\n```" if language.strip() else text}


def _cut(fragment: JsonObject) -> JsonObject:
    return fragment | {"value": fragment["value"][:MAX_CODE_POINTS]}


def fit_last(contents: list[JsonObject], fits: Callable[[list[JsonObject]], bool]) -> list[JsonObject] | None:
    """The contents with the longest prefix of the last fragment that fits; None if not even an empty one does.

    `fits` must be monotonic: what fits still fits with a shorter text.
    """
    if not contents or fits(contents):
        return contents
    *kept, last = contents
    low, high = -1, len(last["value"])
    while high - low > 1:
        middle = (low + high) // 2
        if fits([*kept, last | {"value": last["value"][:middle]}]):
            low = middle
        else:
            high = middle
    return None if low < 0 else [*kept, last | {"value": last["value"][:low]}]
