"""Around every tool: snapshots, pages, one execution for the same call, the time limit, changes during a call."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, run_desk

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.packs.code.engine import Completeness, EngineState, EngineStatus, Reply
from strictwire.packs.code.limits import DROP_IN, ToolSettings
from strictwire.packs.code.memory import IDENTITY, MemoryEngines
from strictwire.packs.kit.paging import page_key

SYMBOLS = "workspace/symbol"


def symbols(root: Path, count: int, name: str = "s") -> list[dict[str, Any]]:
    return [{"name": f"{name}{n}", "kind": 12, "location": at(root / "a.py", n, 0, 5)} for n in range(count)]


async def walk(desk: Desk, *sizes: int, operation: str = "workspaceSymbols", **arguments: Any) -> list[list[Any]]:
    """Every page, with these sizes and then the last of them again."""
    pages, cursor, wanted = [], None, list(sizes)
    while True:
        size = wanted.pop(0) if len(wanted) > 1 else wanted[0]
        page = await desk.call(operation, **arguments, pageSize=size, cursor=cursor)
        pages.append(page["items"])
        cursor = page["nextCursor"]
        if cursor is None:
            return pages


def decode(cursor: str) -> dict[str, Any]:
    return parse_object(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))


def encode(payload: Any) -> str:
    return base64.urlsafe_b64encode(render(payload)).rstrip(b"=").decode()


@pytest.mark.clause("G9")
def test_a_walk_with_pages_of_any_size_is_the_unpaged_set_and_asks_the_engine_once(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        whole = await walk(desk, 200, query="s")
        parts = [await walk(desk, *sizes, query="s") for sizes in ((2,), (1, 7, 3), (50,), (3, 200))]
        return whole, parts, len(desk.engines.asked)

    ((whole,), parts, asked) = run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 50)}, story)

    assert len(whole) == 50
    assert [[item for page in each for item in page] for each in parts] == [whole] * 4
    assert [len(page) for page in parts[1]] == [1, 7, *[3] * 14]
    assert asked == 1


def test_the_cursor_is_that_of_the_specification(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[str, str]:
        return (await desk.call("workspaceSymbols", query="query", pageSize=1))["nextCursor"], desk.service.gate.key

    cursor, roots = run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 2)}, story, settings=DROP_IN)
    state = f"roots:{roots}|epochs:0,0,0|engines:python=memory 1.0"
    key = page_key("vscode_lsp_workspaceSymbols", ["query"], state)

    assert list(decode(cursor).items()) == [("v", 2), ("o", 1), ("k", key.request), ("s", key.snapshot)]
    assert key.request == "7421226271948beb773e50ef59136ada0cb928e5fb7d99f233cce48006f9b800"


def forge(cursor: str, **changes: Any) -> str:
    payload = {name: value for name, value in (decode(cursor) | changes).items() if value is not ...}
    return encode(payload)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: "", lambda _: "%%%", lambda _: "AAAA", lambda c: c[:-1], lambda c: c + "=", lambda _: encode([]),
        lambda _: encode({"v": 1, "o": 0, "k": "x"}), lambda c: forge(c, v=1), lambda c: forge(c, o=-1),
        lambda c: forge(c, o=1.5), lambda c: forge(c, o="1"), lambda c: forge(c, o=True), lambda c: forge(c, o=2**60),
        lambda c: forge(c, k=...), lambda c: forge(c, s=...), lambda c: forge(c, k=""), lambda c: forge(c, s=5),
        lambda c: forge(c, k="0" * 64), lambda c: forge(c, extra=1), lambda _: "é", lambda _: "A" * 1024,
    ],
)  # fmt: skip
def test_a_forged_cursor_is_invalid(tmp_path: Path, spoil: Any) -> None:
    async def story(desk: Desk) -> str:
        cursor = (await desk.call("workspaceSymbols", query="s", pageSize=1))["nextCursor"]
        return await desk.code_of("workspaceSymbols", query="s", cursor=spoil(cursor))

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3)}, story) == "CURSOR_INVALID"


def test_a_cursor_of_another_request_or_tool_is_invalid_and_one_of_another_state_is_stale(tmp_path: Path) -> None:
    script = {SYMBOLS: symbols(tmp_path, 3), "workspace/diagnostic": {"items": []}}

    async def story(desk: Desk) -> list[str]:
        cursor = (await desk.call("workspaceSymbols", query="s", pageSize=1))["nextCursor"]
        return [
            await desk.code_of("workspaceSymbols", query="t", cursor=cursor),
            await desk.code_of("diagnostics_workspace", cursor=cursor),
            await desk.code_of("workspaceSymbols", query="s", cursor=forge(cursor, s="0" * 64)),
        ]

    assert run_desk(tmp_path, script, story) == ["CURSOR_INVALID", "CURSOR_INVALID", "CURSOR_STALE"]


def test_a_cursor_that_is_no_text_fails_the_schema_and_null_is_the_first_page(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        first = await desk.call("workspaceSymbols", query="s", cursor=None)
        wrong = [await desk.code_of("workspaceSymbols", query="s", cursor=value) for value in (5, [], {}, True, "x" * 1025)]
        return len(first["items"]), wrong

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3)}, story) == (3, ["INVALID_PARAMS"] * 5)


def test_an_offset_past_the_end_is_an_empty_last_page(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        cursor = (await desk.call("workspaceSymbols", query="s", pageSize=1))["nextCursor"]
        page = await desk.call("workspaceSymbols", query="s", cursor=forge(cursor, o=99))
        return page["items"], page["nextCursor"]

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3)}, story) == ([], None)


EPOCHS = [
    ("workspaceSymbols", {"query": "s"}, {"roots", "text", "fs"}),
    ("diagnostics_workspace", {}, {"roots", "fs", "diagnostics"}),
]


@pytest.mark.parametrize(("operation", "arguments", "counters"), EPOCHS)
@pytest.mark.parametrize("counter", ["roots", "text", "fs", "diagnostics"])
def test_each_counter_makes_exactly_its_snapshots_stale(
    tmp_path: Path, operation: str, arguments: JsonObject, counters: set[str], counter: str
) -> None:
    report = {"kind": "full", "items": [{"range": at(tmp_path, 0, 0, 1)["range"], "message": "m"}]}
    files = {"items": [{"uri": f"file://{tmp_path}/{n}.py", **report} for n in range(3)]}

    async def story(desk: Desk) -> str:
        cursor = (await desk.call(operation, **arguments, pageSize=1))["nextCursor"]
        desk.engines.now = replace(desk.engines.now, **{counter: 1})
        if counter in counters:
            return await desk.code_of(operation, **arguments, cursor=cursor)
        return str(len((await desk.call(operation, **arguments, cursor=cursor))["items"]))

    answer = run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3), "workspace/diagnostic": files}, story)

    assert answer == ("CURSOR_STALE" if counter in counters else "2")


def test_another_version_of_the_engine_makes_a_cursor_stale(tmp_path: Path) -> None:
    async def story(desk: Desk) -> str:
        cursor = (await desk.call("workspaceSymbols", query="s", pageSize=1))["nextCursor"]
        desk.engines.identity = replace(IDENTITY, version="2.0")
        return await desk.code_of("workspaceSymbols", query="s", cursor=cursor)

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3)}, story) == "CURSOR_STALE"


def test_a_set_is_kept_for_its_time_and_reading_does_not_prolong_it(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        cursor = (await desk.call("workspaceSymbols", query="s", pageSize=1))["nextCursor"]
        desk.clock.now = 9.9
        kept = len((await desk.call("workspaceSymbols", query="s", cursor=cursor))["items"])
        desk.clock.now = 10.0
        return kept, await desk.code_of("workspaceSymbols", query="s", cursor=cursor)

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 3)}, story, settings=DROP_IN) == (2, "CURSOR_EXPIRED")


def test_a_set_that_is_pushed_out_is_expired(tmp_path: Path) -> None:
    settings = ToolSettings(retain_set_bytes=65_536, retain_total_bytes=65_536)

    async def story(desk: Desk) -> str:
        cursor = (await desk.call("workspaceSymbols", query="first", pageSize=1))["nextCursor"]
        await desk.call("workspaceSymbols", query="second")
        return await desk.code_of("workspaceSymbols", query="first", cursor=cursor)

    assert run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 200)}, story, settings=settings) == "CURSOR_EXPIRED"


def test_a_set_too_large_to_keep_gives_not_even_one_page(tmp_path: Path) -> None:
    settings = ToolSettings(retain_set_bytes=65_536)

    error = run_desk(
        tmp_path,
        {SYMBOLS: symbols(tmp_path, 1000)},
        lambda desk: desk.error("workspaceSymbols", query="s", pageSize=1),
        settings=settings,
    )

    assert error == (-32602, "Invalid params", {"code": "SNAPSHOT_TOO_LARGE"})


@pytest.mark.parametrize("drop_in", [False, True])
def test_a_page_ends_before_its_response_is_too_large(tmp_path: Path, drop_in: bool) -> None:
    settings = replace(DROP_IN if drop_in else ToolSettings(), max_response_bytes=16_384)

    async def story(desk: Desk) -> Any:
        cursor, sizes, items = None, [], []
        while True:
            result = await desk.result("workspaceSymbols", query="s", pageSize=200, cursor=cursor)
            sizes.append(len(render(result)))
            items += result["structuredContent"]["items"]
            cursor = result["structuredContent"]["nextCursor"]
            if cursor is None:
                return sizes, items

    sizes, items = run_desk(tmp_path, {SYMBOLS: symbols(tmp_path, 150)}, story, settings=settings)

    assert [item["name"] for item in items] == [f"s{n}" for n in range(150)]
    assert len(sizes) > 2
    assert max(sizes) <= 16_384


def test_one_item_larger_than_a_response_exceeds_the_cap(tmp_path: Path) -> None:
    error = run_desk(
        tmp_path,
        {SYMBOLS: symbols(tmp_path, 1, name="s" * 20_000)},
        lambda desk: desk.error("workspaceSymbols", query="s"),
        settings=ToolSettings(max_response_bytes=16_384),
    )

    assert error[2] == {"code": "CAP_EXCEEDED", "message": "Response exceeded maxResponseBytes."}


@dataclass
class GatedEngines(MemoryEngines):
    """Engines that answer when the gate is opened."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, path: Path, method: str, params: JsonObject, *, seconds: float) -> Reply:
        await self.gate.wait()
        return await super().ask(path, method, params, seconds=seconds)

    async def ask_all(self, method: str, params: JsonObject, *, seconds: float) -> tuple[Reply, ...]:
        await self.gate.wait()
        return await super().ask_all(method, params, seconds=seconds)


CALLS: list[tuple[str, JsonObject]] = [
    ("workspaceSymbols", {"query": "s"}),
    ("definition", {}),
]


def scripted(root: Path) -> dict[str, Any]:
    return {SYMBOLS: symbols(root, 3), "textDocument/definition": [at(root / "a.py", 0, 4, 8)]}


def arguments_of(desk: Desk, operation: str, arguments: JsonObject) -> JsonObject:
    return arguments or desk.at("b.py", 2, 6)


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
def test_identical_calls_at_once_run_once(tmp_path: Path, operation: str, arguments: JsonObject) -> None:
    engines = GatedEngines(scripted(tmp_path))

    async def story(desk: Desk) -> tuple[list[Any], int]:
        given = arguments_of(desk, operation, arguments)
        waiting = [asyncio.create_task(desk.call(operation, **given)) for _ in range(10)]
        for _ in range(20):
            await asyncio.sleep(0)
        engines.gate.set()
        return await asyncio.gather(*waiting), len(engines.asked)

    answers, asked = run_desk(tmp_path, {}, story, engines=engines)

    assert (answers, asked) == ([answers[0]] * 10, 1)


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
def test_past_the_time_limit_nothing_is_returned_and_the_late_result_serves_the_next_call(
    tmp_path: Path, operation: str, arguments: JsonObject
) -> None:
    engines = GatedEngines(scripted(tmp_path))

    async def story(desk: Desk) -> Any:
        given = arguments_of(desk, operation, arguments)
        late = await asyncio.gather(*(desk.error(operation, **given) for _ in range(3)))
        engines.gate.set()
        answer = await desk.call(operation, **given)
        return late, answer["completeness"], len(engines.asked)

    late, completeness, asked = run_desk(tmp_path, {}, story, engines=engines, settings=ToolSettings(timeout_seconds=0.25))

    assert late == [(-32603, "Internal error", {"code": "CAP_EXCEEDED", "message": "Request timed out."})] * 3
    assert (completeness, asked) == ("complete", 1)


def test_a_lookup_by_name_is_within_the_time_limit_too(tmp_path: Path) -> None:
    error = run_desk(
        tmp_path,
        {},
        lambda desk: desk.error("definition", symbol="s0"),
        engines=GatedEngines(scripted(tmp_path)),
        settings=ToolSettings(timeout_seconds=0.25),
    )

    assert error[2] == {"code": "CAP_EXCEEDED", "message": "Request timed out."}


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
def test_the_same_call_without_a_change_does_not_ask_the_engine_again(
    tmp_path: Path, operation: str, arguments: JsonObject
) -> None:
    async def story(desk: Desk) -> list[int]:
        given = arguments_of(desk, operation, arguments)
        counts = []
        for change in (False, False, True, False):
            if change:
                desk.engines.edit()
            await desk.call(operation, **given)
            counts.append(len(desk.engines.asked))
        return counts

    assert run_desk(tmp_path, scripted(tmp_path), story) == [1, 1, 2, 2]


@dataclass
class RestlessEngines(MemoryEngines):
    """Engines during whose first answers a file changes."""

    changes: int = 0

    def _reply(self, method: str, params: JsonObject) -> Reply:
        if self.changes:
            self.changes -= 1
            self.edit()
        return super()._reply(method, params)


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
@pytest.mark.parametrize(("changes", "asked", "completeness"), [(1, 2, "complete"), (9, 3, "partial")])
def test_a_file_that_changes_during_the_call_is_never_part_of_a_complete_answer(
    tmp_path: Path, operation: str, arguments: JsonObject, changes: int, asked: int, completeness: str
) -> None:
    engines = RestlessEngines(scripted(tmp_path), changes=changes)

    async def story(desk: Desk) -> Any:
        answer = await desk.call(operation, **arguments_of(desk, operation, arguments))
        return answer["completeness"], len(engines.asked), answer.get("note")

    note = None if completeness == "complete" else "files changed during the call"

    assert run_desk(tmp_path, {}, story, engines=engines) == (completeness, asked, note)


@dataclass
class StartingEngines(MemoryEngines):
    """An engine whose version is not known before it has answered."""

    async def states(self) -> tuple[EngineState, ...]:
        status = EngineStatus.READY if self.asked else EngineStatus.STOPPED
        version = self.identity.version if self.asked else ""
        return (EngineState(identity=replace(self.identity, version=version), root=Path("/"), status=status),)


def test_the_first_page_of_an_engine_that_was_not_started_has_a_cursor_that_works(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[list[Any]]:
        return await walk(desk, 2, query="s")

    pages = run_desk(tmp_path, {}, story, engines=StartingEngines(scripted(tmp_path)))

    assert [len(page) for page in pages] == [2, 1]


def test_pages_of_a_set_made_while_warming_are_served_until_the_engine_is_ready(tmp_path: Path) -> None:
    engines = MemoryEngines(scripted(tmp_path), completeness=Completeness.WARMING)

    async def story(desk: Desk) -> Any:
        first = await desk.call("workspaceSymbols", query="s", pageSize=2)
        second = await desk.call("workspaceSymbols", query="s", pageSize=2, cursor=first["nextCursor"])
        return first["completeness"], second["completeness"], len(second["items"])

    assert run_desk(tmp_path, {}, story, engines=engines) == ("warming", "warming", 1)
