"""Every cap, one past it: a bound of an input schema is INVALID_PARAMS, a cap of the run is CAP_EXCEEDED with its sentence.

Both lists are complete by construction: bounds are read from the schema files, sentences from the source of the pack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk
from tests.packs.code.test_errors import valid

import strictwire.packs.code
from strictwire.canon.json import JsonObject, parse_object
from strictwire.packs.code.catalogue import CODE_TOOLS, DROP_IN_TOOLS
from strictwire.packs.code.engine import EngineTimeout
from strictwire.packs.code.limits import (
    DROP_IN,
    MAX_DIAGNOSTIC_FILES,
    MAX_MATCHES,
    MAX_RAW_REFERENCES,
    MAX_REFERENCES,
    MAX_SYMBOLS,
    ToolSettings,
)
from strictwire.transport.memory import CallFailed

SCHEMAS = Path(__file__).parents[3] / "schemas" / "tools"
SOURCE = Path(strictwire.packs.code.__file__).parent

Bound = tuple[str, tuple[str, ...], str, Any, Any]
"""Tool, members down to the value, keyword, the last value that fits, the first that does not."""


def bounds_of(tool: str, schema: JsonObject, path: tuple[str, ...] = ()) -> Iterator[Bound]:
    """Every numeric and length bound of an input schema."""
    for name, part in schema["properties"].items():
        here = (*path, name)
        if "properties" in part:
            yield from bounds_of(tool, part, here)
        start = "file:" if part.get("pattern") == "^file:" else ""
        for keyword, step in (("maxLength", 1), ("minLength", -1), ("maximum", 1), ("minimum", -1)):
            if keyword in part:
                last, first = part[keyword], part[keyword] + step
                if keyword.endswith("Length"):
                    yield tool, here, keyword, start + "x" * (last - len(start)), (start + "x" * first)[:first]
                else:
                    yield tool, here, keyword, last, first


BOUNDS: list[Bound] = [
    bound
    for tool in (*CODE_TOOLS, *DROP_IN_TOOLS)
    for bound in bounds_of(tool, parse_object((SCHEMAS / f"{tool}.json").read_bytes()))
]


def free_values(schema: JsonObject, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every string and integer of an input schema."""
    for name, part in schema["properties"].items():
        if "properties" in part:
            yield from free_values(part, (*path, name))
        elif part["type"] != "boolean":
            yield (*path, name)


@pytest.mark.parametrize("tool", [*CODE_TOOLS, *DROP_IN_TOOLS])
def test_every_string_and_integer_has_a_bound(tool: str) -> None:
    schema = parse_object((SCHEMAS / f"{tool}.json").read_bytes())

    assert {path for name, path, *_ in BOUNDS if name == tool} == set(free_values(schema))


def arguments_with(desk: Desk, operation: str, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Arguments that fit, but for one value."""
    arguments = valid(desk, operation)
    if path == ("symbol",):
        arguments = {}
    inner = arguments
    for name in path[:-1]:
        inner[name] = inner = dict(inner[name])
    inner[path[-1]] = value
    return arguments


async def code_and_issues(desk: Desk, tool: str, arguments: dict[str, Any]) -> tuple[str, set[tuple[str, str]]]:
    try:
        await desk.client.call_tool(tool, arguments)
    except CallFailed as exc:
        data = exc.error["data"]
        return data["code"], {(issue["path"], issue["keyword"]) for issue in data.get("issues", [])}
    return "", set()


@pytest.mark.clause("G10", "G11")
@pytest.mark.parametrize("tool", [*CODE_TOOLS, *DROP_IN_TOOLS])
def test_one_past_each_bound_of_the_schema_is_invalid_and_the_bound_itself_is_not(tmp_path: Path, tool: str) -> None:
    drop_in = tool in DROP_IN_TOOLS
    operation = tool.removeprefix("vscode_lsp_" if drop_in else "code_")
    mine = [bound for bound in BOUNDS if bound[0] == tool]

    async def story(desk: Desk) -> list[Any]:
        seen = []
        for _, path, keyword, last, first in mine:
            before = len(desk.engines.asked)
            past = await code_and_issues(desk, tool, arguments_with(desk, operation, path, first))
            asked = len(desk.engines.asked) - before
            at_bound, _ = await code_and_issues(desk, tool, arguments_with(desk, operation, path, last))
            place = "/" + "/".join(path)
            seen.append((place, keyword, past[0], (place, keyword) in past[1], asked, at_bound == "INVALID_PARAMS"))
        return seen

    seen = run_desk(tmp_path, EMPTY, story, settings=DROP_IN if drop_in else None)

    assert seen == [("/" + "/".join(path), keyword, "INVALID_PARAMS", True, 0, False) for _, path, keyword, _, _ in mine]


EMPTY: dict[str, Any] = {
    "textDocument/definition": [], "textDocument/references": [], "textDocument/hover": None,
    "textDocument/documentSymbol": [], "workspace/symbol": [], "textDocument/diagnostic": {"items": []},
    "workspace/diagnostic": {"items": []}, "textDocument/implementation": [], "textDocument/typeDefinition": [],
    "textDocument/prepareCallHierarchy": [],
}  # fmt: skip


def many_places(root: Path, count: int) -> list[dict[str, Any]]:
    return [at(root / "a.py", number, 0, 1) for number in range(count)]


def many_symbols(root: Path, count: int, name: str = "s") -> list[dict[str, Any]]:
    return [{"name": name, "kind": 12, "location": each} for each in many_places(root, count)]


def many_callers(root: Path, count: int) -> dict[str, Any]:
    item = {"name": "c", "kind": 12, "uri": f"file://{root}/a.py", "selectionRange": place(0, 4, 8), "range": place(0, 0, 8)}
    calls = [
        {"from": {**item, "range": place(n, 0, 5), "selectionRange": place(n, 0, 1)}, "fromRanges": [place(n, 2, 3)]}
        for n in range(count)
    ]
    return {"textDocument/prepareCallHierarchy": [item], "callHierarchy/incomingCalls": calls}


def many_files(root: Path, count: int) -> dict[str, Any]:
    items = [{"range": place(0, 0, 1), "message": "m"}]
    return {"items": [{"uri": f"file://{root}/{n}.py", "kind": "full", "items": items} for n in range(count)]}


CAPS: list[tuple[str, str, Any]] = [
    ("Request timed out.", "definition", lambda _: {"textDocument/definition": EngineTimeout("memory", 2.0)}),
    ("Response exceeded maxResponseBytes.", "workspaceSymbols", lambda root: {
        "workspace/symbol": many_symbols(root, 1, "s" * 600_000)}),
    ("References exceeded max total.", "references", lambda root: {
        "textDocument/references": many_places(root, MAX_REFERENCES + 1)}),
    ("References exceeded max total.", "references", lambda root: {
        "textDocument/references": many_places(root, 1) * (MAX_RAW_REFERENCES + 1)}),
    ("Workspace symbols exceeded max total.", "workspaceSymbols", lambda root: {
        "workspace/symbol": many_symbols(root, MAX_SYMBOLS + 1)}),
    ("Workspace diagnostics exceeded max total.", "diagnostics_workspace", lambda root: {
        "workspace/diagnostic": many_files(root, MAX_DIAGNOSTIC_FILES + 1)}),
    ("Document symbols exceeded max total.", "documentSymbols", lambda _: {
        "textDocument/documentSymbol": [{"name": "", "kind": 1}] * (MAX_SYMBOLS + 1)}),
    ("Implementations exceeded max total.", "implementations", lambda root: {
        "textDocument/implementation": many_places(root, MAX_REFERENCES + 1)}),
    ("Implementations exceeded max total.", "implementations", lambda root: {
        "textDocument/implementation": many_places(root, 1) * (MAX_RAW_REFERENCES + 1)}),
    ("Callers exceeded max total.", "callers", lambda root: many_callers(root, MAX_REFERENCES + 1)),
    ("Search exceeded max total.", "search", lambda _: {}),
]  # fmt: skip
"""The sentence, the tool, and a script of an engine that is one past the cap."""

TEXTS = {"a.py": "def used(): pass\n" + "s " * (MAX_MATCHES + 1)}


@pytest.mark.slow
@pytest.mark.clause("G11")
@pytest.mark.parametrize(("sentence", "operation", "script"), CAPS)
def test_one_past_a_cap_of_the_run_is_cap_exceeded(tmp_path: Path, sentence: str, operation: str, script: Any) -> None:
    error = run_desk(
        tmp_path,
        EMPTY | script(tmp_path),
        lambda desk: desk.error(operation, **valid(desk, operation)),
        texts=TEXTS,
        settings=ToolSettings(retain_set_bytes=2**27, retain_total_bytes=2**27),
    )

    assert error == (-32603, "Internal error", {"code": "CAP_EXCEEDED", "message": sentence})


def test_every_sentence_of_an_exceeded_cap_is_in_the_table() -> None:
    found = {
        sentence
        for file in SOURCE.rglob("*.py")
        for sentence in re.findall(r'fail\("CAP_EXCEEDED", text="([^"]+)"', file.read_text())
    }

    assert found == {sentence for sentence, _, _ in CAPS}
