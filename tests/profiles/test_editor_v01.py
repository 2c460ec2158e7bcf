"""`editor/0.1` over real pipes and real sockets: envelope, methods, errors with their details, tiers, time, diagnostics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from strictwire.canon.json import parse, render
from strictwire.contract.tool import Caps
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.dialects.editor_v01 import KINDS, STANDARD
from strictwire.fault.dialects.editor_v01 import render as render_failure
from strictwire.fault.failure import Facts, fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.editor_v01 import MAX_DIAGNOSTICS, EditorEndpoint, EditorInfo
from strictwire.profiles.endpoint import Headers, Inbound
from tests.profiles.wires import OVER, TRANSPORTS, Bench, Got, HttpWire, open_bench, run, validator

RESPONSE = "editor-response-0.1"
INFO = EditorInfo(server_version="0.1.0", unity_version="2022.3.10f1", platform="LinuxEditor")

overs = pytest.mark.parametrize("over", TRANSPORTS)


def request(method: str = "tools/call", params: Any = None, **changes: Any) -> bytes:
    """A request of the contract, with changes; `...` takes a member away."""
    whole = {"jsonrpc": "2.0", "id": "req-001", "method": method, "params": {} if params is None else params, **changes}
    return render({name: value for name, value in whole.items() if value is not ...})


def call(tool: str, arguments: Any = None, **changes: Any) -> bytes:
    given = {} if arguments is None else arguments
    return request("tools/call", {"tool": tool, "arguments": given}, **changes)


ECHO = call("fixture.echo", {"text": "hi"})


@asynccontextmanager
async def opened(over: str, *, tier: str = "core", **limits: Any) -> AsyncIterator[tuple[Any, Bench]]:
    async with open_bench() as bench:
        endpoint = EditorEndpoint(bench.catalog, bench.pipeline, info=lambda: INFO)
        async with OVER[over](endpoint, RESPONSE, caller=Caller(tier=tier), **limits) as wire:
            yield wire, bench


def ask(over: str, raw: bytes, *, tier: str = "core") -> Got:
    """One request over a fresh server."""
    found: list[Got] = []

    async def once() -> None:
        async with opened(over, tier=tier) as (wire, _):
            found.append(await wire.ask(raw))

    run(once)
    return found[0]


def plain_error(code: int, request_id: Any = "req-001") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": STANDARD[code]}}


def data_of(got: Got) -> tuple[int, dict[str, Any]]:
    return got.value["error"]["code"], got.value["error"]["data"]


# The envelope.


@overs
@pytest.mark.clause("E1")
@pytest.mark.parametrize(
    "text",
    ['"req-001"', '""', '"\\u0041"', "1", "0", "-0", "-7", "1.0", "1e2", "1E+2", "0.10", "123456789012345678901234567890"],
)
def test_an_id_is_echoed_as_the_text_that_came(over: str, text: str) -> None:
    raw = ECHO.replace(b'"req-001"', b"  " + text.encode() + b" ")

    got = ask(over, raw)

    assert got.body == b'{"jsonrpc":"2.0","id":%b,"result":{"tool":"fixture.echo","output":{"text":"hi"}}}' % text.encode()


@overs
@pytest.mark.clause("E1")
@pytest.mark.parametrize("bad", [None, True, [], {}])
def test_an_id_of_another_type_is_refused_with_id_null(over: str, bad: Any) -> None:
    got = ask(over, request("server/info", id=bad))

    assert got.value == plain_error(-32600, None)
    assert got.status in (None, 400)


@overs
@pytest.mark.clause("E1")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"jsonrpc": ...}, -32600),
        ({"jsonrpc": "1.0"}, -32600),
        ({"method": ...}, -32600),
        ({"method": ""}, -32600),
        ({"method": 1}, -32600),
        ({"params": ...}, -32602),
        ({"params": []}, -32602),
        ({"params": None}, -32602),
    ],
)
def test_every_member_is_required(over: str, changes: dict[str, Any], code: int) -> None:
    whole = {"jsonrpc": "2.0", "id": "req-001", "method": "server/info", "params": {}, **changes}

    got = ask(over, render({name: value for name, value in whole.items() if value is not ...}))

    assert got.value == plain_error(code)
    assert got.status in (None, 400 if code == -32600 else 200)


@pytest.mark.clause("E1")
def test_clients_that_cannot_be_told_apart_may_use_the_same_id_at_once() -> None:
    """Over HTTP without tokens every client is the same caller; an id is then unique within one request."""

    async def test() -> None:
        async with opened("http") as (wire, bench):
            first = await _begin("http", wire, call("fixture.wait", id=1))
            await bench.tools.waiting.wait()
            other = await wire.ask(ECHO.replace(b'"req-001"', b"1"))
            bench.tools.released.set()

            assert other.value["result"]["output"] == {"text": "hi"}
            assert (await first).value["result"]["output"] == {"text": "released"}

    run(test)


@pytest.mark.clause("E1")
@pytest.mark.parametrize(("second", "is_refused"), [("ada", True), ("bob", False)])
def test_the_owner_of_a_token_is_one_client(second: str, is_refused: bool) -> None:
    async def test() -> None:
        async with open_bench() as bench:
            endpoint = EditorEndpoint(bench.catalog, bench.pipeline, info=lambda: INFO)
            outlet: Any = None
            replies: list[Any] = []

            async def serve(principal: str, raw: bytes) -> None:
                inbound = Inbound(body=raw, transport="http", caller=Caller(principal=principal), headers=Headers(()))
                await endpoint.serve(inbound, outlet, replies.append)

            first = asyncio.create_task(serve("ada", call("fixture.wait", id=1)))
            await bench.tools.waiting.wait()
            await serve(second, ECHO.replace(b'"req-001"', b"1"))
            bench.tools.released.set()
            await first

            assert (b"-32600" in replies[0].body) == is_refused

    run(test)


@pytest.mark.clause("E1")
def test_an_id_in_flight_is_refused_until_its_request_is_answered() -> None:
    over = "stdio"

    async def test() -> None:
        async with opened(over) as (wire, bench):
            first = await _begin(over, wire, call("fixture.wait", id=1))
            await bench.tools.waiting.wait()
            refused = await wire.ask(ECHO.replace(b'"req-001"', b"1.0"))
            other = await wire.ask(ECHO.replace(b'"req-001"', b'"1"'))
            bench.tools.released.set()
            held = await first
            again = await wire.ask(request("tools/list", {"category": "none"}, id=1))

            assert refused.body == b'{"jsonrpc":"2.0","id":1.0,"error":{"code":-32600,"message":"Invalid Request"}}'
            assert refused.status in (None, 400)
            assert other.value["result"]["output"] == {"text": "hi"}
            assert held.value["result"]["output"] == {"text": "released"}
            assert again.value == {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
            assert [each["error_code"] for each in bench.recorder.records if each["kind"] == "refusal"] == ["DUPLICATE_ID"]

    run(test)


async def _begin(over: str, wire: Any, raw: bytes) -> Any:
    """Send a request whose answer is awaited later."""
    if over == "stdio":
        await wire.send(raw)
        return wire.receive()
    other: HttpWire = wire.another()

    async def exchange() -> Got:
        got = await other.ask(raw)
        await other.close()
        return got

    return asyncio.create_task(exchange())


@overs
@pytest.mark.clause("E11")
@pytest.mark.parametrize("raw", [b"[]", b"[" + ECHO + b"]", b"[" + ECHO + b"," + ECHO + b"]"])
def test_a_batch_is_refused_with_id_null(over: str, raw: bytes) -> None:
    got = ask(over, raw)

    assert got.value == plain_error(-32600, None)
    assert got.status in (None, 400)


@overs
@pytest.mark.clause("E11")
@pytest.mark.parametrize("method", ["tools/call", "notifications/initialized", "server/info"])
def test_a_request_without_an_id_is_refused_with_id_null(over: str, method: str) -> None:
    got = ask(over, request(method, {"tool": "fixture.echo", "arguments": {"text": "hi"}}, id=...))

    assert got.value == plain_error(-32600, None)
    assert got.status in (None, 400)


@overs
@pytest.mark.clause("E7")
@pytest.mark.parametrize("raw", [b"{", b"\xff", ECHO + b"x", ECHO.replace(b'"hi"', b"NaN"), b'{"id":1,"id":2}'])
def test_what_is_not_strict_json_is_a_parse_error_with_id_null(over: str, raw: bytes) -> None:
    got = ask(over, raw)

    assert got.value == plain_error(-32700, None)
    assert got.status in (None, 400)


@pytest.mark.parametrize(("over", "limit"), [("stdio", "max_line"), ("http", "max_body")])
def test_a_message_past_the_limit_is_an_invalid_request(over: str, limit: str) -> None:
    async def test() -> None:
        async with opened(over, **{limit: 256}) as (wire, bench):
            got = await wire.ask(call("fixture.echo", {"text": "x" * 300}))
            assert got.value == plain_error(-32600, None)
            assert got.status in (None, 413)
            assert (await wire.ask(ECHO)).value["result"]["output"] == {"text": "hi"}
            assert bench.recorder.malformed == {"REQUEST_TOO_LARGE": 1}

    run(test)


# The methods.


@overs
@pytest.mark.clause("E2")
@pytest.mark.parametrize("method", ["tools/batchCall", "initialize", "tools/Call", "ping", " "])
def test_any_other_method_does_not_exist(over: str, method: str) -> None:
    got = ask(over, request(method))

    assert got.value == plain_error(-32601)
    assert got.status in (None, 200)


@overs
@pytest.mark.clause("E2")
@pytest.mark.clause("E3")
def test_a_call_answers_tool_and_output(over: str) -> None:
    got = ask(over, ECHO)

    assert got.value == {"jsonrpc": "2.0", "id": "req-001", "result": {"tool": "fixture.echo", "output": {"text": "hi"}}}


@overs
@pytest.mark.clause("E3")
@pytest.mark.clause("E7")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"arguments": {}},
        {"tool": 1, "arguments": {}},
        {"tool": "", "arguments": {}},
        {"tool": "fixture.echo"},
        {"tool": "fixture.echo", "arguments": None},
        {"tool": "fixture.echo", "arguments": []},
    ],
)
def test_a_call_whose_params_are_malformed_has_the_standard_error(over: str, params: Any) -> None:
    assert ask(over, request("tools/call", params)).value == plain_error(-32602)


@overs
@pytest.mark.clause("E4")
def test_the_list_holds_six_members_of_every_tool_by_id(over: str) -> None:
    tools = ask(over, request("tools/list")).value["result"]["tools"]

    assert [each["id"] for each in tools] == sorted(each["id"] for each in tools)
    assert tools[3] == {
        "id": "fixture.echo",
        "name": "Echo",
        "description": "Fixture fixture.echo.",
        "category": "fixtures",
        "safetyLevel": "read-only",
        "tier": "core",
    }
    assert not {"fixture.array", "fixture.sampling"} & {each["id"] for each in tools}


@overs
@pytest.mark.clause("E4")
@pytest.mark.parametrize(
    ("params", "ids"),
    [
        ({"category": "notes"}, ["fixture.note"]),
        ({"tier": "pro"}, ["fixture.pro"]),
        ({"category": "deluxe", "tier": "pro"}, ["fixture.pro"]),
        ({"category": "notes", "tier": "pro"}, []),
        ({"category": "note"}, []),
        ({"category": "Notes"}, []),
        ({"tier": "none such"}, []),
    ],
)
def test_filters_must_all_match_letter_by_letter(over: str, params: Any, ids: list[str]) -> None:
    tools = ask(over, request("tools/list", params)).value["result"]["tools"]

    assert [each["id"] for each in tools] == ids


@overs
@pytest.mark.clause("E4")
@pytest.mark.parametrize("params", [{"category": 1}, {"tier": None}])
def test_a_filter_that_is_no_text_is_malformed(over: str, params: Any) -> None:
    assert ask(over, request("tools/list", params)).value == plain_error(-32602)


@overs
@pytest.mark.clause("E5")
def test_describe_adds_inputs_outputs_and_notes(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench):
            tool = bench.catalog.offers.registry.tools["fixture.echo"]
            listed = (await wire.ask(request("tools/list"))).value["result"]["tools"][3]
            described = (await wire.ask(request("tools/describe", {"tool": "fixture.echo"}))).value["result"]
            loose = (await wire.ask(request("tools/describe", {"tool": "fixture.loose"}))).value["result"]

            more = {"inputs": tool.input_schema, "outputs": tool.output_schema, "notes": "Says it again."}
            assert described == {"tool": listed | more}
            assert (loose["tool"]["outputs"], loose["tool"]["notes"]) == ({}, "")

    run(test)


@overs
@pytest.mark.clause("E5")
def test_describing_a_tool_that_is_not_there_says_so_with_details(over: str) -> None:
    for name in ("invalid.tool.id", "fixture.array"):
        got = ask(over, request("tools/describe", {"tool": name}))

        assert got.value["error"] == {
            "code": -32001,
            "message": f"Tool not found: {name}",
            "data": {"tool": name, "errorType": "not_found", "details": {}},
        }
    assert ask(over, request("tools/describe", {})).value == plain_error(-32602)


@overs
@pytest.mark.clause("E6")
@pytest.mark.parametrize(("tier", "categories"), [("core", ["fixtures", "notes"]), ("pro", ["deluxe", "fixtures", "notes"])])
def test_the_server_tells_its_versions_its_tier_and_what_is_enabled_in_it(
    over: str, tier: str, categories: list[str]
) -> None:
    got = ask(over, request("server/info"), tier=tier)

    assert got.value["result"] == {
        "serverVersion": "0.1.0",
        "unityVersion": "2022.3.10f1",
        "platform": "LinuxEditor",
        "enabledToolCategories": categories,
        "tier": tier,
    }


# The errors.


@overs
@pytest.mark.clause("E7")
def test_a_tool_that_is_not_there_is_named(over: str) -> None:
    for name in ("invalid.tool.id", "fixture.sampling"):
        got = ask(over, call(name))

        assert got.value["error"] == {
            "code": -32001,
            "message": f"Tool not found: {name}",
            "data": {"tool": name, "errorType": "not_found", "details": {}},
        }
        assert got.status in (None, 200)


@overs
@pytest.mark.clause("E8")
@pytest.mark.parametrize(
    ("arguments", "details"),
    [
        ({}, {"missingParameters": ["text"]}),
        ({"text": 1}, {"typeMismatches": [{"parameter": "text", "expected": "string", "actual": "integer"}]}),
        ({"text": "y" * 1001}, {"constraintViolations": [{"parameter": "text", "keyword": "maxLength"}]}),
        (
            {"secretive": "zzz"},
            {
                "missingParameters": ["text"],
                "constraintViolations": [{"parameter": "secretive", "keyword": "additionalProperties"}],
            },
        ),
    ],
)
def test_arguments_that_fail_the_schema_are_told_without_their_values(over: str, arguments: Any, details: Any) -> None:
    got = ask(over, call("fixture.echo", arguments))

    assert data_of(got) == (-32002, {"tool": "fixture.echo", "errorType": "validation", "details": details})
    assert b"yyy" not in got.body
    assert b"zzz" not in got.body


@overs
@pytest.mark.clause("E8")
def test_a_tool_above_the_tier_is_denied_before_its_arguments_are_judged(over: str) -> None:
    got = ask(over, call("fixture.pro", {"not": "its arguments"}))

    details = {"requiredTier": "pro", "currentTier": "core"}
    assert data_of(got) == (-32005, {"tool": "fixture.pro", "errorType": "permission", "details": details})
    for tier in ("pro", "studio", "enterprise"):
        assert "result" in ask(over, call("fixture.pro", {"text": "hi"}), tier=tier).value
    for tier in ("", "Pro", "base"):
        assert data_of(ask(over, call("fixture.pro", {"text": "hi"}), tier=tier))[0] == -32005


@overs
@pytest.mark.clause("E8")
@pytest.mark.clause("E9")
def test_a_tool_past_its_time_is_told_with_the_limit_and_its_name(over: str) -> None:
    got = ask(over, call("fixture.never"))

    details = {"tool": "fixture.never", "timeoutMs": 20}
    assert data_of(got) == (-32003, {"tool": "fixture.never", "errorType": "timeout", "details": details})


@pytest.mark.clause("E9")
def test_the_time_limit_is_thirty_seconds_where_a_contract_says_nothing() -> None:
    assert Caps().timeout_ms == 30_000


@overs
@pytest.mark.clause("E8")
def test_an_error_of_the_editor_tells_what_the_editor_said_and_where(over: str) -> None:
    details = {"unityError": "Scene file does not exist", "scenePath": "Assets/Scenes/Missing.unity"}

    got = ask(over, call("fixture.refuse", {"code": "UNITY_ERROR", "details": details}))

    assert data_of(got) == (-32004, {"tool": "fixture.refuse", "errorType": "unity", "details": details})


@overs
@pytest.mark.clause("E7")
@pytest.mark.parametrize(("tool", "code"), [("fixture.crash", -32000), ("fixture.bloat", -32000), ("fixture.lie", -32603)])
def test_a_failing_tool_and_a_fault_of_ours_are_told_apart(over: str, tool: str, code: int) -> None:
    got = ask(over, call(tool))

    assert got.value["error"]["code"] == code
    assert got.value["error"].get("data", {}).get("errorType") == ("execution" if code == -32000 else None)
    assert b"secret" not in got.body
    assert got.status in (None, 200)


@overs
def test_an_answer_that_cannot_be_recorded_is_an_internal_error(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench):
            bench.recorder.failure = fail("AUDIT_UNAVAILABLE")
            assert (await wire.ask(ECHO)).value == plain_error(-32603)

    run(test)


@overs
def test_a_handler_that_asks_the_client_is_refused(over: str) -> None:
    got = ask(over, call("fixture.ask"))

    assert got.value["error"]["code"] == RENDERINGS["MISSING_CAPABILITY"].editor


@overs
@pytest.mark.clause("E7")
def test_every_code_of_the_catalogue_is_an_error_of_the_editor_on_the_wire(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, _):
            seen = set()
            for code in CATALOGUE:
                got = await wire.ask(call("fixture.refuse", {"code": code}))
                seen.add(got.value["error"]["code"])
                assert got.value["error"] == render_failure(fail(code), Facts(tool="fixture.refuse"))
                assert got.status in (None, 200)
            assert seen == {*STANDARD, *KINDS}

    run(test)


# Diagnostics and repetition.


@overs
@pytest.mark.clause("E10")
def test_diagnostics_are_shown_and_absent_when_there_are_none(over: str) -> None:
    notes = ["Scan stopped after 15000ms. Processed 50 of 200 items. Results may be partial.", "second"]

    noted = ask(over, call("fixture.note", {"notes": notes}))
    quiet = ask(over, call("fixture.note", {"notes": []}))

    answer = {"tool": "fixture.note", "output": {"text": "noted"}}
    assert noted.value["result"] == {**answer, "diagnostics": notes}
    assert quiet.value["result"] == answer


@overs
@pytest.mark.clause("E10")
def test_diagnostics_are_bounded(over: str) -> None:
    got = ask(over, call("fixture.note", {"notes": [f"note {number}" for number in range(100)]}))

    assert got.value["result"]["diagnostics"] == [f"note {number}" for number in range(MAX_DIAGNOSTICS)]


FOUR = {
    "success": ECHO,
    "crash": call("fixture.crash"),
    "invalid": call("fixture.echo", {"text": 1}),
    "unknown": call("no.such"),
}


@pytest.mark.clause("E12")
def test_the_same_calls_in_a_row_have_the_same_answers_on_every_wire() -> None:
    async def answers(over: str) -> list[list[bytes]]:
        async with opened(over) as (wire, _):
            return [[(await wire.ask(raw)).body for raw in FOUR.values()] for _ in range(3)]

    async def test() -> None:
        first, *others = await answers("stdio") + await answers("http")

        assert others == [first] * 5

    run(test)


@pytest.mark.slow
@pytest.mark.clause("E12")
@pytest.mark.parametrize("raw", FOUR.values(), ids=FOUR)
def test_a_thousand_identical_calls_are_identical_to_the_byte(raw: bytes) -> None:
    """One after the other, for an id is unique among the requests in flight."""

    async def bodies(over: str) -> set[bytes]:
        async with opened(over) as (wire, _):
            return {(await wire.ask(raw)).body for _ in range(1000)}

    async def test() -> None:
        assert len(await bodies("stdio") | await bodies("http")) == 1

    run(test)


@overs
def test_what_is_no_request_is_counted_and_what_is_no_call_is_recorded(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench):
            await wire.ask(b"{")
            await wire.ask(b"[]")
            await wire.ask(request("nothing/such"))
            await wire.ask(request("tools/describe", {"tool": "no.such"}))
            await wire.ask(call("no.such"))

            assert bench.recorder.malformed == {"syntax": 1, "batch": 1}
            refusals = [each for each in bench.recorder.records if each["kind"] == "refusal"]
            assert [(each["profile"], each["method"], each["error_code"]) for each in refusals] == [
                ("editor/0.1", "nothing/such", "METHOD_NOT_FOUND"),
                ("editor/0.1", "tools/describe", "UNKNOWN_TOOL"),
                ("editor/0.1", "tools/call", "UNKNOWN_TOOL"),
            ]

    run(test)


def test_a_get_is_told_to_post() -> None:
    async def test() -> None:
        async with opened("http") as (wire, _):
            got = await wire.send("GET", b"")
            assert (got.status, got.headers["allow"], got.value["code"]) == (405, "POST", "HTTP_METHOD_DENIED")

    run(test)


@pytest.mark.clause("E1")
@pytest.mark.parametrize("raw", [ECHO, request("tools/list"), request("server/info", id=1.5), call("x")])
def test_what_is_answered_is_a_request_by_the_published_schema(raw: bytes) -> None:
    assert validator("editor-request-0.1").is_valid(parse(raw))
