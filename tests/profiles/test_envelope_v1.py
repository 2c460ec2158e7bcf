"""`envelope/v1` over real pipes and real sockets: the envelope, the two methods, the four errors, and both wires alike."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strictwire.canon.json import Limits, render
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.canonical import CANONICAL_CODES, CanonicalError, name_of
from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Inbound, Silent
from strictwire.profiles.envelope_v1 import Envelope, EnvelopeEndpoint, read_envelope
from strictwire.profiles.runlog import Ids, MemoryRunLog
from strictwire.transport.memory import ask_endpoint
from tests.profiles.wires import OVER, TRANSPORTS, Bench, Got, HttpWire, StdioWire, open_bench, run, validator

RESPONSE = "envelope-response-v1"
ID = "6f1c1f0e-0000-4000-8000-000000000001"

overs = pytest.mark.parametrize("over", TRANSPORTS)


def request(method: str = "tools/call", params: Any = None, **changes: Any) -> bytes:
    """A request of the contract, with changes; `...` takes a member away."""
    if params is None:
        params = {"tool": "fixture.echo", "input": {"text": "hi"}}
    whole = {"id": ID, "jsonrpc": "2.0", "method": method, "params": params, **changes}
    return render({name: value for name, value in whole.items() if value is not ...})


def call(tool: str, given: Any = None, **changes: Any) -> bytes:
    return request("tools/call", {"tool": tool, "input": {} if given is None else given}, **changes)


@asynccontextmanager
async def opened(over: str, *, ids: Ids = Ids.FRESH, **limits: Any) -> AsyncIterator[tuple[Any, Bench, MemoryRunLog]]:
    async with open_bench() as bench:
        log = MemoryRunLog()
        endpoint = EnvelopeEndpoint(bench.catalog, bench.pipeline, ids=ids, log=log)
        async with OVER[over](endpoint, RESPONSE, **limits) as wire:
            yield wire, bench, log


def ask(over: str, raw: bytes, *, ids: Ids = Ids.FRESH) -> Got:
    """One request over a fresh server."""
    found: list[Got] = []

    async def once() -> None:
        async with opened(over, ids=ids) as (wire, _, _):
            found.append(await wire.ask(raw))

    run(once)
    return found[0]


def error(code: str, request_id: str | None = ID) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": CanonicalError.to_jsonrpc_error(code)}


def assert_refused(got: Got, code: str, request_id: str | None = ID) -> None:
    assert error(code, request_id) == got.value
    assert got.status in (None, CanonicalError.to_http_status(code))


@overs
@pytest.mark.clause("V1")
@pytest.mark.parametrize("name", ["id", "jsonrpc", "method", "params"])
def test_each_required_member_is_missed(over: str, name: str) -> None:
    got = ask(over, request(**{name: ...}))

    assert_refused(got, "INVALID_ENVELOPE", None if name == "id" else ID)


@overs
@pytest.mark.clause("V2")
@pytest.mark.parametrize("bad", ["", 7, None, 1.5, True, [], {"a": 1}])
def test_an_id_that_is_not_text_is_refused_with_id_null(over: str, bad: Any) -> None:
    assert_refused(ask(over, request(id=bad)), "INVALID_ENVELOPE", None)


@overs
@pytest.mark.clause("V2")
def test_where_ids_are_deterministic_an_id_must_be_a_uuid(over: str) -> None:
    async def test() -> None:
        async with opened(over, ids=Ids.DETERMINISTIC) as (wire, _, _):
            assert_refused(await wire.ask(request(id="req-1")), "INVALID_ENVELOPE", "req-1")
            assert_refused(await wire.ask(request(id=f"{ID}0")), "INVALID_ENVELOPE", f"{ID}0")
            for good in (ID, ID.upper()):
                assert (await wire.ask(request(id=good))).value["id"] == good

    run(test)


@overs
@pytest.mark.clause("V2")
def test_otherwise_any_text_is_an_id(over: str) -> None:
    assert ask(over, request(id="é \u2028 1")).value["id"] == "é \u2028 1"


@overs
@pytest.mark.clause("V3")
@pytest.mark.parametrize("bad", ["1.0", "2", 2, 2.0, None, ""])
def test_another_version_is_refused(over: str, bad: Any) -> None:
    assert_refused(ask(over, request(jsonrpc=bad)), "INVALID_ENVELOPE")


@overs
@pytest.mark.clause("V4")
@pytest.mark.parametrize("bad", ["", " ", 1, None, ["tools/call"]])
def test_a_method_that_says_nothing_is_refused(over: str, bad: Any) -> None:
    assert_refused(ask(over, request(method=bad)), "INVALID_ENVELOPE")


@overs
@pytest.mark.clause("V5")
@pytest.mark.parametrize("bad", ["text", [], None, 1])
def test_params_that_are_no_object_are_refused(over: str, bad: Any) -> None:
    raw = render({"id": ID, "jsonrpc": "2.0", "method": "tools/call", "params": bad})

    assert_refused(ask(over, raw), "INVALID_ENVELOPE")


@overs
@pytest.mark.clause("V5")
def test_further_members_are_allowed_in_the_envelope_and_in_params(over: str) -> None:
    params = {"tool": "fixture.echo", "input": {"text": "hi"}, "idempotencyKey": "k", "trace": [1]}

    got = ask(over, request(params=params, extension={"a": 1}, result=None))

    assert got.value == {"jsonrpc": "2.0", "id": ID, "result": {"tool": "fixture.echo", "output": {"text": "hi"}}}


@overs
@pytest.mark.clause("V6")
@pytest.mark.clause("V16")
def test_a_call_answers_the_tool_asked_for_and_its_output(over: str) -> None:
    got = ask(over, request())

    expected = b'{"jsonrpc":"2.0","id":"%b","result":{"tool":"fixture.echo","output":{"text":"hi"}}}' % ID.encode()
    assert got.body == expected
    assert got.status in (None, 200)


@overs
@pytest.mark.clause("V6")
@pytest.mark.parametrize(
    "params", [{}, {"tool": "fixture.echo"}, {"input": {}}, {"tool": 1, "input": {}}, {"tool": "fixture.echo", "input": []}]
)
def test_a_call_without_tool_or_with_input_that_is_no_object_is_an_invalid_envelope(over: str, params: Any) -> None:
    assert_refused(ask(over, request(params=params)), "INVALID_ENVELOPE")


@overs
@pytest.mark.clause("V6")
@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("text", {"content": [{"type": "text", "text": "words"}]}),
        ("list", {"content": [{"type": "text", "text": "[1,2]"}]}),
        ("items", {"content": [{"type": "text", "text": "[3]"}]}),
        ("nothing", {"content": []}),
    ],
)
def test_the_output_is_an_object_also_for_a_tool_that_answers_none(over: str, kind: str, output: Any) -> None:
    got = ask(over, call("fixture.loose", {"kind": kind}))

    assert got.value["result"] == {"tool": "fixture.loose", "output": output}


@overs
@pytest.mark.clause("V16")
def test_the_list_names_every_tool_that_can_be_called_here_with_its_schemas(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench, _):
            got = await wire.ask(request("tools/list", {"anything": 1}))
            registry = bench.catalog.offers.registry

            shown = got.value["result"]["tools"]
            assert [each["tool"] for each in shown] == sorted(
                name for name in registry.tools if name not in ("fixture.array", "fixture.sampling")
            )
            echo = registry.tools["fixture.echo"]
            assert shown[3] == {
                "tool": "fixture.echo",
                "description": "Fixture fixture.echo.",
                "inputSchema": echo.input_schema,
                "outputSchema": echo.output_schema,
            }
            assert [each["tool"] for each in shown if "outputSchema" not in each] == ["fixture.loose"]

    run(test)


@overs
@pytest.mark.parametrize("name", ["fixture.array", "fixture.sampling"])
def test_a_tool_that_this_profile_cannot_carry_is_unknown_in_calls_too(over: str, name: str) -> None:
    assert_refused(ask(over, call(name)), "TOOL_NOT_FOUND")


@overs
@pytest.mark.clause("V8")
@pytest.mark.clause("V16")
@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (request("tools/describe"), "INVALID_ENVELOPE"),
        (request("initialize", {}), "INVALID_ENVELOPE"),
        (call("fixture.echo"), "INVALID_TOOL_INPUT"),
        (call("fixture.echo", {"text": 1}), "INVALID_TOOL_INPUT"),
        (call("fixture.echo", {"text": "a", "more": 1}), "INVALID_TOOL_INPUT"),
        (call("fixture.none"), "TOOL_NOT_FOUND"),
        (call(""), "TOOL_NOT_FOUND"),
        (call("fixture.crash"), "INTERNAL_ERROR"),
        (call("fixture.never"), "INTERNAL_ERROR"),
        (call("fixture.lie"), "INTERNAL_ERROR"),
        (call("fixture.bloat"), "INTERNAL_ERROR"),
        (call("fixture.pro", {"text": "a"}), "INTERNAL_ERROR"),
    ],
)
def test_each_condition_has_its_canonical_error_and_status(over: str, raw: bytes, code: str) -> None:
    assert_refused(ask(over, raw), code)


@overs
def test_a_handler_that_asks_the_client_is_refused(over: str) -> None:
    assert_refused(ask(over, call("fixture.ask")), name_of(fail("MISSING_CAPABILITY")))


@overs
@pytest.mark.clause("V8")
def test_every_code_of_the_catalogue_is_one_of_the_four_on_the_wire(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, _, log):
            seen = set()
            for code in CATALOGUE:
                got = await wire.ask(call("fixture.refuse", {"code": code}))
                assert_refused(got, name_of(fail(code)))
                assert log.events[-1]["error"]["details"]["failure"] == code
                seen.add(name_of(fail(code)))
            assert seen == set(CANONICAL_CODES)

    run(test)


@overs
@pytest.mark.clause("V8")
def test_what_is_sent_cannot_be_changed_by_changing_what_the_table_gave(over: str) -> None:
    given = CanonicalError.to_jsonrpc_error("TOOL_NOT_FOUND")
    given["message"] = given["data"] = "changed"

    assert_refused(ask(over, call("fixture.none")), "TOOL_NOT_FOUND")


@pytest.mark.clause("V9")
@pytest.mark.parametrize("code", ["", "TIMEOUT", "invalid_envelope", "INVALID_ENVELOPE ", "-32600"])
@pytest.mark.parametrize("table", [CanonicalError.to_http_status, CanonicalError.to_jsonrpc_error])
def test_an_unknown_code_raises(table: Callable[[str], object], code: str) -> None:
    with pytest.raises(KeyError):
        table(code)


# Bytes that are hardly a message, or not quite one.
ODD = [
    b"{",
    b"null",
    b"1",
    b'"text"',
    b"[]",
    b"[" + request() + b"]",
    b"\xff\xfe{}",
    b"\xef\xbb\xbf" + request(),
    request() + b"x",
    request() + request(),
    request().replace(b'"id"', b'"id":"a","id"'),
    request().replace(b'"hi"', b'"\\ud800"'),
    request().replace(b'"hi"', b"NaN"),
    request().replace(b'"hi"', b"1e400"),
    request().replace(b'"hi"', b"[" * 200 + b"]" * 200),
    request(params={"tool": "fixture.echo", "input": {"text": "\u0000\u2028 ' é 😀"}}),
    b"  " + request() + b"\t\r",
    b"{}",
    request(id=...),
    request(id="x" * 10_000),
    request(method="x" * 10_000),
    call("x" * 10_000),
    call("fixture.echo", {"text": "x" * 1001}),
]


@pytest.mark.clause("V10")
def test_the_same_bytes_have_the_same_answer_on_both_wires() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    bodies = [*ODD, request(), request("tools/list", {}), call("fixture.crash"), *(_mutate(chance) for _ in range(150))]

    async def answers(over: str) -> list[bytes]:
        async with opened(over) as (wire, _, _):
            return [(await wire.ask(raw)).body for raw in bodies]

    async def test() -> None:
        over_stdio, over_http = await answers("stdio"), await answers("http")

        assert over_stdio == over_http

    run(test)


def _mutate(chance: random.Random) -> bytes:
    """A request with some of its bytes changed; no line break, and not blank, for those mean something to stdio."""
    raw = bytearray(request())
    for _ in range(chance.randint(1, 3)):
        raw[chance.randrange(len(raw))] = chance.choice([byte for byte in range(256) if byte != 0x0A])
    return bytes(raw)


@pytest.mark.clause("V10")
def test_a_message_past_the_limit_has_the_same_answer_on_both_wires() -> None:
    async def answer(over: str, **limit: int) -> Got:
        async with opened(over, **limit) as (wire, _, log):
            got: Got = await wire.ask(request(params={"padding": "x" * 300}))
            assert [each["error"]["details"] for each in log.events] == [{"failure": "REQUEST_TOO_LARGE"}]
            assert (await wire.ask(request("tools/list", {}, id="next"))).value["id"] == "next"
            return got

    async def test() -> None:
        over_stdio, over_http = await answer("stdio", max_line=256), await answer("http", max_body=256)

        assert_refused(over_http, "INVALID_ENVELOPE", None)
        assert over_stdio.body == over_http.body

    run(test)


@pytest.mark.slow
@pytest.mark.clause("V10")
@pytest.mark.parametrize("tool", ["fixture.crash", "fixture.none", "fixture.echo"])
def test_a_thousand_identical_failures_are_identical_to_the_byte(tool: str) -> None:
    raw = call(tool)

    async def bodies(over: str) -> set[bytes]:
        async with opened(over, ids=Ids.DETERMINISTIC) as (wire, _, log):
            found = await _flood(wire, raw) if isinstance(wire, StdioWire) else [await wire.ask(raw) for _ in range(1000)]
            assert len(found) == 1000
            assert len({render({**event, "transport": ""}) for event in log.events}) == 1
            return {each.body for each in found}

    async def test() -> None:
        seen = await bodies("stdio") | await bodies("http")

        assert len(seen) == 1

    run(test)


async def _flood(wire: StdioWire, raw: bytes) -> list[Got]:
    """All at once: ids need not be unique here."""
    writing = asyncio.create_task(wire.send(b"\n".join([raw] * 1000)))
    found = [await wire.receive() for _ in range(1000)]
    await writing
    return found


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.one_of(st.text(max_size=3), st.integers(), st.none()),
            "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
            "method": st.one_of(st.sampled_from(["tools/call", "x"]), st.just(""), st.integers()),
            "params": st.one_of(st.dictionaries(st.text(max_size=2), st.integers()), st.text(max_size=2)),
            "more": st.integers(),
        },
    )
)
@settings(max_examples=300, deadline=None)
@pytest.mark.clause("V1")
def test_the_code_and_the_published_schema_accept_the_same_envelopes(value: dict[str, Any]) -> None:
    """They may differ only on a blank method, which the code finds unknown a step later, with the same error."""
    accepted = isinstance(read_envelope(render(value), limits=Limits(), ids=Ids.FRESH), Envelope)

    assert accepted == validator("envelope-request-v1").is_valid(value)


def test_a_get_is_told_to_post() -> None:
    async def test() -> None:
        async with opened("http") as (wire, _, log):
            for verb in ("GET", "DELETE", "PUT"):
                got = await wire.send(verb, b"")
                assert (got.status, got.headers["allow"], got.value["code"]) == (405, "POST", "HTTP_METHOD_DENIED")
                validator("problem-1").validate(got.value)
            assert log.events == []

    run(test)


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*", "text/html, application/json;q=0.9"])
def test_a_client_need_not_accept_event_streams(accept: str) -> None:
    async def test() -> None:
        async with opened("http") as (wire, _, _):
            got = await wire.send("POST", request(), content_type="application/json", accept=accept)
            assert got.status == 200

    run(test)


def test_a_client_that_accepts_no_json_is_refused() -> None:
    async def test() -> None:
        async with opened("http") as (wire, _, _):
            got = await wire.send("POST", request(), content_type="application/json", accept="text/event-stream")
            assert (got.status, got.value["code"]) == (406, "NOT_ACCEPTABLE")

    run(test)


@overs
def test_what_is_no_request_is_counted_and_what_is_no_call_is_recorded(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench, _):
            await wire.ask(b"{")
            await wire.ask(request(jsonrpc="1.0"))
            await wire.ask(request("nothing/such"))
            await wire.ask(call("fixture.none"))

            assert bench.recorder.malformed == {"syntax": 1, "jsonrpc": 1}
            refusals = [each for each in bench.recorder.records if each["kind"] == "refusal"]
            assert [(each["profile"], each["transport"], each["error_code"]) for each in refusals] == [
                ("envelope/v1", over, "METHOD_NOT_FOUND"),
                ("envelope/v1", over, "UNKNOWN_TOOL"),
            ]
            assert refusals[1]["envelope"] == CanonicalError.to_jsonrpc_error("TOOL_NOT_FOUND")

    run(test)


@overs
def test_an_answer_that_cannot_be_recorded_is_an_internal_error(over: str) -> None:
    async def test() -> None:
        async with opened(over) as (wire, bench, log):
            bench.recorder.failure = fail("AUDIT_UNAVAILABLE")

            assert_refused(await wire.ask(request()), "INTERNAL_ERROR")
            assert log.events[-1]["error"]["details"]["failure"] == "AUDIT_UNAVAILABLE"

    run(test)


def test_no_exception_text_reaches_the_wire_or_the_run_log() -> None:
    async def test() -> None:
        async with opened("stdio") as (wire, _, log):
            got = await wire.ask(call("fixture.crash"))
            assert b"secret" not in got.body + render(log.events)
            assert b"shadow" not in got.body + render(log.events)

    run(test)


def test_requests_on_one_pipe_run_side_by_side() -> None:
    async def test() -> None:
        async with opened("stdio") as (wire, bench, _):
            await wire.send(call("fixture.wait", id="slow"))
            assert (await wire.ask(request(id="fast"))).value["id"] == "fast"
            bench.tools.released.set()
            assert (await wire.receive()).value["id"] == "slow"

    run(test)


def test_a_call_goes_on_although_its_client_has_gone() -> None:
    async def test() -> None:
        async with opened("http") as (wire, bench, log):
            other: HttpWire = wire.another()
            asking = asyncio.create_task(other.ask(call("fixture.wait")))
            await bench.tools.waiting.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await other.close()
            bench.tools.released.set()
            while not log.events:
                await asyncio.sleep(0)

            assert [each["status"] for each in log.events] == ["ok"]

    run(test)


def test_a_server_that_stops_writes_the_event_of_what_it_cut_off() -> None:
    async def test() -> None:
        async with open_bench() as bench:
            log = MemoryRunLog()
            endpoint = EnvelopeEndpoint(bench.catalog, bench.pipeline, log=log)
            serving = asyncio.create_task(ask_endpoint(endpoint, _inbound(call("fixture.wait")), Silent()))
            await bench.tools.waiting.wait()
            serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await serving
            endpoint.end_input()
            await endpoint.close()

            assert [each["error"]["details"]["failure"] for each in log.events] == ["CANCELLED"]

    run(test)


def _inbound(raw: bytes) -> Inbound:
    return Inbound(body=raw, transport="stdio", caller=Caller())


def test_the_schema_of_responses_refuses_what_is_no_response() -> None:
    """So that its silence in the tests above means something."""
    for wrong in ({"jsonrpc": "2.0", "id": 1, "result": {}}, {**error("INTERNAL_ERROR"), "result": {}}):
        with pytest.raises(jsonschema_rs.ValidationError):
            validator(RESPONSE).validate(wrong)
