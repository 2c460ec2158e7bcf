"""What both eras of MCP share on one endpoint: who we are, what we offer, how a call is performed and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.registry import Registry
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.pipeline.call import Asking, Call, Caller, Done, Kind, Operation, Outcome, RunningContext
from strictwire.pipeline.chain import Pipeline, Render
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.offers import COMPLETION
from strictwire.pipeline.record import facts_of
from strictwire.profiles.exchange import Inbound
from strictwire.profiles.listing import Lister
from strictwire.profiles.mcp_results import Written, write_failure, write_tool_failure, write_tool_result
from strictwire.profiles.mirror import Mirrored, mirrored_arguments
from strictwire.profiles.seal import Sealer
from strictwire.wire.envelope import Request, render_result
from strictwire.wire.revisions import Revision

PROFILE: Final = "mcp"
MAX_COMPLETIONS: Final = 100
"""Values in one completion, by the specification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the server says it is."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None

    def as_json(self) -> JsonObject:
        """The `serverInfo` object."""
        shown: JsonObject = {"name": self.name, "version": self.version}
        return shown | ({"title": self.title} if self.title else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The parts of one endpoint."""

    identity: Identity
    pipeline: Pipeline
    sealer: Sealer
    clock: Clock
    lister: Lister = field(default_factory=Lister)
    mirrored: dict[str, tuple[ToolContract, tuple[Mirrored, ...]]] = field(default_factory=dict)
    """Annotated arguments by tool, found once a contract."""

    @property
    def registry(self) -> Registry:
        """What is offered now."""
        return self.pipeline.catalog.offers.registry

    def capabilities(self, revision: Revision) -> JsonObject:
        """What is offered now, as a capabilities object; nothing is advertised that would not be answered."""
        registry = self.registry
        shown: JsonObject = {}
        if registry.tools:
            shown["tools"] = {"listChanged": True}
        if registry.resources:
            shown["resources"] = {"subscribe": True, "listChanged": True}
        if registry.prompts:
            shown["prompts"] = {"listChanged": True}
        if (Kind.COMPLETION, COMPLETION) in self.pipeline.catalog.offers.operations and revision.annotations:
            shown["completions"] = {}
        return shown | {"logging": {}}

    def mirrored_of(self, tool: ToolContract) -> tuple[Mirrored, ...]:
        """The arguments of a tool that HTTP headers repeat."""
        known = self.mirrored.get(tool.name)
        if known is None or known[0] is not tool:
            known = (tool, mirrored_arguments(tool.input_schema))
            self.mirrored[tool.name] = known
        return known[1]

    async def perform(
        self,
        request: Request,
        call: Call,
        *,
        revision: Revision,
        tail: bytes,
        write_asking: Callable[[Asking], bytes] | None = None,
    ) -> Written:
        """Run a call and write its answer."""
        write = self.writer(request, call, revision=revision, tail=tail, write_asking=write_asking)
        return await self.pipeline.perform(call, write)

    def writer(
        self,
        request: Request,
        call: Call,
        *,
        revision: Revision,
        tail: bytes,
        write_asking: Callable[[Asking], bytes] | None = None,
    ) -> Render[Written]:
        """How the outcome of a call is written."""

        def write(outcome: Outcome, operation: Operation | None) -> Written:
            if isinstance(outcome, Asking) and write_asking is not None:
                return Written(body=render_result(request.id, write_asking(outcome)))
            if isinstance(outcome, Done) and operation is not None:
                result = write_done(outcome, operation, revision, tail)
                return Written(body=render_result(request.id, result))
            failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
            facts = facts_of(call, self.clock)
            if call.kind is Kind.TOOL:
                return write_tool_failure(request.id, failure, facts, revision, operation, tail)
            return write_failure(request.id, failure, facts)

        return write

    async def refuse(self, request: Request, failure: Failure, inbound: Inbound, revision: Revision) -> Written:
        """A request that never became a call: recorded, and answered with a protocol error."""
        told = await self.pipeline.journal.refuse(
            failure,
            transport=inbound.transport,
            profile=PROFILE,
            method=request.method,
            principal=inbound.caller.principal,
        )
        facts = Facts(timestamp=self.clock.timestamp(), revision=revision.name)
        return write_failure(request.id, told, facts)


def write_done(done: Done, operation: Operation, revision: Revision, tail: bytes) -> bytes:
    """A result as bytes."""
    if operation.kind is Kind.TOOL:
        return write_tool_result(done, operation, revision, tail)
    return done.raw[:-1] + tail if tail != b"}" else done.raw


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants to call, taken from its parameters."""

    kind: Kind
    name: str
    arguments: JsonObject


def read_target(method: str, params: JsonObject) -> Target | Failure:
    """The target of tools/call, prompts/get, resources/read or completion/complete; MALFORMED_PARAMS if it has none."""
    return _TARGETS[method](params)


def _named(kind: Kind) -> Callable[[JsonObject], Target | Failure]:
    def read(params: JsonObject) -> Target | Failure:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not name:
            return malformed("name")
        if not isinstance(arguments, dict):
            return malformed("arguments")
        return Target(kind=kind, name=name, arguments=arguments)

    return read


def _resource(params: JsonObject) -> Target | Failure:
    uri = params.get("uri")
    if not isinstance(uri, str) or not uri:
        return malformed("uri")
    return Target(kind=Kind.RESOURCE, name=uri, arguments={"uri": uri})


def _completion(params: JsonObject) -> Target | Failure:
    ref, argument = params.get("ref"), params.get("argument")
    named_by = _REFERENCES.get(str(ref.get("type"))) if isinstance(ref, dict) else None
    if not isinstance(ref, dict) or named_by is None or not isinstance(ref.get(named_by), str):
        return malformed("ref")
    if not isinstance(argument, dict) or not all(isinstance(argument.get(each), str) for each in ("name", "value")):
        return malformed("argument")
    context = params.get("context", {})
    if not isinstance(context, dict):
        return malformed("context")
    return Target(kind=Kind.COMPLETION, name=COMPLETION, arguments={"ref": ref, "argument": argument, "context": context})


_REFERENCES: Final[Mapping[str, str]] = {"ref/prompt": "name", "ref/resource": "uri"}
"""The kinds of completion references, and the member that names what is completed."""

_TARGETS: Final[Mapping[str, Callable[[JsonObject], Target | Failure]]] = {
    "tools/call": _named(Kind.TOOL),
    "prompts/get": _named(Kind.PROMPT),
    "resources/read": _resource,
    "completion/complete": _completion,
}

CALLS: Final = frozenset(_TARGETS)
"""Methods that run a handler."""

BEHIND: Final[Mapping[str, str]] = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources",
    "resources/unsubscribe": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
    "logging/setLevel": "logging",
}
"""The capability behind each method; without it the method does not exist."""


def malformed(parameter: str) -> Failure:
    """A parameter that is missing or of the wrong type, by name."""
    return fail("MALFORMED_PARAMS", details={"parameter": parameter})


def make_call(
    target: Target,
    *,
    caller: Caller,
    inbound: Inbound,
    method: str,
    revision: Revision,
    context: RunningContext,
    capabilities: Mapping[str, JsonValue],
) -> Call:
    """The call of a target."""
    return Call(
        kind=target.kind,
        target=target.name,
        arguments=target.arguments,
        caller=caller,
        transport=inbound.transport,
        profile=PROFILE,
        method=method,
        revision=revision.name,
        context=context,
        capabilities=frozenset(capabilities),
    )


def stamp(identity: Identity) -> bytes:
    """What 2026-07-28 puts at the end of every complete result."""
    shown = render({"io.modelcontextprotocol/serverInfo": identity.as_json()})
    return b',"resultType":"complete","_meta":%b}' % shown
