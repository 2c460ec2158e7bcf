"""One path for every call: what a handler does, in either era, and what the client and the trail get."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from strictwire import Server
from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.contract.safety import Safety
from strictwire.contract.tool import Caps
from strictwire.fault.failure import Facts, Refused, fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Inbound, Reply, Silent
from strictwire.profiles.mcp import core
from strictwire.server.compose import open_runtime
from strictwire.server.content import Text
from strictwire.server.declare.context import Context
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import ask_endpoint
from strictwire.transport.message_tasks import MessageTasks
from tests.profiles.mcp.talk import MODERN, OPENING, call, converse

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
    server = Server("calls", version="1.0.0")
    for name, function in TOOLS.items():
        server.tool(safety="read-only", name=name, description="A tool.", input_schema=INTEGERS, output_schema=INTEGERS)(
            function
        )
    for name, function in HINTED.items():
        server.tool(safety="read-only", name=name)(function)
    server.tool(
        safety="read-only",
        name="short",
        description="Says little.",
        input_schema=INTEGERS,
        output_schema=INTEGERS,
        text_json=False,
    )(_double)
    server.tool(
        safety="read-only",
        name="narrow",
        description="Room for little.",
        input_schema=INTEGERS,
        output_schema=INTEGERS,
        caps=Caps(response_bytes=3),
    )(_double)
    server.tool(name="write", description="Writes.", input_schema=INTEGERS, output_schema=INTEGERS, safety=Safety.MUTATING)(
        _double
    )
    server.tool(
        safety="read-only",
        name="roles",
        description="For one.",
        input_schema=INTEGERS,
        output_schema=INTEGERS,
        roles=["ADMIN"],
    )(_double)
    server.tool(safety="read-only", name="loose", description="No promise.", input_schema=INTEGERS)(_double)
    for name, function in SLOW.items():
        server.tool(
            safety="read-only",
            name=name,
            description="Slow.",
            input_schema=INTEGERS,
            output_schema=INTEGERS,
            caps=Caps(timeout_ms=20),
        )(function)
    return server


talk = partial(converse, make_server=make_server)

OK = {"n": 4}
EXPECTED: Mapping[str, object] = {
    "double": {"n": 8},
    "wait": OK,
    "break": "TOOL_FAILED",
    "refuse": "FILE_NOT_FOUND",
    "lie": "OUTPUT_INVALID",
    "no_json": "OUTPUT_INVALID",
    "content": "OUTPUT_INVALID",
    "attribute": OK,
    "ask": "MISSING_CAPABILITY",
    "plain": OK,
    "wait_and_break": "TOOL_FAILED",
    "wait_and_refuse": "FILE_NOT_FOUND",
    "wait_and_lie": "OUTPUT_INVALID",
    "wait_and_say": "OUTPUT_INVALID",
    "wait_and_attribute": OK,
    "wait_and_ask": "MISSING_CAPABILITY",
    "cancel_itself": "TOOL_FAILED",
    "mutate": OK,
    "wait_and_mutate": OK,
    "plain_break": "TOOL_FAILED",
    "plain_lie": "OUTPUT_INVALID",
    "plain_content": "OUTPUT_INVALID",
    "plain_mutate": OK,
    "plain_exit": "TOOL_FAILED",
    "typed": {"n": 8},
    "wrapped": {"result": [4, 4]},
    "typed_object": OK,
    "typed_break": "TOOL_FAILED",
    "typed_wait": OK,
    "typed_lie": "OUTPUT_INVALID",
    "typed_seeing": OK,
    "late": "TIMEOUT",
    "late_and_deaf": "TIMEOUT",
    "plain_late": "TIMEOUT",
    "short": {"n": 8},
    "narrow": "CAP_EXCEEDED",
    "write": {"n": 8},
    "roles": "PERMISSION_DENIED",
    "loose": {"n": 8},
    "nobody": "UNKNOWN_TOOL",
}
"""Tool to the structured content of its answer, or the code of its failure."""


def code_of(answer: JsonObject) -> object:
    """The code of a failed answer, wherever the revision puts it; None for a success."""
    if "error" in answer:
        return answer["error"]["data"]["code"]
    result = answer["result"]
    return parse_object(result["content"][0]["text"].encode())["error"]["code"] if result.get("isError") else None


def came_to(reply: Reply) -> object:
    answer = parse_object(reply.body or b"")
    return code_of(answer) or answer["result"]["structuredContent"]


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("name", EXPECTED)
def test_each_ending_is_answered_and_recorded(name: str, era: str) -> None:
    messages = [render(OPENING), call(name, {"n": 4}, meta=MODERN if era == "modern" else None)]

    replies, records = talk(messages)

    expected = EXPECTED[name]
    assert came_to(replies[-1]) == expected
    assert (records[-1]["tool_name"], records[-1]["error_code"]) == (name, expected if isinstance(expected, str) else None)
    assert [each["kind"] for each in records] == {"write": ["intent", "outcome"]}.get(
        name, ["refusal"] if expected in ("UNKNOWN_TOOL", "PERMISSION_DENIED", "MISSING_CAPABILITY") else ["call"]
    )


def test_a_tool_for_some_roles_is_called_by_these() -> None:
    replies, _ = talk([call("roles", {"n": 4}, meta=MODERN)], role="ADMIN")

    assert came_to(replies[0]) == {"n": 8}


@pytest.mark.parametrize("name", sorted({"double", "typed", "plain", "wait", "write", "loose"}))
@pytest.mark.parametrize("arguments", [{"n": "4"}, {"n": 4, "plan_hash": "x"}, {}])
def test_arguments_that_do_not_conform_never_reach_a_handler(name: str, arguments: JsonObject) -> None:
    replies, records = talk([call(name, arguments, meta=MODERN)])

    assert came_to(replies[0]) == "INVALID_PARAMS"
    assert [(each["kind"], each["stage"], each["plan_hash"]) for each in records] == [
        ("refusal", "accept", arguments.get("plan_hash"))
    ]


def test_what_a_handler_says_about_its_call_is_recorded() -> None:
    _, records = talk([call("attribute", {"n": 4}, meta=MODERN)])

    assert (records[0]["session_id"], records[0]["role"]) == ("s-1", "WINDSURF")


@pytest.mark.parametrize("name", ["mutate", "wait_and_mutate", "plain_mutate", "double"])
def test_arguments_are_stored_as_the_caller_sent_them(name: str) -> None:
    """A handler may change the arguments that it is given."""
    _, records = talk([call(name, {"n": 4}, meta=MODERN)], keeps_values=True)

    assert records[0]["arguments"] == {"n": 4}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_refusal_carries_the_id_of_its_own_request(version: str) -> None:
    opening = OPENING | {"params": OPENING["params"] | {"protocolVersion": version}}  # type: ignore[operator]

    replies, _ = talk([render(opening), *(call("double", {"n": "4"}, request_id=number) for number in (1, 2, "x"))])

    assert [parse_object(reply.body or b"")["id"] for reply in replies[1:]] == [1, 2, "x"]


@pytest.mark.clause("S7")
@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("name", ["double", "wait", "wait_and_break", "plain", "plain_break", "write"])
def test_without_a_record_the_answer_is_that_failure(name: str, era: str) -> None:
    messages = [render(OPENING), call(name, {"n": 4}, meta=MODERN if era == "modern" else None)]

    replies, _ = talk(messages, failure="AUDIT_UNAVAILABLE")

    assert came_to(replies[-1]) == "AUDIT_UNAVAILABLE"


async def _deliver_all(names: list[str], recorder: MemoryRecorder) -> list[JsonObject]:
    """Send calls with one id at once; the answers in the order in which they leave."""
    async with asyncio.timeout(20), open_runtime(make_server(), Settings(), recorder=recorder) as runtime:
        endpoint, tasks, replies = runtime.endpoint("mcp"), MessageTasks(), list[JsonObject]()
        left = asyncio.Event()

        def deliver(reply: Reply | None) -> None:
            replies.append(parse_object((reply and reply.body) or b""))
            if len(replies) == len(names):
                left.set()

        with runtime.batch:
            for name in names:
                inbound = Inbound(body=call(name, {"n": 1}, meta=MODERN), transport="stdio", caller=Caller())
                tasks.start(endpoint, inbound, Silent(), deliver)
        await left.wait()
        return replies


def test_an_id_stays_in_use_until_its_answer_leaves() -> None:
    answers = asyncio.run(_deliver_all(["double", "double"], MemoryRecorder()))

    assert sorted(str(code_of(each)) for each in answers) == ["DUPLICATE_ID", "None"]


def test_a_fault_of_ours_is_recorded_answered_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[list[object], list[object]]:
        server = Server("calls", version="1.0.0")
        server.tool(
            safety="read-only",
            name="one",
            description="A tool.",
            input_schema=INTEGERS,
            output_schema=INTEGERS,
            caps=Caps(concurrency=1),
        )(_double)
        recorder = MemoryRecorder()
        async with asyncio.timeout(20), open_runtime(server, Settings(), recorder=recorder) as runtime:
            endpoint = runtime.endpoint("mcp")
            inbound = Inbound(body=call("one", {"n": 1}, meta=MODERN), transport="stdio", caller=Caller())
            with monkeypatch.context() as patch:
                patch.setattr(core, "write_tool_result", lambda *_: 1 / 0)
                found = [came_to(await ask_endpoint(endpoint, inbound, Silent())) for _ in range(3)]
            found.append(came_to(await ask_endpoint(endpoint, inbound, Silent())))
        return found, [each["error_code"] for each in recorder.records]

    assert asyncio.run(main()) == (
        ["INTERNAL", "INTERNAL", "INTERNAL", {"n": 2}],
        ["INTERNAL", "INTERNAL", "INTERNAL", None],
    )


def test_a_handler_that_ignores_its_cancellation_keeps_its_place_until_it_ends() -> None:
    async def main() -> list[object]:
        free, ended = asyncio.Event(), asyncio.Event()

        async def deaf(arguments: JsonObject) -> JsonObject:
            while not free.is_set():
                with suppress(asyncio.CancelledError):
                    await free.wait()
            ended.set()
            return arguments

        server = Server("calls", version="1.0.0")
        caps = Caps(concurrency=1, timeout_ms=20)
        server.tool(
            safety="read-only", name="deaf", description="A tool.", input_schema=INTEGERS, output_schema=INTEGERS, caps=caps
        )(deaf)
        async with asyncio.timeout(20), open_runtime(server, Settings(), recorder=MemoryRecorder()) as runtime:
            endpoint = runtime.endpoint("mcp")
            inbound = Inbound(body=call("deaf", {"n": 1}, meta=MODERN), transport="stdio", caller=Caller())
            found = [came_to(await ask_endpoint(endpoint, inbound, Silent())) for _ in range(2)]
            free.set()
            await ended.wait()
            await asyncio.sleep(0)
            found.append(came_to(await ask_endpoint(endpoint, inbound, Silent())))
        return found

    assert asyncio.run(main()) == ["TIMEOUT", "OVERLOADED", {"n": 1}]
