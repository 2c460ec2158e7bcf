"""definition, type_definition, implementations and hover over a scripted engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk

from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.limits import ToolSettings
from strictwire.packs.code.memory import MemoryEngines

EVIDENCE = {"engines": [{"name": "memory", "version": "1.0", "language": "python"}], "completeness": "complete"}
PLACES = [("definition", "textDocument/definition"), ("type_definition", "textDocument/typeDefinition")]


@pytest.mark.clause("G12")
@pytest.mark.parametrize(("operation", "method"), PLACES)
def test_places_come_with_evidence_and_a_text_that_says_the_same(tmp_path: Path, operation: str, method: str) -> None:
    noun = operation.replace("_", " ")

    async def story(desk: Desk) -> tuple[Any, Any]:
        where = desk.at("b.py", 2, 6)
        return await desk.call(operation, **where), await desk.text(operation, **where)

    structured, text = run_desk(tmp_path, {method: [at(tmp_path / "a.py", 0, 4, 8)]}, story)

    assert structured == {"locations": [at(tmp_path / "a.py", 0, 4, 8)], "summary": f"Found 1 {noun}.", **EVIDENCE}
    assert text == f"Found 1 {noun}. Complete (memory 1.0).\nfile://{tmp_path}/\n a.py 0:4"


def test_a_definition_outside_the_roots_is_dropped_and_counted(tmp_path: Path) -> None:
    answer = run_desk(
        tmp_path,
        {"textDocument/definition": [at(Path("/usr/lib/python3/os.py"), 0, 0, 1)]},
        lambda desk: desk.call("definition", **desk.at("b.py", 2, 6)),
    )

    assert answer == {"locations": [], "summary": "Found 0 definitions.", "outside": 1, **EVIDENCE}


@pytest.mark.parametrize(
    ("operation", "method"), [("definition", "textDocument/definition"), ("hover", "textDocument/hover")]
)
def test_an_empty_answer_is_complete_only_where_no_name_stands(tmp_path: Path, operation: str, method: str) -> None:
    async def story(desk: Desk) -> list[str]:
        return [(await desk.call(operation, **desk.at("a.py", *where)))["completeness"] for where in ((0, 5), (2, 0))]

    assert run_desk(tmp_path, {method: None}, story) == ["partial", "complete"]


def test_more_than_two_hundred_places_are_cut_and_the_answer_is_partial(tmp_path: Path) -> None:
    many = [at(tmp_path / "a.py", line, 0, 1) for line in reversed(range(201))]

    answer = run_desk(
        tmp_path, {"textDocument/definition": many}, lambda desk: desk.call("definition", **desk.at("b.py", 2, 6))
    )

    assert answer["locations"] == [at(tmp_path / "a.py", line, 0, 1) for line in range(200)]
    assert (answer["summary"], answer["completeness"]) == ("Found 200 definitions. (Capped.)", "partial")


@pytest.mark.parametrize("state", [Completeness.WARMING, Completeness.PARTIAL])
def test_what_the_engine_calls_incomplete_is_never_complete(tmp_path: Path, state: Completeness) -> None:
    script = {"textDocument/definition": [at(tmp_path / "a.py", 0, 4, 8)], "textDocument/implementation": []}

    async def story(desk: Desk) -> list[str]:
        where = desk.at("b.py", 2, 6)
        return [(await desk.call(tool, **where))["completeness"] for tool in ("definition", "implementations")]

    assert run_desk(tmp_path, script, story, engines=MemoryEngines(script, completeness=state)) == [state.value] * 2


def test_an_answer_made_while_warming_is_asked_for_again(tmp_path: Path) -> None:
    script = {"textDocument/definition": [at(tmp_path / "a.py", 0, 4, 8)], "textDocument/implementation": []}

    async def story(desk: Desk) -> list[str]:
        where = desk.at("b.py", 2, 6)
        tools = ("definition", "implementations")
        desk.engines.completeness = Completeness.WARMING
        states = [(await desk.call(tool, **where))["completeness"] for tool in tools]
        desk.engines.completeness = Completeness.COMPLETE
        return states + [(await desk.call(tool, **where))["completeness"] for tool in tools]

    assert run_desk(tmp_path, script, story) == ["warming", "warming", "complete", "complete"]


def test_implementations_are_paged(tmp_path: Path) -> None:
    many = [at(tmp_path / "a.py", line, 0, 1) for line in range(5)]

    async def story(desk: Desk) -> list[Any]:
        found, cursor = [], None
        while True:
            page = await desk.call("implementations", **desk.at("b.py", 2, 6), pageSize=2, cursor=cursor)
            found.append(page["items"])
            cursor = page["nextCursor"]
            if cursor is None:
                return found

    assert run_desk(tmp_path, {"textDocument/implementation": many}, story) == [many[:2], many[2:4], many[4:]]


def test_hover_shows_its_contents_in_both_forms(tmp_path: Path) -> None:
    hover = {"contents": {"kind": "markdown", "value": "**doc**"}, "range": place(2, 6, 10)}

    async def story(desk: Desk) -> tuple[Any, str]:
        where = desk.at("b.py", 2, 6)
        return await desk.call("hover", **where), await desk.text("hover", **where)

    structured, text = run_desk(tmp_path, {"textDocument/hover": hover}, story)

    assert structured == {
        "contents": [{"kind": "markdown", "value": "**doc**"}],
        "range": place(2, 6, 10),
        "summary": "Hover available.",
        **EVIDENCE,
    }
    assert text == "Hover available. Complete (memory 1.0).\n**doc**"


@pytest.mark.parametrize("drop_in", [False, True])
def test_a_hover_too_large_for_a_response_loses_the_end_of_its_last_fragment(tmp_path: Path, drop_in: bool) -> None:
    hover = {"contents": ["a" * 8000, "\U0001f600" * 8000]}
    settings = ToolSettings(max_response_bytes=16_384 * 2, drop_in=drop_in)

    async def story(desk: Desk) -> dict[str, Any]:
        return await desk.call("hover", **desk.at("b.py", 2, 6))

    answer = run_desk(tmp_path, {"textDocument/hover": hover}, story, settings=settings)
    first, last = answer["contents"]

    assert (first["value"], set(last["value"])) == ("a" * 8000, {"\U0001f600"})
    assert 0 < len(last["value"]) < 8000
    assert answer["summary"] == "Hover available. (Truncated.)"
    assert answer.get("completeness", "partial") == "partial"


def test_a_hover_that_cannot_be_cut_enough_is_too_large(tmp_path: Path) -> None:
    hover = {"contents": [f"{number}" + "a" * 8000 for number in range(8)]}

    error = run_desk(
        tmp_path,
        {"textDocument/hover": hover},
        lambda desk: desk.error("hover", **desk.at("b.py", 2, 6)),
        settings=ToolSettings(max_response_bytes=16_384),
    )

    assert error == (-32603, "Internal error", {"code": "CAP_EXCEEDED", "message": "Response exceeded maxResponseBytes."})
