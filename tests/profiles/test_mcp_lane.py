"""The short way of a call and the long one: the same bytes to the client, the same records."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire import Server
from strictwire.audit.event import Values
from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.contract.tool import Caps, Safety
from strictwire.fault.failure import Facts, Refused, fail
from strictwire.pipeline.call import Caller, Operation
from strictwire.profiles import mcp_lane
from strictwire.profiles.exchange import Headers, Inbound, Silent
from strictwire.profiles.mcp import McpEndpoint
from strictwire.profiles.mcp_lane import Lane
from strictwire.profiles.mcp_plan import maybe_plan
from strictwire.server.compose import open_runtime
from strictwire.server.content import Text
from strictwire.server.context import Context
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from tests.profiles.lane import MODERN, OPENING, by_answering, by_serving, call, converse

INTEGERS = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


async def _double(arguments: JsonObject) -> Any:
    return {"n": 2 * arguments["n"]}


async def _wait(arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    return {"n": arguments["n"]}


async def _break(_arguments: JsonObject) -> Any:
    raise RuntimeError("secret")


async def _refuse(_arguments: JsonObject) -> Any:
    raise Refused(fail("FILE_NOT_FOUND"))


async def _lie(_arguments: JsonObject) -> Any:
    return {"n": "not a number"}


async def _no_json(_arguments: JsonObject) -> Any:
    return {"n": float("nan")}


async def _content(_arguments: JsonObject) -> Any:
    return Text("hello")


async def _attribute(arguments: JsonObject, context: Context) -> Any:
    context._call.attribute(Facts(session_id="s-1", role="WINDSURF"))
    context.log("error", "seen")
    return {"n": arguments["n"]}


async def _ask(_arguments: JsonObject, context: Context) -> Any:
    return {"n": len(await context.roots())}


def _plain(arguments: JsonObject) -> Any:
    return {"n": arguments["n"]}


async def _wait_and_break(_arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    raise RuntimeError("secret")


async def _wait_and_refuse(_arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    raise Refused(fail("FILE_NOT_FOUND"))


async def _wait_and_lie(_arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    return {"n": "not a number"}


async def _wait_and_say(_arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    return Text("hello")


async def _wait_and_attribute(arguments: JsonObject, context: Context) -> Any:
    await asyncio.sleep(0)
    return await _attribute(arguments, context)


async def _wait_and_ask(arguments: JsonObject, context: Context) -> Any:
    await asyncio.sleep(0)
    return await _ask(arguments, context)


async def _cancel_itself(_arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    raise asyncio.CancelledError


async def _mutate(arguments: JsonObject) -> Any:
    return {"n": arguments.pop("n")}


async def _wait_and_mutate(arguments: JsonObject) -> Any:
    await asyncio.sleep(0)
    return {"n": arguments.pop("n")}


def _plain_break(_arguments: JsonObject) -> Any:
    raise RuntimeError("secret")


def _plain_lie(_arguments: JsonObject) -> Any:
    return {"n": "not a number"}


def _plain_content(_arguments: JsonObject) -> Any:
    return Text("hello")


def _plain_mutate(arguments: JsonObject) -> Any:
    return {"n": arguments.pop("n")}


def _plain_exit(_arguments: JsonObject) -> Any:
    raise SystemExit


async def _late(_arguments: JsonObject) -> Any:
    await asyncio.sleep(30)


async def _late_and_deaf(arguments: JsonObject) -> Any:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(30)
    return {"n": arguments["n"]}


def _plain_late(arguments: JsonObject) -> Any:
    threading.Event().wait(0.2)
    return {"n": arguments["n"]}


SLOW: Mapping[str, Callable[..., Any]] = {"late": _late, "late_and_deaf": _late_and_deaf, "plain_late": _plain_late}


@dataclass
class Doubled:
    n: int


async def _typed(n: int) -> Doubled:
    """A tool."""
    return Doubled(2 * n)


async def _wrapped(n: int) -> list[int]:
    """A tool."""
    return [n, n]


async def _typed_object(n: int) -> dict[str, int]:
    """A tool."""
    return {"n": n}


async def _typed_break(n: int) -> int:
    """A tool."""
    raise RuntimeError(f"secret {n}")


async def _typed_wait(n: int) -> Doubled:
    """A tool."""
    await asyncio.sleep(0)
    return Doubled(n)


async def _typed_lie(n: int) -> Doubled:
    """A tool."""
    return Doubled(f"{n}")  # type: ignore[arg-type]


async def _typed_seeing(n: int, context: Context) -> Doubled:
    """A tool."""
    context.log("error", "seen")
    return Doubled(n)


HINTED: Mapping[str, Callable[..., Any]] = {
    "typed": _typed,
    "wrapped": _wrapped,
    "typed_object": _typed_object,
    "typed_break": _typed_break,
    "typed_wait": _typed_wait,
    "typed_lie": _typed_lie,
    "typed_seeing": _typed_seeing,
}

TOOLS: Mapping[str, Callable[..., Any]] = {
    "double": _double,
    "wait": _wait,
    "break": _break,
    "refuse": _refuse,
    "lie": _lie,
    "no_json": _no_json,
    "content": _content,
    "attribute": _attribute,
    "ask": _ask,
    "plain": _plain,
    "wait_and_break": _wait_and_break,
    "wait_and_refuse": _wait_and_refuse,
    "wait_and_lie": _wait_and_lie,
    "wait_and_say": _wait_and_say,
    "wait_and_attribute": _wait_and_attribute,
    "wait_and_ask": _wait_and_ask,
    "cancel_itself": _cancel_itself,
    "mutate": _mutate,
    "wait_and_mutate": _wait_and_mutate,
    "plain_break": _plain_break,
    "plain_lie": _plain_lie,
    "plain_content": _plain_content,
    "plain_mutate": _plain_mutate,
    "plain_exit": _plain_exit,
}


def make_server() -> Server:
    server = Server("lane", version="1.0.0")
    for name, function in TOOLS.items():
        server.tool(name=name, description="A tool.", input_schema=INTEGERS, output_schema=INTEGERS)(function)
    for name, function in HINTED.items():
        server.tool(name=name)(function)
    server.tool(name="short", description="Says little.", input_schema=INTEGERS, output_schema=INTEGERS, text_json=False)(
        _double
    )
    server.tool(
        name="narrow",
        description="Room for little.",
        input_schema=INTEGERS,
        output_schema=INTEGERS,
        caps=Caps(response_bytes=3),
    )(_double)
    server.tool(name="write", description="Writes.", input_schema=INTEGERS, output_schema=INTEGERS, safety=Safety.MUTATING)(
        _double
    )
    server.tool(name="roles", description="For one.", input_schema=INTEGERS, output_schema=INTEGERS, roles=["ADMIN"])(
        _double
    )
    server.tool(name="loose", description="No promise.", input_schema=INTEGERS)(_double)
    for name, function in SLOW.items():
        server.tool(name=name, description="Slow.", input_schema=INTEGERS, output_schema=INTEGERS, caps=Caps(timeout_ms=20))(
            function
        )
    return server


talk = partial(converse, make_server=make_server)


NAMES = [*TOOLS, *HINTED, *SLOW, "short", "narrow", "write", "roles", "loose", "nobody"]


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("role", [None, "ADMIN"])
@pytest.mark.parametrize("name", NAMES)
def test_both_ways_give_the_same_bytes_and_the_same_records(name: str, role: str | None, era: str) -> None:
    opening = [] if era == "modern" else [render(OPENING)]
    meta = MODERN if era == "modern" else None
    messages = [
        *opening,
        call(name, {"n": 4}, meta=meta),
        call(name, {"n": "4"}, meta=meta, request_id="a"),
        call(name, {"n": 4, "plan_hash": "x"}, meta=meta),
        call(
            name,
            {"n": 5},
            meta=None if meta is None else meta | {"progressToken": 1, "io.modelcontextprotocol/logLevel": "info"},
        ),
        call(name, [], meta=meta),
    ]

    assert talk(by_answering, messages, role=role) == talk(by_serving, messages, role=role)


@pytest.mark.parametrize("name", ["mutate", "wait_and_mutate", "plain_mutate", "double"])
def test_arguments_are_stored_as_they_came(name: str) -> None:
    """A handler may change those that it was given."""
    messages = [call(name, {"n": 4}, meta=MODERN)]

    short = talk(by_answering, messages, values=Values.STORED)

    assert short == talk(by_serving, messages, values=Values.STORED)
    assert b'"arguments":{"n":4}' in short[1][0]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_same_mistake_again_is_answered_with_its_own_id(version: str) -> None:
    is_modern = version == "2026-07-28"
    opening = OPENING | {"params": OPENING["params"] | {"protocolVersion": version}}  # type: ignore[operator]
    calls = [call("double", {"n": "4"}, meta=MODERN if is_modern else None, request_id=number) for number in (1, 2, "x")]
    messages = calls if is_modern else [render(opening), *calls]

    short, long = talk(by_answering, messages), talk(by_serving, messages)

    assert short == long
    assert [parse_object(reply.body or b"")["id"] for reply in short[0][-3:]] == [1, 2, "x"]


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("name", ["double", "wait", "wait_and_break", "plain", "plain_break"])
def test_a_record_that_cannot_be_kept_is_told_the_same_way(name: str, era: str) -> None:
    messages = [render(OPENING), call(name, {"n": 4}, meta=MODERN if era == "modern" else None)]

    short, long = (
        talk(by_answering, messages, failure="AUDIT_UNAVAILABLE"),
        talk(by_serving, messages, failure="AUDIT_UNAVAILABLE"),
    )

    assert short == long
    assert b"AUDIT_UNAVAILABLE" in (short[0][-1].body or b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "double"},
        {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "wait"},
        {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list", "mcp-name": "double"},
        {"mcp-protocol-version": "2026-07-28", "mcp-name": "double"},
        {"mcp-protocol-version": "2025-11-25"},
        {"mcp-protocol-version": "2031-01-01", "mcp-method": "tools/call", "mcp-name": "double"},
        {},
    ],
)
def test_headers_are_judged_the_same_way(headers: dict[str, str]) -> None:
    messages = [call("double", {"n": 4}, meta=MODERN)]

    short = talk(by_answering, messages, headers=Headers(headers.items()))

    assert short == talk(by_serving, messages, headers=Headers(headers.items()))


PLAIN = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"double","arguments":%s,"_meta":%s}}'
TWICE = {
    "nothing": PLAIN % (1, '{"n":1}', render(MODERN).decode()),
    "an argument": PLAIN % (1, '{"n":1,"n":2}', render(MODERN).decode()),
    "an argument, escaped": PLAIN % (1, '{"n":1,"\\u006e":2}', render(MODERN).decode()),
    "an argument beside an id with a colon": PLAIN % ('"a:b"', '{"n":1,"n":2}', render(MODERN).decode()),
    "an argument beside an escaped colon": PLAIN % ('"a\\u003ab"', '{"n":1,"n":2}', render(MODERN).decode()),
    "an id": PLAIN.replace('"id":%s', '"id":7,"id":%s') % (1, '{"n":1}', render(MODERN).decode()),
    "a method": PLAIN.replace('"method":', '"method":"ping","method":') % (1, '{"n":1}', render(MODERN).decode()),
    "the parameters": PLAIN.replace('"params":', '"params":{},"params":') % (1, '{"n":1}', render(MODERN).decode()),
    "the meta": PLAIN.replace('"_meta":', '"_meta":{},"_meta":') % (1, '{"n":1}', render(MODERN).decode()),
    "something in the meta": PLAIN % (1, '{"n":1}', render(MODERN).decode()[:-1] + ',"x":1,"x":2}'),
    "something in the meta, in vain": PLAIN % (1, '{"n":1}', render(MODERN).decode()[:-1] + ',"x":{"y":1,"y":2}}'),
    "an id with a colon alone": PLAIN % ('"a:b"', '{"n":1}', render(MODERN).decode()),
    "an id that is a float": PLAIN % ("1.0", '{"n":1}', render(MODERN).decode()),
    "a large id": PLAIN % ("9" * 40, '{"n":1}', render(MODERN).decode()),
    "members in another order": render(
        {
            "method": "tools/call",
            "params": {"_meta": MODERN, "arguments": {"n": 1}, "name": "double"},
            "id": 1,
            "jsonrpc": "2.0",
        }
    ).decode(),
    "spaces": PLAIN.replace(":", " : ") % (1, '{ "n" : 1 }', render(MODERN).decode()),
}


@pytest.mark.parametrize("name", TWICE)
def test_what_stands_twice_is_found_the_same_way(name: str) -> None:
    messages = [TWICE[name].encode()] * 2  # the second time its meta is known

    short, long = talk(by_answering, messages), talk(by_serving, messages)

    assert short == long
    assert (b"duplicate_key" in (short[0][1].body or b"")) is not (name in ALONE)


ALONE = {"nothing", "an id with a colon alone", "an id that is a float", "a large id", "members in another order", "spaces"}


def _deep(levels: int) -> str:
    return "[" * levels + "]" * levels


PADDING = " " * 3_000
ENVELOPE = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"double","arguments":%s,"_meta":%s%s}}' + PADDING
META_TEXT = render(MODERN).decode()
DEEP = {
    "nothing": ENVELOPE % ('{"n":1}', META_TEXT, ""),
    "arguments": ENVELOPE % (f'{{"n":{_deep(130)}}}', META_TEXT, ""),
    "arguments that just fit": ENVELOPE % (f'{{"n":{_deep(125)}}}', META_TEXT, ""),
    "arguments that just do not": ENVELOPE % (f'{{"n":{_deep(126)}}}', META_TEXT, ""),
    "meta": ENVELOPE % ('{"n":1}', f'{META_TEXT[:-1]},"deep":{_deep(130)}}}', ""),
    "meta that just fits": ENVELOPE % ('{"n":1}', f'{META_TEXT[:-1]},"deep":{_deep(125)}}}', ""),
    "meta that just does not": ENVELOPE % ('{"n":1}', f'{META_TEXT[:-1]},"deep":{_deep(126)}}}', ""),
    "another parameter": ENVELOPE % ('{"n":1}', META_TEXT, f',"x":{_deep(130)}'),
    "arguments, with a key twice": ENVELOPE % (f'{{"n":1,"n":{_deep(130)}}}', META_TEXT, ""),
    "a key twice": ENVELOPE % ('{"n":1,"n":2}', META_TEXT, ""),
    "deeper than the parser goes": ENVELOPE % (f'{{"n":{_deep(20_000)}}}', META_TEXT, ""),
    "nearly as deep as the parser goes": ENVELOPE % (f'{{"n":{_deep(900)},"\\u0061":1}}', META_TEXT, ""),
    "another method": (ENVELOPE % ('{"n":1}', META_TEXT, f',"x":{_deep(130)}')).replace("tools/call", "tools/list"),
    "not an object": _deep(130) + PADDING,
}


@pytest.mark.parametrize("name", DEEP)
def test_depth_is_judged_the_same_way(name: str) -> None:
    messages = [DEEP[name].encode()]

    assert talk(by_answering, messages) == talk(by_serving, messages)


scraps = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["double", "2.0", "tools/call", "wait", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["n", "name", "arguments"]), inner, max_size=2)
    ),
    max_leaves=4,
)
metas = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(["2026-07-28", "2025-11-25", 1]),
        "io.modelcontextprotocol/clientCapabilities": st.sampled_from([{}, {"roots": {}}, None]),
        "io.modelcontextprotocol/logLevel": st.sampled_from(["info", "loud", None]),
        "progressToken": st.sampled_from([1, "t", None, True, 1.5]),
    },
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*NAMES, "", 7]),
        "arguments": st.sampled_from([{"n": 1}, {"n": 2.0}, {"n": True}, {}, None]) | scraps,
        "_meta": metas | scraps,
        "requestState": scraps,
        "inputResponses": scraps,
    },
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": st.sampled_from([1, "a", None, 1.5, True]),
        "method": st.sampled_from(["tools/call", "tools/call", "ping", 1]),
        "params": params | scraps,
        "result": scraps,
        "extra": scraps,
    },
)


@pytest.mark.slow
@given(st.lists(requests, min_size=1, max_size=6), st.booleans())
def test_both_ways_agree_on_whatever_is_sent(sent: list[JsonObject], opened: bool) -> None:
    messages = [*([render(OPENING)] if opened else []), *(render(each) for each in sent)]

    assert talk(by_answering, messages) == talk(by_serving, messages)


def test_an_id_stays_in_use_until_its_answer_leaves() -> None:
    async def main() -> list[JsonObject]:
        recorder = MemoryRecorder()
        async with asyncio.timeout(20), open_runtime(make_server(), Settings(), recorder=recorder) as runtime:
            endpoint, replies = McpEndpoint(runtime.core), []

            async def send() -> None:
                inbound = Inbound(body=call("double", {"n": 1}, meta=MODERN), transport="stdio", caller=Caller())
                rest = endpoint.answer(inbound, Silent(), lambda reply: replies.append(parse_object(reply.body or b"")))
                if rest is not None:
                    await rest

            await send()
            await send()
            await asyncio.sleep(0)
            await send()
            await asyncio.sleep(0)
            return replies

    refused, first, third = asyncio.run(main())
    assert refused["error"]["data"]["code"] == "DUPLICATE_ID"
    assert first["result"]["structuredContent"] == third["result"]["structuredContent"] == {"n": 2}


def test_a_fault_of_ours_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> bytes | None:
        server = Server("lane", version="1.0.0")
        server.tool(
            name="one", description="A tool.", input_schema=INTEGERS, output_schema=INTEGERS, caps=Caps(concurrency=1)
        )(_double)
        async with asyncio.timeout(20), open_runtime(server, Settings(), recorder=MemoryRecorder()) as runtime:
            endpoint = McpEndpoint(runtime.core)
            inbound = Inbound(body=call("one", {"n": 1}, meta=MODERN), transport="stdio", caller=Caller())
            with monkeypatch.context() as patch:
                patch.setattr(Lane, "_write", lambda *_: 1 / 0)
                for _ in range(3):
                    with pytest.raises(ZeroDivisionError):
                        await by_answering(endpoint, inbound)
            return (await by_answering(endpoint, inbound)).body

    assert parse_object(asyncio.run(main()) or b"")["result"]["structuredContent"] == {"n": 2}


def test_callers_who_take_turns_have_their_plans_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str]] = []

    def note(operation: Operation, inbound: Inbound, *given: Any) -> Any:
        made.append((operation.name, inbound.caller.principal))
        return maybe_plan(operation, inbound, *given)

    monkeypatch.setattr(mcp_lane, "maybe_plan", note)

    async def main() -> list[str]:
        recorder = MemoryRecorder()
        async with asyncio.timeout(20), open_runtime(make_server(), Settings(), recorder=recorder) as runtime:
            endpoint = McpEndpoint(runtime.core)
            for principal in ("first", "second", "first", "second"):
                inbound = Inbound(
                    body=call("double", {"n": 1}, meta=MODERN), transport="stdio", caller=Caller(principal=principal)
                )
                await by_answering(endpoint, inbound)
            await endpoint.close()
        return [parse_object(line)["principal"] for line in recorder.lines]

    assert asyncio.run(main()) == ["first", "second", "first", "second"]
    assert made == [("double", "first"), ("double", "second")]
