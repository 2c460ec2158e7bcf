"""Probes of requests in flight: duplicate ids, cancellation by type and value, and the end of input. Over stdio, where
one channel carries everything; an HTTP server cannot tell two POSTs of one client from those of two."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError
from strictwire.client.message import Era, id_key, is_response, notification
from strictwire.client.stdio import StdioProcess
from strictwire.probe.bench import Bench, Called, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind, kind_of, read_messages
from strictwire.probe.record import Transport
from strictwire.probe.wire_stdio import START_SECONDS, Heard

SLOW: Final = 0.3
"""Seconds a call must take for another message to overtake it safely."""

AT_ONCE: Final = 2
"""Processes that are tried at the same time."""

_NO_SLOW_TOOL: Final = f"no callable tool takes {SLOW:g} s; name one with --tool"
_STDIO: Final = frozenset({Transport.STDIO})


def _maybe_slow(bench: Bench) -> Called | None:
    slow = [call for call in bench.working_calls() if call.seconds >= SLOW]
    return min(slow, key=lambda call: call.seconds) if slow else None


def _call(bench: Bench, call: Called, request_id: int | str) -> bytes:
    params: JsonObject = {"name": call.name, "arguments": call.arguments}
    return json.render(bench.wire.speaker.request("tools/call", params, request_id)) + b"\n"


def _cancel(request_id: JsonValue) -> bytes:
    return json.render(notification("notifications/cancelled", {"requestId": request_id})) + b"\n"


async def _hear(bench: Bench, raw: bytes, call: Called) -> Heard:
    """Everything that comes while the calls would run, twice over."""
    return await bench.stdio.converse(raw, lambda _heard: False, seconds=2 * call.seconds + 0.5)


def _answers(heard: Heard) -> list[JsonObject]:
    return [message for message in read_messages(heard.raws)[0] if is_response(message)]


def _describe(answers: list[JsonObject]) -> str:
    shown = [f"id {json.render(answer.get('id')).decode()} {kind_of(answer).value}" for answer in answers]
    return ", ".join(shown) or "no answer"


async def _duplicate(bench: Bench) -> Judged:
    call = _maybe_slow(bench)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    answers = _answers(await _hear(bench, _call(bench, call, 77) * 2, call))
    kinds = sorted(kind_of(answer) for answer in answers)
    is_refused = kinds == [Kind.ERROR, Kind.RESULT]
    return passed(got=_describe(answers)) if is_refused else found(got=_describe(answers))


async def _cancelled(bench: Bench) -> Judged:
    call = _maybe_slow(bench)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    answers = _answers(await _hear(bench, _call(bench, call, 78) + _cancel(78), call))
    return found(got=_describe(answers)) if answers else passed(got="no answer")


async def _cancel_by_type(bench: Bench) -> Judged:
    call = _maybe_slow(bench)
    if call is None:
        return skipped(_NO_SLOW_TOOL)
    raw = _call(bench, call, 1) + _call(bench, call, "1") + _cancel(1)
    answers = _answers(await _hear(bench, raw, call))
    finished = {id_key(answer.get("id")) for answer in answers if kind_of(answer) is Kind.RESULT}
    return passed(got=_describe(answers)) if finished == {id_key("1")} else found(got=_describe(answers))


async def _end_of_file(bench: Bench) -> Judged:
    """Tries run until one is lost, all are made, or time is up; the count is part of the verdict."""
    deadline = time.monotonic() + bench.options.eof_seconds
    tries = lost = 0
    while tries < bench.options.eof_tries and not lost and (tries == 0 or time.monotonic() < deadline):
        batch = min(AT_ONCE, bench.options.eof_tries - tries)
        outcomes = await asyncio.gather(*(_is_answered(bench) for _ in range(batch)))
        tries += batch
        lost += outcomes.count(False)
    if lost:
        return found(got=f"{lost} of {tries} tries got no answer")
    return passed(got=f"answered in {tries} of {tries} tries")


async def _is_answered(bench: Bench) -> bool:
    """A process of its own: one request, then nothing more."""
    process = await bench.stdio.start_process()
    try:
        async with asyncio.timeout(START_SECONDS):
            return await _ask_and_leave(process, bench)
    except (ClientError, TimeoutError):
        return False
    finally:
        await process.close(patience=1.0)


async def _ask_and_leave(process: StdioProcess, bench: Bench) -> bool:
    raw = b""
    if bench.era is Era.LEGACY:
        opening = bench.wire.speaker.initialize()
        await process.write_line(json.render(opening))
        await _read_until(process, opening["id"])
        raw = json.render(notification("notifications/initialized", {})) + b"\n"
    asked = _last_request(bench)
    await process.write(raw + json.render(asked) + b"\n")
    process.close_stdin()
    return await _read_until(process, asked["id"])


def _last_request(bench: Bench) -> JsonObject:
    """The quickest call that works, for a handler is what gets lost; without tools, the cheapest request."""
    calls = bench.working_calls()
    if not calls:
        return bench.wire.speaker.harmless()
    quickest = min(calls, key=lambda call: call.seconds)
    return bench.wire.speaker.request("tools/call", {"name": quickest.name, "arguments": quickest.arguments})


async def _read_until(process: StdioProcess, request_id: JsonValue) -> bool:
    heard = Heard()
    while (line := await process.read_line()) is not None:
        heard.raws.append(line)
        if heard.has_answer(request_id):
            return True
    return False


PROBES: Final = (
    Probe(
        id="FLIGHT_DUPLICATE_ID",
        purpose="Checks that an id that is in flight is refused a second time.",
        expected="one result and one error",
        why="two answers carry the same id, and the caller takes one for the other",
        judge=_duplicate,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="FLIGHT_CANCELLED",
        purpose="Checks that a cancelled request is not answered.",
        expected="no answer",
        why="the id may be in use again by the time the answer comes",
        judge=_cancelled,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="FLIGHT_CANCEL_BY_TYPE",
        purpose='Checks that cancelling 1 leaves the request "1" alone.',
        expected='a result for "1" and none for 1',
        why="the wrong call is cancelled, and the right one goes on",
        judge=_cancel_by_type,
        transports=_STDIO,
        compared=False,
    ),
    Probe(
        id="EOF_ANSWERED",
        purpose="Checks that a request is answered when the input ends right behind it.",
        expected="an answer in every try",
        why="`echo request | server` is how scripts and tests call a server",
        judge=_end_of_file,
        transports=_STDIO,
        compared=False,
    ),
)
