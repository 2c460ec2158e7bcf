"""references and callers: confirmed, unconfirmed, and never called complete while a mention is open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk

from strictwire.packs.code.engine import Completeness, EngineUnsupported
from strictwire.packs.code.limits import MAX_RAW_REFERENCES, MAX_REFERENCES, ToolSettings
from strictwire.packs.code.memory import MemoryEngines

REFERENCES = "textDocument/references"


def uses(root: Path) -> dict[str, dict[str, Any]]:
    """Every place where `used` stands."""
    return {
        "declaration": at(root / "a.py", 0, 4, 8),
        "call": at(root / "a.py", 4, 8, 12),
        "import": at(root / "b.py", 0, 14, 18),
        "print": at(root / "b.py", 2, 6, 10),
    }


def engine(root: Path, *missing: str) -> dict[str, Any]:
    """An engine that knows every use but some."""

    def answer(params: dict[str, Any]) -> list[dict[str, Any]]:
        hidden = {*missing, *(() if params["context"]["includeDeclaration"] else ("declaration",))}
        return [each for name, each in reversed(uses(root).items()) if name not in hidden]

    return {REFERENCES: answer, "textDocument/definition": uses(root)["declaration"]}


def test_references_that_cover_every_mention_are_complete(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, str]:
        where = desk.at("a.py", 0, 5)
        return await desk.call("references", **where), await desk.text("references", **where)

    found = uses(tmp_path)
    structured, text = run_desk(tmp_path, engine(tmp_path), story)

    assert structured == {
        "items": [found["call"], found["import"], found["print"]],
        "nextCursor": None,
        "summary": "Returned 3 references.",
        "engines": [{"name": "memory", "version": "1.0", "language": "python"}],
        "completeness": "complete",
        "unconfirmed": 0,
    }
    assert text == f"Returned 3 references. Complete (memory 1.0).\nfile://{tmp_path}/\n a.py 4:8\n b.py 0:14 2:6"


def test_the_declaration_is_returned_only_if_it_is_asked_for(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[Any]:
        where = desk.at("a.py", 0, 5)
        return [(await desk.call("references", **where, includeDeclaration=flag))["items"] for flag in (True, False)]

    with_it, without = run_desk(tmp_path, engine(tmp_path), story)

    assert (with_it, without) == (list(uses(tmp_path).values()), list(uses(tmp_path).values())[1:])


def test_imports_are_references_though_an_engine_takes_them_for_declarations(tmp_path: Path) -> None:
    def answer(params: dict[str, Any]) -> list[Any]:
        return list(uses(tmp_path).values()) if params["context"]["includeDeclaration"] else [uses(tmp_path)["print"]]

    script = {REFERENCES: answer, "textDocument/definition": at(tmp_path / "a.py", 0, 0, 1, 12)}
    found = run_desk(tmp_path, script, lambda desk: desk.call("references", **desk.at("a.py", 0, 5)))

    assert found["items"] == list(uses(tmp_path).values())[1:]


def test_a_mention_that_the_engine_misses_makes_the_answer_partial_and_can_be_returned(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, Any, str]:
        where = desk.at("a.py", 0, 5)
        asked = {**where, "includeUnconfirmed": True}
        return (
            await desk.call("references", **where),
            await desk.call("references", **asked),
            await desk.text("references", **asked),
        )

    found = uses(tmp_path)
    plain, asked, text = run_desk(tmp_path, engine(tmp_path, "print"), story)

    assert (plain["items"], plain["completeness"], plain["unconfirmed"]) == ([found["call"], found["import"]], "partial", 1)
    assert "mentions" not in plain
    assert (asked["items"], asked["mentions"]) == (plain["items"], [found["print"]])
    assert text.splitlines() == [
        "Returned 2 references. Partial (memory 1.0). 1 unconfirmed mention.",
        f"file://{tmp_path}/", " a.py 4:8", " b.py 0:14", "Unconfirmed (1):", f"file://{tmp_path}/", " b.py 2:6",
    ]  # fmt: skip


def test_confirmed_and_unconfirmed_are_one_walk_through_the_pages(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[Any]:
        seen, cursor = [], None
        while True:
            page = await desk.call(
                "references",
                **desk.at("a.py", 0, 5),
                includeUnconfirmed=True,
                includeDeclaration=True,
                pageSize=1,
                cursor=cursor,
            )
            seen.append((page["items"], page["mentions"], page["completeness"]))
            cursor = page["nextCursor"]
            if cursor is None:
                return seen

    found = uses(tmp_path)

    assert run_desk(tmp_path, engine(tmp_path, "import", "print"), story) == [
        ([found["declaration"]], [], "partial"),
        ([found["call"]], [], "partial"),
        ([], [found["import"]], "partial"),
        ([], [found["print"]], "partial"),
    ]


def test_an_engine_that_is_warming_is_not_complete_though_every_mention_is_there(tmp_path: Path) -> None:
    script = engine(tmp_path)
    engines = MemoryEngines(script, completeness=Completeness.WARMING)

    async def story(desk: Desk) -> tuple[str, str]:
        where = desk.at("a.py", 0, 5)
        return (await desk.call("references", **where))["completeness"], await desk.text("references", **where)

    state, text = run_desk(tmp_path, script, story, engines=engines)

    assert state == "warming"
    assert "Warming (memory 1.0). The engine is still indexing; call again for more." in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "distinct", "expected"),
    [
        (MAX_REFERENCES, MAX_REFERENCES, None),
        (MAX_REFERENCES + 1, MAX_REFERENCES + 1, "References exceeded max total."),
        (MAX_RAW_REFERENCES, 1, None),
        (MAX_RAW_REFERENCES + 1, 1, "References exceeded max total."),
    ],
)
def test_totals_are_capped_before_and_after_normalising(
    tmp_path: Path, count: int, distinct: int, expected: str | None
) -> None:
    raw = [at(tmp_path / "a.py", number % distinct, 0, 1) for number in range(count)]
    settings = ToolSettings(retain_set_bytes=16 * 2**20, retain_total_bytes=32 * 2**20)

    async def story(desk: Desk) -> Any:
        where = desk.at("a.py", 0, 5)
        if expected is None:
            return len((await desk.call("references", **where))["items"])
        return await desk.error("references", **where)

    answer = run_desk(tmp_path, {REFERENCES: raw, "textDocument/definition": []}, story, settings=settings)

    if expected is None:
        assert answer == min(100, distinct)
    else:
        assert answer == (-32603, "Internal error", {"code": "CAP_EXCEEDED", "message": expected})


def hierarchy(root: Path) -> dict[str, Any]:
    item = {"name": "used", "kind": 12, **at(root / "a.py", 0, 0, 1, 12), "selectionRange": place(0, 4, 8)}
    caller = {"name": "main", "kind": 12, **at(root / "b.py", 1, 0, 2, 13), "selectionRange": place(1, 0, 0)}
    module = {"name": "a", "kind": 2, **at(root / "a.py", 0, 0, 4, 14), "selectionRange": place(0, 0, 0)}
    outsider = {**caller, "uri": "file:///usr/lib/x.py"}
    calls = [
        {"from": caller, "fromRanges": [place(2, 6, 10), place(2, 0, 5), place(2, 6, 10)]},
        {"from": module, "fromRanges": [place(4, 8, 14)]},
        {"from": outsider, "fromRanges": [place(0, 0, 1)]},
        {"from": None},
        None,
    ]
    return {**engine(root), "textDocument/prepareCallHierarchy": [item], "callHierarchy/incomingCalls": calls}


def test_callers_come_from_the_call_hierarchy_with_the_places_of_their_calls(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, str]:
        where = desk.at("a.py", 0, 5)
        return await desk.call("callers", **where), await desk.text("callers", **where)

    structured, text = run_desk(tmp_path, hierarchy(tmp_path), story)
    module, caller = structured["items"]

    assert {name: caller[name] for name in ("name", "kind", "location", "calls")} == {
        "name": "main",
        "kind": 12,
        "location": at(tmp_path / "b.py", 1, 0, 0),
        "calls": [{"range": place(2, 0, 5)}, {"range": place(2, 6, 10)}],
    }
    assert (module["name"], module["calls"]) == ("a", [{"range": place(4, 8, 14)}])
    assert (structured["completeness"], structured["unconfirmed"]) == ("complete", 0)
    assert text.splitlines()[-1] == "  function main 2:0 2:6"


def test_a_call_that_the_hierarchy_does_not_know_is_found_by_its_reference(tmp_path: Path) -> None:
    """An engine whose hierarchy has nothing to say, as ty's about classes: imports are no calls, `used()` is one."""
    script = {
        **engine(tmp_path),
        "textDocument/prepareCallHierarchy": [],
        "textDocument/documentSymbol": [],
    }

    answer = run_desk(tmp_path, script, lambda desk: desk.call("callers", **desk.at("a.py", 0, 5)))

    assert [(each["name"], each["calls"]) for each in answer["items"]] == [
        ("a.py", [{"range": place(4, 8, 12)}]),
        ("b.py", [{"range": place(2, 6, 10)}]),
    ]
    assert answer["completeness"] == "complete"


def test_a_missing_reference_makes_the_callers_partial(tmp_path: Path) -> None:
    script = {**hierarchy(tmp_path), **engine(tmp_path, "print")}
    answer = run_desk(tmp_path, script, lambda desk: desk.call("callers", **desk.at("a.py", 0, 5)))

    assert (answer["completeness"], answer["unconfirmed"]) == ("partial", 1)


def test_without_a_call_hierarchy_the_symbols_around_references_are_the_callers(tmp_path: Path) -> None:
    symbols = [{"name": "main", "kind": 12, "range": place(2, 0, 2, 13), "selectionRange": place(2, 0, 5)}]
    script = {
        **engine(tmp_path),
        "textDocument/prepareCallHierarchy": EngineUnsupported("memory", "no call hierarchy"),
        "textDocument/documentSymbol": lambda params: symbols if params["textDocument"]["uri"].endswith("b.py") else [],
    }

    answer = run_desk(tmp_path, script, lambda desk: desk.call("callers", **desk.at("a.py", 0, 5)))

    assert [(each["name"], each["calls"]) for each in answer["items"]] == [
        ("a.py", [{"range": place(4, 8, 12)}]),
        ("b.py", [{"range": place(0, 14, 18)}]),
        ("main", [{"range": place(2, 6, 10)}]),
    ]
    assert (answer["completeness"], answer["note"]) == ("partial", "no call hierarchy: uses count as calls")
