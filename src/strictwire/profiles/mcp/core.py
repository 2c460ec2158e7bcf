"""The parts that both eras share for our own tools: identity, capabilities, running a call and writing its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.contract.registry import Registry
from strictwire.contract.task import EXTENSION as TASKS
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Asking, Call, Done, Kind, Outcome, RunningContext
from strictwire.pipeline.catalog import Catalog
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import facts_of
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import PROFILE, Exchange
from strictwire.profiles.mcp.header_echo import Mirrored, mirrored_arguments
from strictwire.profiles.mcp.identity import Identity
from strictwire.profiles.mcp.listing import LISTS, Lister
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.results import write_failure, write_resource_failure, write_tool_failure, write_tool_result
from strictwire.profiles.mcp.targets import ABOUT, CAPABILITIES, Target
from strictwire.profiles.mcp.task_store import MemoryTaskStore, TaskStore
from strictwire.wire.envelope import RequestId, render_result
from strictwire.wire.revisions import Revision

_ADVERTISED: Final[Mapping[Kind, JsonObject]] = {
    Kind.TOOL: {"listChanged": True},
    Kind.RESOURCE: {"subscribe": True, "listChanged": True},
    Kind.PROMPT: {"listChanged": True},
    Kind.COMPLETION: {},
}
"""The members of each capability."""


def _has(kind: Kind, revision: Revision) -> bool:
    """Whether a revision knows a kind: completion and annotations were added in the same revision."""
    return kind is not Kind.COMPLETION or revision.annotations


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The parts that serve our own tools over MCP."""

    identity: Identity
    catalog: Catalog
    pipeline: Pipeline
    sealer: Sealer
    clock: Clock
    lister: Lister = field(default_factory=Lister)
    task_store: TaskStore = field(default_factory=MemoryTaskStore)
    mirrored: dict[str, tuple[ToolContract, tuple[Mirrored, ...]]] = field(default_factory=dict)
    """Arguments that HTTP headers repeat, by tool; found once for each contract."""

    @property
    def registry(self) -> Registry:
        """What is offered now."""
        return self.catalog.offers.registry

    def capabilities(self, revision: Revision) -> JsonObject:
        """The capabilities object for what is offered now. A method whose capability is missing is refused (`offers`)."""
        offered = self.catalog.offers.kinds
        shown = {CAPABILITIES[kind]: dict(_ADVERTISED[kind]) for kind in Kind if kind in offered and _has(kind, revision)}
        extensions: JsonObject = {"extensions": {TASKS: {}}} if revision.modern and self.catalog.offers.has_tasks else {}
        return {**shown, "logging": {}, **extensions}

    def offers(self, method: str, revision: Revision) -> bool:
        """Whether a method exists: its kind of target is offered, or it has none, such as `ping`."""
        kind = ABOUT.get(method)
        return kind is None or (kind in self.catalog.offers.kinds and _has(kind, revision))

    async def page(self, exchange: Exchange, revision: Revision, cursor: object) -> tuple[bytes, str | None] | Failure:
        """One page of the list that an exchange asks for: the entries with their member name, and the next cursor."""
        method, inbound = exchange.request.method, exchange.inbound
        if self.catalog.narrow is None:
            return self.lister.page(method, self.registry, revision, cursor)
        chosen = await self.catalog.entries_for(
            inbound.caller,
            method,
            LISTS[method][1](self.registry),
            revision=revision.name,
            transport=inbound.transport,
        )
        return chosen if isinstance(chosen, Failure) else self.lister.page_of(method, chosen, revision, cursor)

    def mirrored_of(self, tool: ToolContract) -> tuple[Mirrored, ...]:
        """The arguments of a tool that HTTP headers repeat."""
        known = self.mirrored.get(tool.name)
        if known is None or known[0] is not tool:
            known = (tool, mirrored_arguments(tool.input_schema))
            self.mirrored[tool.name] = known
        return known[1]

    def perform(
        self,
        exchange: Exchange,
        target: Target,
        context: RunningContext,
        *,
        capabilities: Collection[str],
        tail: bytes,
        write_asking: Callable[[Asking], bytes] | None = None,
    ) -> Coroutine[Any, Any, None]:
        """Perform a call and answer its exchange, when awaited."""
        call = self.call_of(exchange, target, context, capabilities)
        render = AnswerWriter(exchange.request.id, call, exchange.revision, self.clock, tail, write_asking)
        return self.pipeline.perform(call, self.catalog.offers.find(target.kind, target.name), render, exchange.answer)

    @staticmethod
    def call_of(exchange: Exchange, target: Target, context: RunningContext, capabilities: Collection[str]) -> Call:
        """The call that a request makes."""
        inbound = exchange.inbound
        return Call(
            kind=target.kind,
            target=target.name,
            arguments=target.arguments,
            caller=inbound.caller,
            transport=inbound.transport,
            profile=PROFILE,
            method=exchange.request.method,
            revision=exchange.revision.name,
            context=context,
            capabilities=capabilities,
        )


class AnswerWriter(msgspec.Struct, frozen=True):
    """Writes the outcome of one call (`pipeline.perform.Render`)."""

    request_id: RequestId
    call: Call
    revision: Revision
    clock: Clock
    tail: bytes
    """The end of the result: members that the revision adds to every result, and the closing brace."""
    write_asking: Callable[[Asking], bytes] | None

    def __call__(self, outcome: Outcome, tool: CompiledTool | None) -> Reply:
        """The reply. `tool` is None if what the client called does not exist."""
        if type(outcome) is Done and tool is not None:
            if tool.kind is Kind.TOOL:
                return Reply(body=write_tool_result(self.request_id, outcome, tool, self.revision, self.tail))
            return Reply(body=render_result(self.request_id, outcome.raw[:-1] + self.tail))
        if isinstance(outcome, Asking) and self.write_asking is not None:
            return Reply(body=render_result(self.request_id, self.write_asking(outcome)))
        failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
        facts = facts_of(self.call, self.clock)
        if self.call.kind is Kind.TOOL:
            return write_tool_failure(self.request_id, failure, facts, self.revision, tool, self.tail)
        if self.call.kind is Kind.RESOURCE:
            return write_resource_failure(self.request_id, failure, facts, self.call.target)
        return write_failure(self.request_id, failure, facts)
