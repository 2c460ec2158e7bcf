"""The `editor/0.1` profile: `tools/call`, `tools/list`, `tools/describe` and `server/info` of EditorMCP.

Choices where its document is silent:

- An id is echoed as the client wrote it, so `1.0` stays `1.0` and `1e2` stays `1e2`. Ids are compared by value: `1` and
  `1.0` are one id, `1` and `"1"` are two.
- An id is taken while its request is in flight, among the requests of one conversation: of the process on stdio, of the
  principal over HTTP. Callers without tokens are one principal there and had better use UUIDs.
- Over HTTP, whatever answers a request rides on 200, also an error. What never became a request has the status of its
  condition: 400, or 413 if it was too large.
- Tools above the caller's tier are listed, with their tier; calling one is -32005, judged before its arguments are.
- There is no way to cancel, so a call that was begun runs to its end although its client may have gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue, Limits, render, slice_members
from strictwire.contract.editor_entry import describe_tool, show_tool
from strictwire.contract.tool import ToolContract
from strictwire.fault.dialects import editor_v01
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.fault.plain import plain_text
from strictwire.pipeline.call import Caller, Done, Kind, Outcome
from strictwire.pipeline.catalog import Catalog
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import facts_of
from strictwire.pipeline.stages import allows_tier
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply
from strictwire.profiles.quiet_context import QuietContext
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

PROFILE: Final = "editor/0.1"
ROUTE: Final = "/rpc/editor"
"""Where it is served over HTTP."""

MAX_DIAGNOSTICS: Final = 50
"""Notes in one answer. A person or a model reads them, and reads no more than this."""

ANONYMOUS: Final = Caller().principal
"""The principal of every client over HTTP that needs no token."""

IdKey: TypeAlias = tuple[str, str | None, str, bool, str | float]
"""What makes an id one and the same: the conversation, whether it is text, and its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorInfo:
    """What `server/info` reports, besides what is offered."""

    server_version: str
    unity_version: str
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorRequest:
    """A request of the profile; its parameters are not judged yet."""

    id_text: bytes
    """The id as the client wrote it."""
    id: str | float
    method: str
    params: JsonValue
    """None if there are none."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a request is refused, the tool that it names, and its HTTP status."""

    failure: Failure
    tool: str = ""
    status: int = 200


Answer: TypeAlias = Callable[[Sent], None]
"""Takes the answer to one request, when it may leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRequest:
    """A message that is no request, and its id if that could be read."""

    failure: Failure
    id_text: bytes = NULL


def read_request(raw: bytes, limits: Limits) -> EditorRequest | NoRequest:
    """One request from bytes.

    1. strict JSON (NOT_JSON, REQUEST_TOO_LARGE)
    2. one object with an id that is a string or a number (NOT_A_REQUEST, id null)
    3. `jsonrpc` "2.0" and a method (NOT_A_REQUEST)
    """
    value = decode(raw, limits)
    if isinstance(value, Unreadable):
        return NoRequest(failure=value.failure)
    if not isinstance(value, dict):
        return _refuse("batch" if isinstance(value, list) else "not_an_object")
    found = value.get("id")
    if not isinstance(found, str | int | float) or isinstance(found, bool):
        return _refuse("id" if "id" in value else "id_missing")
    id_text, method = slice_members(raw)["id"], value.get("method")
    if value.get("jsonrpc") != "2.0":
        return _refuse("jsonrpc", id_text)
    if not isinstance(method, str) or not method:
        return _refuse("method", id_text)
    return EditorRequest(id_text=id_text, id=found, method=method, params=value.get("params"))


def _refuse(reason: str, id_text: bytes = NULL) -> NoRequest:
    return NoRequest(failure=fail("NOT_A_REQUEST", details={"reason": reason}), id_text=id_text)


class EditorEndpoint:
    """Speaks `editor/0.1` over one transport or several."""

    answers_in = ("application/json",)

    def __init__(
        self, catalog: Catalog, pipeline: Pipeline, *, info: Callable[[], EditorInfo], limits: Limits | None = None
    ) -> None:
        self._catalog = catalog
        self._pipeline = pipeline
        self._clock = pipeline.journal.clock
        self._info = info
        self._limits = limits or Limits()
        self._in_flight: set[IdKey] = set()
        self._lookups: Mapping[str, Callable[[JsonObject, Sequence[ToolContract], Inbound], JsonObject | _Refusal]] = {
            "tools/list": self._list,
            "tools/describe": self._describe,
            "server/info": self._get_info,
        }

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:  # noqa: ARG002 - the seam's signature
        """Never; see the module."""
        return False

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:  # noqa: ARG002 - no interim messages
        """Answer one message."""
        if inbound.verb != "POST":
            deliver(refuse_verb())
            return
        request = read_request(inbound.body, self._limits)
        if isinstance(request, NoRequest):
            deliver(self._refuse_unread(request))
            return
        key = _key_of(request, inbound)
        if key in self._in_flight:
            failure = fail("DUPLICATE_ID")
            refusal = _Refusal(failure, status=http_dialect.status_of(failure))
            self._refuse(request, refusal, inbound, lambda sent: deliver(sent.as_reply()))
            return

        if key is None:
            await self._answer(request, inbound, lambda sent: deliver(sent.as_reply()))
            return

        def answer(sent: Sent) -> None:
            self._in_flight.discard(key)
            deliver(sent.as_reply())

        self._in_flight.add(key)
        try:
            await self._answer(request, inbound, answer)
        except BaseException:
            self._in_flight.discard(key)
            raise

    def refuse_oversized(self, inbound: Inbound) -> Reply:  # noqa: ARG002 - the seam's signature
        """The answer to a message that the transport would not keep."""
        return self._refuse_unread(NoRequest(failure=fail("REQUEST_TOO_LARGE")))

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""
        request = read_request(inbound.body, self._limits)
        return _write_failure(request.id_text, fail("INTERNAL"), Facts()).as_reply()

    def end_input(self) -> None:
        """Nothing waits for input."""

    async def close(self) -> None:
        """Nothing is held."""

    async def _answer(self, request: EditorRequest, inbound: Inbound, answer: Answer) -> None:
        look_up = self._lookups.get(request.method)
        if look_up is None and request.method != "tools/call":
            self._refuse(request, _Refusal(fail("METHOD_NOT_FOUND")), inbound, answer)
        elif not isinstance(request.params, dict):
            self._refuse(request, _malformed("params"), inbound, answer)
        elif look_up is None:
            await self._call(request, request.params, inbound, answer)
        else:
            tools = await list_for(self._catalog, inbound, PROFILE)
            found = _Refusal(tools) if isinstance(tools, Failure) else look_up(request.params, tools, inbound)
            if isinstance(found, _Refusal):
                self._refuse(request, found, inbound, answer)
            else:
                answer(write_result(request.id_text, render(found)))

    async def _call(self, request: EditorRequest, params: JsonObject, inbound: Inbound, answer: Answer) -> None:
        tool, arguments, offers = params.get("tool"), params.get("arguments"), self._catalog.offers
        if not isinstance(tool, str) or not tool:
            self._refuse(request, _malformed("tool"), inbound, answer)
            return
        if not isinstance(arguments, dict):
            self._refuse(request, _malformed("arguments"), inbound, answer)
            return
        if tool in offers.registry.tools and find_tool(offers.registry, tool) is None:
            self._refuse(request, _Refusal(fail("UNKNOWN_TOOL"), tool=tool), inbound, answer)
            return
        context = QuietContext(caller=inbound.caller, transport=inbound.transport, revision=PROFILE)
        call = make_call(tool, arguments, inbound=inbound, profile=PROFILE, method=request.method, context=context)

        def write(outcome: Outcome, compiled: CompiledTool | None) -> Sent:
            if isinstance(outcome, Done) and compiled is not None:
                return write_result(request.id_text, _write_call(tool, outcome, context.diagnostics))
            failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
            return _write_failure(request.id_text, failure, facts_of(call, self._clock))

        await self._pipeline.perform(call, offers.find(Kind.TOOL, tool), write, answer)

    def _list(self, params: JsonObject, tools: Sequence[ToolContract], _inbound: Inbound) -> JsonObject | _Refusal:
        """Filters must all match exactly; a value that no tool has gives an empty list."""
        wanted = {name: params[name] for name in _FILTERS if name in params}
        for name, value in wanted.items():
            if not isinstance(value, str):
                return _malformed(name)
        return {"tools": [show_tool(each) for each in tools if all(_FILTERS[name](each) == wanted[name] for name in wanted)]}

    def _describe(self, params: JsonObject, tools: Sequence[ToolContract], _inbound: Inbound) -> JsonObject | _Refusal:
        name = params.get("tool")
        if not isinstance(name, str) or not name:
            return _malformed("tool")
        tool = next((each for each in tools if each.name == name), None)
        return _Refusal(fail("UNKNOWN_TOOL"), tool=name) if tool is None else {"tool": describe_tool(tool)}

    def _get_info(self, _params: JsonObject, tools: Sequence[ToolContract], inbound: Inbound) -> JsonObject | _Refusal:
        tier, info = inbound.caller.tier, self._info()
        return {
            "serverVersion": info.server_version,
            "unityVersion": info.unity_version,
            "platform": info.platform,
            "enabledToolCategories": sorted({each.category for each in tools if allows_tier(tier, each.tier)}),
            "tier": tier,
        }

    def _refuse(self, request: EditorRequest, refusal: _Refusal, inbound: Inbound, answer: Answer) -> None:
        """Record and answer a request that never became a call."""

        def write(failure: Failure) -> None:
            facts = Facts(tool=refusal.tool, timestamp=self._clock.timestamp())
            answer(_write_failure(request.id_text, failure, facts, status=refusal.status))

        self._pipeline.journal.refuse(
            refusal.failure,
            transport=inbound.transport,
            profile=PROFILE,
            method=request.method,
            caller=inbound.caller,
            answer=write,
        )

    def _refuse_unread(self, message: NoRequest) -> Reply:
        """Count and refuse what is no request."""
        failure = message.failure
        self._pipeline.journal.count_malformed(str(failure.details.get("reason", failure.code)))
        return _write_failure(message.id_text, failure, Facts(), status=http_dialect.status_of(failure)).as_reply()


_FILTERS: Final[Mapping[str, Callable[[ToolContract], str]]] = MappingProxyType(
    {"category": lambda tool: tool.category, "tier": lambda tool: tool.tier}
)
"""What tools/list can be narrowed by."""


def _key_of(request: EditorRequest, inbound: Inbound) -> IdKey | None:
    """What an id is unique within: the connection, or the owner of a token over HTTP. None if clients cannot be told apart,
    because two of them may choose the same id."""
    caller = inbound.caller
    if inbound.headers is not None and caller.principal == ANONYMOUS:
        return None
    return inbound.transport, caller.session_id, caller.principal, isinstance(request.id, str), request.id


def _malformed(parameter: str) -> _Refusal:
    return _Refusal(fail("MALFORMED_PARAMS", details={"parameter": parameter}))


def _write_call(tool: str, done: Done, diagnostics: list[str]) -> bytes:
    """The result of tools/call; no `diagnostics` where there are none (E10)."""
    result = b'{"tool":%b,"output":%b' % (render(tool), write_output(done))
    notes = [plain_text(note) for note in diagnostics[:MAX_DIAGNOSTICS]]
    return result + (b',"diagnostics":%b}' % render(notes) if notes else b"}")


def _write_failure(id_text: bytes, failure: Failure, facts: Facts, *, status: int = 200) -> Sent:
    return write_error(id_text, editor_v01.render(failure, facts), failure, status=status)
