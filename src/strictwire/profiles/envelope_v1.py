"""The `envelope/v1` profile: `tools/call {tool, input}` answers `{tool, output}`, and `tools/list`.

A request is judged by code that a test holds equal to schemas/envelopes/envelope-request-v1.json. Every failure is one of
the four canonical errors, exactly `{code, message}`, and has that error's HTTP status; why it failed is in the run log and
the audit trail. Nothing here depends on the transport, so the same bytes have the same answer on each (V10).

Ids need not be unique among the requests in flight: the profile's document does not ask for it. There is no way to cancel,
so a call that was begun runs to its end although its client may have gone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonObject, JsonValue, Limits, render
from strictwire.contract.tool import ToolContract
from strictwire.fault.dialects import canonical
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.pipeline.call import Done, Kind, Outcome
from strictwire.pipeline.catalog import Catalog
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.perform import Pipeline
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply
from strictwire.profiles.quiet_context import QuietContext
from strictwire.profiles.runlog import Ended, Ids, NoRunLog, Received, RunLog, make_event
from strictwire.profiles.single import (
    NULL,
    Sent,
    find_tool,
    list_for,
    make_call,
    refuse_verb,
    write_error,
    write_output,
    write_result,
)
from strictwire.wire.envelope import Unreadable, decode

PROFILE: Final = "envelope/v1"
ROUTE: Final = "/rpc/envelope"
"""Where it is served over HTTP, and the route of its events on every transport."""

REQUIRED: Final = ("id", "jsonrpc", "method", "params")
"""The members of a request; others may stand beside them (V1, V5)."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A request that keeps the contract."""

    id: str
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid:
    """A message that does not, with what could be read of it."""

    failure: Failure
    id: str | None = None
    method: str | None = None


Message: TypeAlias = Envelope | Invalid

Answer: TypeAlias = Callable[[Sent], None]
"""Takes the answer to one message, when it may leave."""


def read_envelope(raw: bytes, *, limits: Limits, ids: Ids) -> Message:
    """One request from bytes.

    1. strict JSON (NOT_JSON, REQUEST_TOO_LARGE)
    2. one object (NOT_A_REQUEST)
    3. `id`, `jsonrpc`, `method` and `params`, all present (NOT_A_REQUEST)
    4. `id` a string with something in it, a UUID where ids are deterministic; `jsonrpc` "2.0"; `method` a string with
       something in it; `params` an object (NOT_A_REQUEST)
    """
    value = decode(raw, limits)
    if isinstance(value, Unreadable):
        return Invalid(failure=value.failure)
    if not isinstance(value, dict):
        return Invalid(failure=_refuse("batch" if isinstance(value, list) else "not_an_object"))
    failure = _find_fault(value, ids)
    if failure is not None:
        return Invalid(failure=failure, id=_maybe_text(value.get("id")), method=_maybe_text(value.get("method")))
    return Envelope(id=value["id"], method=value["method"], params=value["params"])


def _find_fault(value: JsonObject, ids: Ids) -> Failure | None:
    missing: list[JsonValue] = [name for name in REQUIRED if name not in value]
    if missing:
        return fail("NOT_A_REQUEST", details={"reason": "missing", "missing": missing})
    return next((_refuse(name) for name in REQUIRED if not _RULES[name](value[name], ids)), None)


def _is_id(value: JsonValue, ids: Ids) -> bool:
    text = _maybe_text(value)
    return text is not None and (ids is Ids.FRESH or _UUID.fullmatch(text) is not None)


_RULES: Final[Mapping[str, Callable[[JsonValue, Ids], bool]]] = MappingProxyType(
    {
        "id": _is_id,
        "jsonrpc": lambda value, _ids: value == "2.0",
        "method": lambda value, _ids: _maybe_text(value) is not None,
        "params": lambda value, _ids: isinstance(value, dict),
    }
)
"""What each member must be (V2 to V5)."""


def _maybe_text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _refuse(reason: str) -> Failure:
    return fail("NOT_A_REQUEST", details={"reason": reason})


class EnvelopeEndpoint:
    """Speaks `envelope/v1` over one transport or several."""

    answers_in = ("application/json",)

    def __init__(
        self,
        catalog: Catalog,
        pipeline: Pipeline,
        *,
        ids: Ids = Ids.FRESH,
        log: RunLog | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._catalog = catalog
        self._pipeline = pipeline
        self._clock = pipeline.journal.clock
        self._ids = ids
        self._log = log or NoRunLog()
        self._limits = limits or Limits()

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:  # noqa: ARG002 - the seam's signature
        """Never; see the module."""
        return False

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:  # noqa: ARG002 - no interim messages
        """Answer one message and write its event."""
        if inbound.verb != "POST":
            deliver(refuse_verb())
            return
        started = self._clock.elapsed()
        message = read_envelope(inbound.body, limits=self._limits, ids=self._ids)

        def answer(sent: Sent) -> None:
            self._write_event(message, inbound, started, size=len(sent.body), failure=sent.failure)
            deliver(sent.as_reply())

        try:
            await self._answer(message, inbound, answer)
        except asyncio.CancelledError:
            self._write_event(message, inbound, started, size=0, failure=fail("CANCELLED"))
            raise

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that the transport would not keep."""
        message = Invalid(failure=fail("REQUEST_TOO_LARGE"))
        sent = self._refuse_invalid(message)
        self._write_event(message, inbound, self._clock.elapsed(), size=len(sent.body), failure=sent.failure)
        return sent.as_reply()

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""
        message = read_envelope(inbound.body, limits=self._limits, ids=self._ids)
        return _write_failure(message.id, fail("INTERNAL")).as_reply()

    def end_input(self) -> None:
        """Nothing waits for input."""

    async def close(self) -> None:
        """Nothing is held; the composition root closes the run log."""

    async def _answer(self, message: Message, inbound: Inbound, answer: Answer) -> None:
        if isinstance(message, Invalid):
            answer(self._refuse_invalid(message))
        elif message.method == "tools/call":
            await self._call(message, inbound, answer)
        elif message.method == "tools/list":
            await self._list(message, inbound, answer)
        else:
            self._refuse(message, fail("METHOD_NOT_FOUND"), inbound, answer)

    async def _call(self, request: Envelope, inbound: Inbound, answer: Answer) -> None:
        tool, given = request.params.get("tool"), request.params.get("input")
        if not isinstance(tool, str) or not isinstance(given, dict):
            parameter = "input" if isinstance(tool, str) else "tool"
            self._refuse(request, fail("MALFORMED_PARAMS", details={"parameter": parameter}), inbound, answer)
            return
        offers = self._catalog.offers
        if tool in offers.registry.tools and find_tool(offers.registry, tool) is None:
            self._refuse(request, fail("UNKNOWN_TOOL"), inbound, answer)
            return
        context = QuietContext(caller=inbound.caller, transport=inbound.transport, revision=PROFILE)
        call = make_call(tool, given, inbound=inbound, profile=PROFILE, method=request.method, context=context)

        def write(outcome: Outcome, compiled: CompiledTool | None) -> Sent:
            if isinstance(outcome, Done) and compiled is not None:
                result = b'{"tool":%b,"output":%b}' % (render(tool), write_output(outcome))
                return write_result(render(request.id), result)
            return _write_failure(request.id, outcome if isinstance(outcome, Failure) else fail("INTERNAL"))

        await self._pipeline.perform(call, offers.find(Kind.TOOL, tool), write, answer)

    async def _list(self, request: Envelope, inbound: Inbound, answer: Answer) -> None:
        tools = await list_for(self._catalog, inbound, PROFILE)
        if isinstance(tools, Failure):
            self._refuse(request, tools, inbound, answer)
        else:
            answer(write_result(render(request.id), render({"tools": [_show_tool(tool) for tool in tools]})))

    def _refuse(self, request: Envelope, failure: Failure, inbound: Inbound, answer: Answer) -> None:
        """Record and answer a request that never became a call."""
        self._pipeline.journal.refuse(
            failure,
            transport=inbound.transport,
            profile=PROFILE,
            method=request.method,
            caller=inbound.caller,
            answer=lambda sent: answer(_write_failure(request.id, sent)),
        )

    def _refuse_invalid(self, message: Invalid) -> Sent:
        """Count and refuse what is no request."""
        self._pipeline.journal.count_malformed(str(message.failure.details.get("reason", message.failure.code)))
        return _write_failure(message.id, message.failure)

    def _write_event(
        self, message: Message, inbound: Inbound, started: float, *, size: int, failure: Failure | None
    ) -> None:
        ended = Ended(
            timestamp=self._clock.timestamp(),
            duration_ms=(self._clock.elapsed() - started) * 1000,
            size=size,
            failure=failure,
        )
        received = _describe(message, inbound)
        self._log.write(make_event(received, ended, ids=self._ids, next_id=self._clock.next_id))


def _describe(message: Message, inbound: Inbound) -> Received:
    params = message.params if isinstance(message, Envelope) else None
    return Received(
        transport=inbound.transport,
        route=ROUTE,
        size=len(inbound.body),
        payload={"digest": digest_bytes(inbound.body)} if params is None else params,
        request_id=message.id,
        method=message.method,
        tool=None if params is None else _maybe_text(params.get("tool")),
    )


def _write_failure(request_id: str | None, failure: Failure) -> Sent:
    error = canonical.render(failure, Facts())
    shown = NULL if request_id is None else render(request_id)
    return write_error(shown, error, failure, status=canonical.status_of(failure))


def _show_tool(tool: ToolContract) -> JsonObject:
    """One entry of tools/list: the words of this profile, and the schemas that its input and output are judged by."""
    shown: JsonObject = {"tool": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return shown | ({"outputSchema": tool.output_schema} if tool.output_schema is not None else {})
