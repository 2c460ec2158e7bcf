"""The state that an answer depends on besides its arguments, as text for snapshot keys (A.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from strictwire.packs.code.engine import EngineState, EngineStatus, Epochs

_ALL: Final = ("roots", "text", "fs", "diagnostics")

_COUNTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "references": ("roots", "text", "fs"),
    "workspaceSymbols": ("roots", "text", "fs"),
    "callers": ("roots", "text", "fs"),
    "implementations": ("roots", "text", "fs"),
    "lookup": ("roots", "text", "fs"),
    "search": ("roots", "text", "fs"),
    "diagnostics_workspace": ("roots", "fs", "diagnostics"),
}
"""Operation to the counters that make its snapshots stale; any other operation depends on all four."""


def render_state(operation: str, *, roots: str, epochs: Epochs, engines: str = "") -> str:
    """The state of one operation: roots, counters, and the engines that answer, if any are known."""
    counters = ",".join(str(getattr(epochs, name)) for name in _COUNTERS.get(operation, _ALL))
    return f"roots:{roots}|epochs:{counters}" + (f"|engines:{engines}" if engines else "")


def render_engines(states: Iterable[EngineState]) -> str:
    """Names and versions of the engines, and which of them are warming: sets differ between engines.

    The status itself is used and not a counter of its changes, so that a restarted engine leads back to the same key. An
    engine that is not running yet counts as ready: a call that starts it and one that comes later are the same call.
    """
    return ";".join(sorted({f"{each.identity.language}={_name(each)}" for each in states}))


def _name(state: EngineState) -> str:
    mark = "?" if state.status is EngineStatus.WARMING else ""
    return f"{state.identity.name} {state.identity.version}{mark}"


def is_same_content(before: Epochs, after: Epochs) -> bool:
    """Whether no file of the roots changed between two readings."""
    return (before.roots, before.text, before.fs) == (after.roots, after.text, after.fs)
