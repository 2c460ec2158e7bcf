"""Every row of A.6 that a tool can give, over the wire of the profile, and every cap of the schemas plus one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, run_desk

from strictwire.packs.code.engine import EngineFailed, EngineMissing, EngineTimeout, EngineUnsupported
from strictwire.packs.code.limits import DROP_IN, ToolSettings
from strictwire.transport.memory import CallFailed

INVALID, INTERNAL = (-32602, "Invalid params"), (-32603, "Internal error")

METHODS = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "documentSymbols": "textDocument/documentSymbol",
    "workspaceSymbols": "workspace/symbol",
    "diagnostics_document": "textDocument/diagnostic",
    "diagnostics_workspace": "workspace/diagnostic",
    "callers": "textDocument/references",
    "implementations": "textDocument/implementation",
    "type_definition": "textDocument/typeDefinition",
}
"""Tool to the request it needs."""

AT_A_POSITION = ["definition", "references", "hover", "callers", "implementations", "type_definition"]
OF_A_DOCUMENT = [*AT_A_POSITION, "documentSymbols", "diagnostics_document"]


def valid(desk: Desk, tool: str) -> dict[str, Any]:
    """Arguments that fit."""
    if tool in AT_A_POSITION:
        return desk.at("a.py", 0, 4)
    if tool in OF_A_DOCUMENT:
        return {"uri": desk.uri("a.py")}
    return {"query": "s"} if tool in ("workspaceSymbols", "search") else {}


@pytest.mark.parametrize("tool", METHODS)
@pytest.mark.parametrize(
    ("raised", "data"),
    [
        (EngineFailed("ty", "crashed"), {"code": "PROVIDER_UNAVAILABLE"}),
        (EngineTimeout("ty", 2.0), {"code": "CAP_EXCEEDED", "message": "Request timed out."}),
        (FileNotFoundError("secret"), {"code": "NOT_FOUND"}),
        (RuntimeError("secret"), {"code": "INTERNAL"}),
        (
            EngineMissing("go", "apt-get install gopls"),
            {
                "code": "PROVIDER_UNAVAILABLE",
                "message": "No engine for go; install one with: apt-get install gopls",
            },
        ),
        (EngineMissing("cobol"), {"code": "PROVIDER_UNAVAILABLE", "message": "No engine for cobol"}),
    ],
    ids=["crashed", "late", "unreadable", "bug", "missing", "unknown"],
)
def test_what_an_engine_raises_has_its_code_and_no_text_of_its_own(
    tmp_path: Path, tool: str, raised: Exception, data: dict[str, Any]
) -> None:
    script = {"textDocument/prepareCallHierarchy": [], "textDocument/definition": [], METHODS[tool]: raised}

    error = run_desk(tmp_path, script, lambda desk: desk.error(tool, **valid(desk, tool)))

    assert error == (*INTERNAL, data)


@pytest.mark.parametrize("tool", ["implementations", "type_definition"])
def test_a_method_that_the_engine_does_not_have_is_unavailable(tmp_path: Path, tool: str) -> None:
    raised = EngineUnsupported("memory", "unsupported")

    error = run_desk(tmp_path, {METHODS[tool]: raised}, lambda desk: desk.error(tool, **valid(desk, tool)))

    assert error == (*INTERNAL, {"code": "PROVIDER_UNAVAILABLE"})


@pytest.mark.parametrize("tool", OF_A_DOCUMENT)
@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///%zz", (*INVALID, {"code": "URI_INVALID"})),
        ("file://host/a.py", (*INVALID, {"code": "URI_INVALID"})),
        ("file:a.py", (*INVALID, {"code": "URI_INVALID"})),
        ("file:///etc/passwd", (*INVALID, {"code": "WORKSPACE_DENIED"})),
        ("file:///etc/nothing-here", (*INVALID, {"code": "WORKSPACE_DENIED"})),
        ("{root}/gone.py", (*INVALID, {"code": "URI_INVALID"})),
        ("{root}/../secret.py", (*INVALID, {"code": "WORKSPACE_DENIED"})),
        ("{root}", (*INTERNAL, {"code": "NOT_FOUND"})),
        ("{root}/binary.py", (*INTERNAL, {"code": "NOT_FOUND"})),
        ("{root}/large.py", (*INTERNAL, {"code": "NOT_FOUND"})),
    ],
)
def test_a_uri_is_judged_before_the_engine_sees_it(tmp_path: Path, tool: str, uri: str, expected: Any) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "binary.py").write_bytes(b"\x7fELF\x00")
    (tmp_path / "secret.py").write_text("x")
    with (root / "large.py").open("wb") as file:
        file.truncate(100 * 2**20)

    async def story(desk: Desk) -> Any:
        error = await desk.error(tool, **valid(desk, tool) | {"uri": uri.replace("{root}", f"file://{root}")})
        return error, desk.engines.asked

    assert run_desk(root, {METHODS[tool]: []}, story) == (expected, [])


@pytest.mark.parametrize("tool", AT_A_POSITION)
@pytest.mark.parametrize(("line", "character"), [(5, 1), (6, 0), (0, 12), (10**9, 0), (0, 10**9)])
def test_a_position_past_the_end_is_not_found_and_no_engine_sees_it(
    tmp_path: Path, tool: str, line: int, character: int
) -> None:
    async def story(desk: Desk) -> Any:
        return await desk.error(tool, **desk.at("a.py", line, character)), desk.engines.asked

    assert run_desk(tmp_path, {METHODS[tool]: []}, story) == ((*INTERNAL, {"code": "NOT_FOUND"}), [])


@pytest.mark.parametrize("tool", [*METHODS, "search"])
def test_without_roots_everything_is_denied(tmp_path: Path, tool: str) -> None:
    error = run_desk(tmp_path, {METHODS.get(tool, ""): []}, lambda desk: desk.error(tool, **valid(desk, tool)), roots=())

    assert error == (*INVALID, {"code": "WORKSPACE_DENIED"})


@pytest.mark.parametrize("tool", OF_A_DOCUMENT)
def test_a_root_that_disappears_leaves_uris_that_lead_nowhere(tmp_path: Path, tool: str) -> None:
    root = tmp_path / "root"
    root.mkdir()

    async def story(desk: Desk) -> Any:
        root.rename(tmp_path / "elsewhere")
        return await desk.error(tool, **valid(desk, tool))

    assert run_desk(root, {METHODS[tool]: []}, story) == (*INVALID, {"code": "URI_INVALID"})


URI = "file:///w/a.py"
POSITION = {"line": 0, "character": 0}

BREACHES: list[tuple[str, dict[str, Any], str, str]] = [
    ("definition", {"uri": "file:" + "x" * 4092, "position": POSITION}, "/uri", "maxLength"),
    ("definition", {"uri": "http://w/a.py", "position": POSITION}, "/uri", "pattern"),
    ("definition", {"uri": "/w/a.py", "position": POSITION}, "/uri", "pattern"),
    ("definition", {"uri": 5, "position": POSITION}, "/uri", "type"),
    ("definition", {"uri": URI, "position": {"line": -1, "character": 0}}, "/position/line", "minimum"),
    ("definition", {"uri": URI, "position": {"line": 0, "character": -1}}, "/position/character", "minimum"),
    ("definition", {"uri": URI, "position": {"line": 0.5, "character": 0}}, "/position/line", "type"),
    ("definition", {"uri": URI, "position": {"line": "0", "character": 0}}, "/position/line", "type"),
    ("definition", {"uri": URI, "position": {"line": 0}}, "/position/character", "required"),
    ("definition", {"uri": URI, "position": POSITION, "path": "x"}, "/path", "additionalProperties"),
    ("references", {"uri": URI, "position": POSITION, "pageSize": 201}, "/pageSize", "maximum"),
    ("references", {"uri": URI, "position": POSITION, "pageSize": 0}, "/pageSize", "minimum"),
    ("references", {"uri": URI, "position": POSITION, "pageSize": "5"}, "/pageSize", "type"),
    ("references", {"uri": URI, "position": POSITION, "cursor": "x" * 1025}, "/cursor", "maxLength"),
    ("references", {"uri": URI, "position": POSITION, "includeDeclaration": 1}, "/includeDeclaration", "type"),
    ("workspaceSymbols", {"query": "q" * 513}, "/query", "maxLength"),
    ("workspaceSymbols", {"query": ""}, "/query", "minLength"),
    ("workspaceSymbols", {"query": "\t \n"}, "/query", "pattern"),
    ("workspaceSymbols", {}, "/query", "required"),
    ("workspaceSymbols", {"query": "q", "pageSize": 201}, "/pageSize", "maximum"),
    ("diagnostics_workspace", {"pageSize": 201}, "/pageSize", "maximum"),
    ("diagnostics_workspace", {"cursor": "x" * 1025}, "/cursor", "maxLength"),
    ("documentSymbols", {}, "/uri", "required"),
    ("diagnostics_document", {"uri": ""}, "/uri", "minLength"),
]

ONLY_CODE: list[tuple[str, dict[str, Any], str, str]] = [
    ("definition", {"symbol": "s" * 513}, "/symbol", "maxLength"),
    ("callers", {"symbol": "s", "pageSize": 201}, "/pageSize", "maximum"),
    ("implementations", {"symbol": "s", "pageSize": 201}, "/pageSize", "maximum"),
    ("search", {"query": "q" * 513}, "/query", "maxLength"),
    ("search", {"query": "q", "glob": "g" * 513}, "/glob", "maxLength"),
    ("search", {"query": "q", "pageSize": 201}, "/pageSize", "maximum"),
]


@pytest.mark.clause("G10", "G11")
@pytest.mark.parametrize(
    ("drop_in", "tool", "arguments", "path", "keyword"),
    [*((True, *each) for each in BREACHES), *((False, *each) for each in (*BREACHES, *ONLY_CODE))],
)
def test_past_a_bound_of_the_schema_arguments_are_invalid(
    tmp_path: Path, drop_in: bool, tool: str, arguments: dict[str, Any], path: str, keyword: str
) -> None:
    async def story(desk: Desk) -> Any:
        return await desk.error(tool, **arguments), desk.service.prefix, desk.engines.asked

    (number, message, data), prefix, asked = run_desk(tmp_path, {}, story, settings=DROP_IN if drop_in else None)

    assert (number, message, data["code"], data["tool"]) == (*INVALID, "INVALID_PARAMS", prefix + tool)
    assert (path, keyword) in {(issue["path"], issue["keyword"]) for issue in data["issues"]}
    assert asked == []


@pytest.mark.clause("G11")
def test_issues_are_sorted_at_most_ten_and_never_repeat_a_value(tmp_path: Path) -> None:
    arguments = {f"secret{number}": "hunter2" for number in range(20)}

    _, _, data = run_desk(tmp_path, {}, lambda desk: desk.error("definition", **arguments))
    places = [(issue["path"], issue["keyword"]) for issue in data["issues"]]

    assert len(places) == 10
    assert places == sorted(places)
    assert "hunter2" not in repr(data)


def test_the_largest_page_and_the_longest_query_fit(tmp_path: Path) -> None:
    async def story(desk: Desk) -> str:
        return str((await desk.call("workspaceSymbols", query="q" * 512, pageSize=200))["summary"])

    assert run_desk(tmp_path, {"workspace/symbol": []}, story) == "Returned 0 workspace symbols."


@pytest.mark.parametrize("name", ["vscode.lsp.definition", "vscode_lsp_definition", "code_nothing"])
def test_a_name_of_another_form_is_an_unknown_tool(tmp_path: Path, name: str) -> None:
    async def story(desk: Desk) -> Any:
        try:
            await desk.client.call_tool(name, desk.at("a.py", 0, 4))
        except CallFailed as exc:
            return exc.error["code"]
        return None

    assert run_desk(tmp_path, {}, story) == -32602


def test_validation_does_not_change_the_arguments(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def story(desk: Desk) -> None:
        await desk.call("references", **desk.at("a.py", 0, 4))
        seen.extend(params for method, params in desk.engines.asked if method == "textDocument/references")

    run_desk(tmp_path, {"textDocument/references": []}, story, settings=DROP_IN)

    assert seen == [
        {
            "textDocument": {"uri": f"file://{tmp_path}/a.py"},
            "position": {"line": 0, "character": 4},
            "context": {"includeDeclaration": False},
        }
    ]


def test_a_server_that_is_closed_while_it_works_leaves_nothing_running(tmp_path: Path) -> None:
    async def story(desk: Desk) -> int:
        async def hang(*_: Any, **__: Any) -> Any:
            await asyncio.Event().wait()

        desk.engines.ask = hang  # type: ignore[method-assign]
        await desk.error("definition", **desk.at("a.py", 0, 4))
        await desk.service.close()
        return len(asyncio.all_tasks())

    before = run_desk(tmp_path, {}, _count_tasks)

    assert run_desk(tmp_path, {}, story, settings=ToolSettings(timeout_seconds=0.25)) == before


async def _count_tasks(_desk: Desk) -> int:
    return len(asyncio.all_tasks())
