"""The limits of the code tools, and the settings that change them.

Numbers that a schema holds (page size, items of a list) are in the schema files as well; a test keeps the two equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.packs.kit.paging import PageLimits

MIB: Final = 1024 * 1024

LIST_ITEMS: Final = 200
"""Items of a list without pages; further ones are cut off and the answer says so."""

PAGE_ITEMS: Final = 100
"""Items of a page where the caller names no size."""

MAX_REFERENCES: Final = 20_000
MAX_RAW_REFERENCES: Final = 80_000
"""Before normalising: four times the total, because engines repeat themselves."""

MAX_SYMBOLS: Final = 20_000
MAX_DIAGNOSTIC_FILES: Final = 5_000
MAX_MATCHES: Final = 20_000

OUTLINE_BYTES: Final = 8_192
"""Budget of a map where the caller names none."""

OUTLINE_ITEMS: Final = 2_000
"""Symbols of one map."""

MAX_OUTLINE_FILES: Final = 20_000

MAX_CANDIDATES: Final = 50
"""Symbols returned for a name that fits several."""

ENVELOPE_BYTES: Final = 1_024
"""Room in a response for what surrounds structured content and text: JSON-RPC, the id, the server's stamp."""

HEAD_BYTES: Final = 4_096
"""Room on a page for all but its items: cursor, summary, engines and note, in structured content and in text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """The tools' part of `[packs.code]`. The engines' part is beside it in the same table."""

    drop_in: bool = False
    """Serve the seven `vscode_lsp_*` tools of the reference instead of `code_*`, with its shapes, limits and short texts."""
    timeout_seconds: float = 30.0
    """Time of one call. A later result is kept for the next call."""
    late_seconds: float = 300.0
    """Time after which work is cancelled whose callers have given up."""
    max_response_bytes: int = 524_288
    """Size of one response, structured content and text together."""
    max_items_per_page: int = 200
    """Most items of one page; a larger `pageSize` is cut to it."""
    max_file_bytes: int = 4 * MIB
    """Largest document that is opened."""
    retain_seconds: float = 600.0
    """Time that a set is kept for its further pages, and for the same call."""
    retain_set_bytes: int = 16 * MIB
    """Largest set that is kept; a larger one is SNAPSHOT_TOO_LARGE."""
    retain_total_bytes: int = 48 * MIB
    """All sets together; the one used longest ago goes first."""

    @property
    def pages(self) -> PageLimits:
        """What is retained."""
        return PageLimits(set_bytes=self.retain_set_bytes, total_bytes=self.retain_total_bytes, seconds=self.retain_seconds)


DROP_IN: Final = ToolSettings(
    drop_in=True,
    timeout_seconds=2.0,
    retain_seconds=10.0,
    retain_set_bytes=2 * MIB,
    retain_total_bytes=20 * MIB,
)
"""The limits of the reference (A.2)."""

_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "timeout_seconds": (0.25, 600),
    "late_seconds": (1, 3_600),
    "max_response_bytes": (16_384, 4 * MIB - ENVELOPE_BYTES),
    "max_items_per_page": (1, 200),
    "max_file_bytes": (1_024, 64 * MIB),
    "retain_seconds": (1, 86_400),
    "retain_set_bytes": (65_536, 256 * MIB),
    "retain_total_bytes": (65_536, 1_024 * MIB),
}

_DROP_IN_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    **_BOUNDS,
    "timeout_seconds": (0.25, 2),
    "max_response_bytes": (16_384, 524_288),
}


def split_settings(table: Mapping[str, JsonValue]) -> tuple[ToolSettings, dict[str, JsonValue]]:
    """The tools' settings, and the rest of the table, which is the engines'.

    Raises ValueError: a value of the wrong type or out of range, with a sentence that says what is expected.
    """
    known = {field.name for field in fields(ToolSettings)}
    mine = {name: value for name, value in table.items() if name in known}
    if not isinstance(mine.get("drop_in", False), bool):
        raise ValueError("drop_in: expected true or false")  # noqa: TRY004 - settings, not a bug
    base, bounds = (DROP_IN, _DROP_IN_BOUNDS) if mine.pop("drop_in", False) else (ToolSettings(), _BOUNDS)
    values = {field.name: getattr(base, field.name) for field in fields(ToolSettings)}
    for name, value in mine.items():
        values[name] = _check(name, value, bounds[name], type(values[name]))
    return ToolSettings(**values), {name: value for name, value in table.items() if name not in known}


def _check(name: str, value: Any, bounds: tuple[float, float], kind: type) -> Any:
    low, high = bounds
    is_number = type(value) is int or (kind is float and type(value) is float)
    if not is_number or not low <= value <= high:
        raise ValueError(f"{name}: expected a number from {low:g} to {high:g}")
    return kind(value)
