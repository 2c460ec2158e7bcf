"""documentSymbols, workspaceSymbols, diagnostics of a document and of the workspace, search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk

import strictwire
from strictwire.packs.code.engine import PatternRefused
from strictwire.packs.code.limits import MAX_DIAGNOSTIC_FILES, MAX_SYMBOLS, ToolSettings

LARGE = ToolSettings(retain_set_bytes=64 * 2**20, retain_total_bytes=64 * 2**20)


def test_document_symbols_are_listed_and_capped(tmp_path: Path) -> None:
    many = [{"name": f"f{n}", "kind": 12, "range": place(n, 0, 5), "selectionRange": place(n, 0, 5)} for n in range(201)]

    async def story(desk: Desk) -> tuple[Any, str]:
        return await desk.call("documentSymbols", uri=desk.uri("a.py")), await desk.text(
            "documentSymbols", uri=desk.uri("a.py")
        )

    structured, text = run_desk(tmp_path, {"textDocument/documentSymbol": many}, story)

    assert [each["name"] for each in structured["symbols"]] == [f"f{n}" for n in range(200)]
    assert (structured["summary"], structured["completeness"]) == ("Returned 200 document symbols (Capped.)", "partial")
    assert text.splitlines()[1:4] == [f"file://{tmp_path}/", " a.py", "  0:0 function f0"]


def symbols(root: Path, count: int) -> list[dict[str, Any]]:
    return [{"name": f"s{n}", "kind": 12, "location": at(root / "a.py", n, 0, 5)} for n in reversed(range(count))]


def test_the_query_is_trimmed_and_symbols_are_paged(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        first = await desk.call("workspaceSymbols", query="  s ", pageSize=3)
        second = await desk.call("workspaceSymbols", query="s", pageSize=2, cursor=first["nextCursor"])
        names = [[each["name"] for each in page["items"]] for page in (first, second)]
        return names, first["summary"], second["nextCursor"], desk.engines.asked

    names, summary, last, asked = run_desk(tmp_path, {"workspace/symbol": symbols(tmp_path, 5)}, story)

    assert names == [["s0", "s1", "s2"], ["s3", "s4"]]
    assert (summary, last) == ("Returned 3 workspace symbols (next page available).", None)
    assert asked == [("workspace/symbol", {"query": "s"})]


def test_a_query_of_spaces_the_schema_does_not_know_is_invalid(tmp_path: Path) -> None:
    """JSON Schema's `\\S` and Python's strip differ on U+001C to U+001F."""

    async def story(desk: Desk) -> Any:
        return [await desk.error("workspaceSymbols", query=query) for query in (" ", "\x1c")]

    errors = run_desk(tmp_path, {"workspace/symbol": []}, story)

    assert [(number, data["code"], data["issues"][0]["path"]) for number, _, data in errors] == [
        (-32602, "INVALID_PARAMS", "/query")
    ] * 2


@pytest.mark.parametrize(("count", "is_fine"), [(MAX_SYMBOLS, True), (MAX_SYMBOLS + 1, False)])
def test_workspace_symbols_are_capped_in_total(tmp_path: Path, count: int, is_fine: bool) -> None:
    async def story(desk: Desk) -> Any:
        if is_fine:
            return len((await desk.call("workspaceSymbols", query="s"))["items"])
        return (await desk.error("workspaceSymbols", query="s"))[2]

    answer = run_desk(tmp_path, {"workspace/symbol": symbols(tmp_path, count)}, story, settings=LARGE)

    assert answer == (100 if is_fine else {"code": "CAP_EXCEEDED", "message": "Workspace symbols exceeded max total."})


def report(count: int) -> dict[str, Any]:
    return {"kind": "full", "items": [{"range": place(n, 0, 1), "message": f"m{n}", "severity": 1} for n in range(count)]}


def test_diagnostics_of_a_document_are_capped(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, str]:
        uri = desk.uri("a.py")
        return await desk.call("diagnostics_document", uri=uri), await desk.text("diagnostics_document", uri=uri)

    structured, text = run_desk(tmp_path, {"textDocument/diagnostic": report(201)}, story)

    assert (structured["uri"], len(structured["diagnostics"])) == (f"file://{tmp_path}/a.py", 200)
    assert (structured["summary"], structured["completeness"]) == ("Returned 200 diagnostics. (Capped.)", "partial")
    assert text.splitlines()[2:4] == [" a.py", "  0:0 error m0"]


def test_a_document_without_diagnostics_says_so(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, str]:
        uri = desk.uri("a.py")
        return await desk.call("diagnostics_document", uri=uri), await desk.text("diagnostics_document", uri=uri)

    structured, text = run_desk(tmp_path, {"textDocument/diagnostic": {"kind": "full", "items": []}}, story)

    assert (structured["diagnostics"], structured["completeness"]) == ([], "complete")
    assert text == "Returned 0 diagnostics. Complete (memory 1.0)."


def workspace_report(root: Path, files: int, each: int = 1) -> dict[str, Any]:
    return {"items": [{"uri": f"file://{root}/f{n:05}.py", **report(each)} for n in reversed(range(files))]}


def test_diagnostics_of_the_workspace_are_paged_by_file_and_capped_by_file(tmp_path: Path) -> None:
    value = workspace_report(tmp_path, 3)
    value["items"].append({"uri": f"file://{tmp_path}/a.py", **report(201)})

    async def story(desk: Desk) -> list[Any]:
        first = await desk.call("diagnostics_workspace", pageSize=2)
        second = await desk.call("diagnostics_workspace", pageSize=2, cursor=first["nextCursor"])
        return [
            ([(item["uri"][-8:], len(item["diagnostics"])) for item in page["items"]], page["summary"])
            for page in (first, second)
        ]

    assert run_desk(tmp_path, {"workspace/diagnostic": value}, story) == [
        (
            [(f"file://{tmp_path}/a.py"[-8:], 200), ("00000.py", 1)],
            "Returned diagnostics for 2 files (next page available; Capped).",
        ),
        ([("00001.py", 1), ("00002.py", 1)], "Returned diagnostics for 2 files."),
    ]


@pytest.mark.parametrize(("files", "is_fine"), [(MAX_DIAGNOSTIC_FILES, True), (MAX_DIAGNOSTIC_FILES + 1, False)])
def test_files_with_diagnostics_are_capped_in_total(tmp_path: Path, files: int, is_fine: bool) -> None:
    async def story(desk: Desk) -> Any:
        if is_fine:
            return len((await desk.call("diagnostics_workspace"))["items"])
        return (await desk.error("diagnostics_workspace"))[2]

    answer = run_desk(tmp_path, {"workspace/diagnostic": workspace_report(tmp_path, files)}, story, settings=LARGE)

    assert answer == (100 if is_fine else {"code": "CAP_EXCEEDED", "message": "Workspace diagnostics exceeded max total."})


def test_search_finds_text_and_expressions_with_their_lines(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[Any]:
        asked = (
            {"query": "used("},
            {"query": r"pri\w+", "regex": True},
            {"query": "USED", "ignoreCase": True, "wholeWord": True},
        )
        return [(await desk.call("search", **each)) for each in asked]

    plain, regex, word = run_desk(tmp_path, {}, story)

    assert plain == {
        "items": [
            {**at(tmp_path / "a.py", 0, 4, 9), "text": "def used():"},
            {**at(tmp_path / "a.py", 4, 8, 13), "text": "value = used()"},
            {**at(tmp_path / "b.py", 2, 6, 11), "text": "print(used())"},
        ],
        "nextCursor": None,
        "summary": "Returned 3 matches.",
        "engines": [{"name": "strictwire", "version": strictwire.__version__, "language": "text"}],
        "completeness": "complete",
    }
    assert [item["range"] for item in regex["items"]] == [place(2, 0, 5)]
    assert len(word["items"]) == 4


def test_an_expression_that_cannot_be_used_is_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(desk: Desk) -> Any:
        async def refuse(*_: Any, **__: Any) -> Any:
            raise PatternRefused("missing )")

        monkeypatch.setattr(desk.code.text, "search", refuse)
        return (await desk.error("search", query="(", regex=True))[2]

    assert run_desk(tmp_path, {}, story) == {
        "code": "INVALID_PARAMS",
        "tool": "code_search",
        "issues": [{"path": "/query", "keyword": "format", "message": "query cannot be used: missing )"}],
    }


def test_more_matches_than_a_set_may_hold_exceed_the_cap(tmp_path: Path) -> None:
    answer = run_desk(tmp_path, {}, lambda desk: desk.error("search", query="x"), texts={"a.py": "x " * 20_001})

    assert answer[2] == {"code": "CAP_EXCEEDED", "message": "Search exceeded max total."}
