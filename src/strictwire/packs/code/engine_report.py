"""`strictwire code engines`: which engine serves which language of the roots, its version and its state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from strictwire.canon.json import JsonObject, render
from strictwire.packs.code.engine import EngineState, EngineStatus
from strictwire.packs.code.open import open_codebase
from strictwire.packs.code.options import CodeOptions


async def run_engines(options: CodeOptions, *, json: bool) -> str:
    """The table, or JSON. Engines are found and asked for their version; none is started."""
    async with open_codebase(replace(options, warm=False)) as code:
        states = await code.engines.states()
    if json:
        return render([_as_json(state) for state in states]).decode()
    if not states:
        return "no source files in the roots: " + ", ".join(map(str, options.roots))
    return "\n".join(_lines(states, several=len(options.roots) > 1))


def _lines(states: tuple[EngineState, ...], *, several: bool) -> list[str]:
    rows = [("LANGUAGE", "ENGINE", "VERSION", "STATE", ""), *(_row(state, several=several) for state in states)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]).rstrip() for row in rows
    ]


def _row(state: EngineState, *, several: bool) -> tuple[str, str, str, str, str]:
    identity = state.identity
    remark = f"install: {state.install}" if state.status is EngineStatus.MISSING and state.install else ""
    where = _short(state.root) if several else ""
    remarks = "  ".join(filter(None, (where, remark)))
    return (identity.language, identity.name or "none", identity.version or "-", _status(state), remarks)


def _status(state: EngineState) -> str:
    """`strictwire code engines` runs beside the server and sees what is installed, not what the server has started."""
    if not state.identity.name:
        return "syntax only"
    return "installed" if state.status is EngineStatus.STOPPED else state.status.value


def _short(root: Path) -> str:
    return root.name or str(root)


def _as_json(state: EngineState) -> JsonObject:
    return {
        "language": state.identity.language,
        "engine": state.identity.name or None,
        "version": state.identity.version or None,
        "state": _status(state),
        "root": str(state.root),
        "install": state.install or None,
    }
