"""Probes with several requests in flight: duplicate ids, cancellation, end of input.

Only over stdio, where one connection belongs to one client. An HTTP server cannot know whether two POSTs come from one
client or from two.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError
from strictwire.client.message import Era, id_key, is_response, notification
from strictwire.client.stdio import StdioProcess
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, ToolCall, found, passed, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import ResponseKind, kind_of, read_messages
from strictwire.probe.record import Transport
from strictwire.probe.wire_stdio import CLOSE_SECONDS, Received

SLOW_SECONDS: Final = 0.3
"""Minimum duration of a call that a second message can reliably overtake."""

CONCURRENT_PROCESSES: Final = 2
"""Processes of the end-of-file probe that run at the same time."""

_NO_SLOW_TOOL: Final = f"no callable tool takes {SLOW_SECONDS:g} s; give arguments for a slow one with --tool"
_STDIO: Final = frozenset({Transport.STDIO})


def _maybe_slow(context: ProbeContext) -> ToolCall | None:
    slow = [call for call in context.working_calls() if call.seconds >= SLOW_SECONDS]
    return min(slow, key=lambda call: call.seconds) if slow else None


def _call(context: ProbeContext, call: ToolCall, request_id: int | str) -> bytes:
    params: JsonObject = {"name": call.name, "arguments": call.arguments}
    return json.render(context.wire.messages.request("tools/call", params, request_id)) + b"\n"


def _cancel(request_id: JsonValue) -> bytes:
    return json.render(notification("notifications/cancelled", {"requestId": request_id})) + b"\n"


async def _converse(context: ProbeContext, raw: bytes, call: ToolCall) -> Received:
    """Everything that the server sends within twice the duration of the call."""
    return await context.stdio.converse(raw, lambda _heard: False, seconds=2 * call.seconds + 0.5)


def _responses(received: Received) -> list[JsonObject]:
    return [message for message in read_messages(received.raws)[0] if is_response(message)]


def _describe(responses: list[JsonObject]) -> str:
    shown = [f"id {json.render(response.get('id')).decode()} {kind_of(response).value}" for response in responses]
    return ", ".join(shown) or "no response"


async def _duplicate(context: ProbeContext) -> Evaluation:
    call = _maybe_slow(context)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    responses = _responses(await _converse(context, _call(context, call, 77) * 2, call))
    kinds = sorted(kind_of(response) for response in responses)
    is_refused = kinds == [ResponseKind.ERROR, ResponseKind.RESULT]
    return passed(got=_describe(responses)) if is_refused else found(got=_describe(responses))


async def _cancelled(context: ProbeContext) -> Evaluation:
    call = _maybe_slow(context)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    responses = _responses(await _converse(context, _call(context, call, 78) + _cancel(78), call))
    return found(got=_describe(responses)) if responses else passed(got="no response")


async def _cancel_by_type(context: ProbeContext) -> Evaluation:
    call = _maybe_slow(context)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    raw = _call(context, call, 1) + _call(context, call, "1") + _cancel(1)
    responses = _responses(await _converse(context, raw, call))
    finished = {id_key(response.get("id")) for response in responses if kind_of(response) is ResponseKind.RESULT}
    return passed(got=_describe(responses)) if finished == {id_key("1")} else found(got=_describe(responses))


async def _end_of_file(context: ProbeContext) -> Evaluation:
    """Repeat until a request is lost, all attempts are made, or the time is up. The result contains the count."""
    await context.state.surveyed.wait()
    deadline = min(time.monotonic() + context.options.eof_seconds, context.deadline)
    attempts = lost = 0
    slowest = 0.0
    while attempts < context.options.eof_tries and not lost and (attempts == 0 or time.monotonic() + slowest < deadline):
        start = time.monotonic()
        batch = min(CONCURRENT_PROCESSES, context.options.eof_tries - attempts)
        outcomes = await asyncio.gather(*(_responds(context) for _ in range(batch)))
        attempts += batch
        lost += outcomes.count(False)
        slowest = max(slowest, time.monotonic() - start)
    if lost:
        return found(got=f"no response in {lost} of {attempts} attempts")
    return passed(got=f"response in {attempts} of {attempts} attempts")


async def _responds(context: ProbeContext) -> bool:
    """Start a new process, send one request and close its input. Returns whether it responds."""
    process = await context.stdio.start_process()
    try:
        async with asyncio.timeout(context.options.start_seconds):
            return await _ask_and_close(process, context)
    except (ClientError, TimeoutError):
        return False
    finally:
        await process.close(patience=CLOSE_SECONDS)


async def _ask_and_close(process: StdioProcess, context: ProbeContext) -> bool:
    raw = b""
    if context.era is Era.LEGACY:
        opening = context.wire.messages.initialize()
        await process.write_line(json.render(opening))
        await _read_until(process, opening["id"])
        raw = json.render(notification("notifications/initialized", {})) + b"\n"
    message = _last_request(context)
    await process.write(raw + json.render(message) + b"\n")
    process.close_stdin()
    return await _read_until(process, message["id"])


def _last_request(context: ProbeContext) -> JsonObject:
    """The fastest working call, because servers lose running handlers at the end; without tools, a harmless request."""
    calls = context.working_calls()
    if not calls:
        return context.wire.messages.harmless_request()
    quickest = min(calls, key=lambda call: call.seconds)
    return context.wire.messages.request("tools/call", {"name": quickest.name, "arguments": quickest.arguments})


async def _read_until(process: StdioProcess, request_id: JsonValue) -> bool:
    received = Received()
    while (line := await process.read_line()) is not None:
        received.add(line)
        if received.has_response(request_id):
            return True
    return False


PROBES: Final = (
    Probe(
        id="FLIGHT_DUPLICATE_ID",
        purpose="Checks that the id of a running request is refused for a second one.",
        expected="one result and one error",
        why="two responses have the same id, and the client confuses them",
        run=_duplicate,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="FLIGHT_CANCELLED",
        purpose="Checks that a cancelled request gets no response.",
        expected="no response",
        why="the client may have reused the id when the response arrives",
        run=_cancelled,
        harm=Harm.STYLE,
        lane=Lane.TOOLS,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="FLIGHT_CANCEL_BY_TYPE",
        purpose='Checks that cancelling the id 1 does not cancel the id "1".',
        expected='a result for "1" and none for 1',
        why="the wrong call is cancelled, and the cancelled one continues",
        run=_cancel_by_type,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="EOF_ANSWERED",
        purpose="Checks that a request gets a response if the input ends directly after it.",
        expected="a response in every attempt",
        why="`echo request | server` is how scripts and tests call a server",
        run=_end_of_file,
        harm=Harm.DROP,
        lane=Lane.PROCESSES,
        transports=_STDIO,
        compared=False,
    ),
)
