"""The tools, resources and prompts that can be called now: compiled contracts with handlers, as one immutable snapshot.

Not here: adding and removing tools (`server`), writing lists for clients (`profiles`).
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import compile_schema
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import ExplainsRefusals, Handler
from strictwire.contract.registry import Registry, check_new_tool
from strictwire.contract.safety import is_callable_unasked
from strictwire.contract.tool import Caps, PromptContract, ResourceContract, ToolContract
from strictwire.contract.uri_template import UriTemplate, compile_template
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import COMPLETION, Caller, Kind
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.limits import MAX_RUNNING, ConcurrencyLimit
from strictwire.pipeline.stages import accept, authorise, refuse_without_task, verify

_UNKNOWN: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.TOOL: "UNKNOWN_TOOL",
        Kind.PROMPT: "UNKNOWN_PROMPT",
        Kind.RESOURCE: "RESOURCE_NOT_FOUND",
        Kind.COMPLETION: "METHOD_NOT_FOUND",
    }
)
"""The failure of a target that is not offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """Contracts, and the compiled tools behind them."""

    registry: Registry = field(default_factory=Registry)
    compiled: Mapping[tuple[Kind, str], CompiledTool] = field(default_factory=lambda: MappingProxyType({}))
    templates: tuple[tuple[UriTemplate, CompiledTool], ...] = ()
    limit: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(MAX_RUNNING))
    kinds: frozenset[Kind] = field(init=False, default=frozenset())
    """The kinds of which something is offered."""
    has_tasks: bool = field(init=False, default=False)
    """Whether calls of a tool can become tasks."""

    def __post_init__(self) -> None:
        offered = {
            Kind.TOOL: self.registry.tools,
            Kind.RESOURCE: self.registry.resources,
            Kind.PROMPT: self.registry.prompts,
        }
        kinds = {kind for kind, contracts in offered.items() if contracts}
        completes = {Kind.COMPLETION} if (Kind.COMPLETION, COMPLETION) in self.compiled else set()
        object.__setattr__(self, "kinds", frozenset(kinds | completes))
        object.__setattr__(self, "has_tasks", any(tool.task is not None for tool in self.registry.tools.values()))

    def find(self, kind: Kind, target: str) -> CompiledTool | Failure:
        """The tool, prompt or resource of that name or URI; a Failure if it is not offered."""
        found = self.compiled.get((kind, target))
        if found is None and kind is Kind.RESOURCE:
            found = next((tool for template, tool in self.templates if template.match(target) is not None), None)
        return found or fail(_UNKNOWN[kind], details={"uri": target} if kind is Kind.RESOURCE else {})

    def with_tools(self, tools: Mapping[ToolContract, Handler] | list[tuple[ToolContract, Handler]]) -> Offers:
        """Add tools. Raises ContractRefused or SchemaRefused."""
        draft = Draft(self)
        for contract, handler in tools.items() if isinstance(tools, Mapping) else tools:
            draft.add_tool(contract, handler)
        return draft.finish()

    def without_tool(self, name: str) -> Offers:
        """Remove a tool; an unknown name is no error."""
        return replace(self, registry=self.registry.without_tool(name), compiled=self._without(Kind.TOOL, name))

    def with_resource(self, contract: ResourceContract, handler: Handler) -> Offers:
        """Add a resource or a template. Raises ContractRefused or TemplateRefused."""
        tool = self._compile(Kind.RESOURCE, contract.uri, contract, handler)
        templates = self.templates
        if contract.is_template:
            templates = (*templates, (compile_template(contract.uri), tool))
        return replace(self._with(tool), registry=self.registry.with_resource(contract), templates=templates)

    def with_prompt(self, contract: PromptContract, handler: Handler) -> Offers:
        """Add a prompt. Raises ContractRefused."""
        tool = self._compile(Kind.PROMPT, contract.name, contract, handler)
        tool = replace(tool, input=compile_schema(prompt_schema(contract)))
        return replace(self._with(tool), registry=self.registry.with_prompt(contract))

    def without_prompt(self, name: str) -> Offers:
        """Remove a prompt; an unknown name is no error."""
        return replace(self, registry=self.registry.without_prompt(name), compiled=self._without(Kind.PROMPT, name))

    def with_completion(self, handler: Handler) -> Offers:
        """Offer completion of prompt and template arguments."""
        return self._with(self._compile(Kind.COMPLETION, COMPLETION, None, handler))

    def _with(self, tool: CompiledTool) -> Offers:
        return replace(self, compiled=MappingProxyType({**self.compiled, (tool.kind, tool.name): tool}))

    def _without(self, kind: Kind, name: str) -> Mapping[tuple[Kind, str], CompiledTool]:
        return MappingProxyType({key: tool for key, tool in self.compiled.items() if key != (kind, name)})

    def _compile(
        self, kind: Kind, name: str, contract: ResourceContract | PromptContract | None, handler: Handler
    ) -> CompiledTool:
        return CompiledTool(
            kind=kind,
            name=name,
            handler=handler,
            is_async=is_async(handler),
            authorise=authorise,
            accept=accept,
            verify=verify,
            limit=ConcurrencyLimit(MAX_RUNNING, self.limit),
            contract=contract,
            seconds=Caps().timeout_ms / 1000,
        )

    def compile_tool(self, contract: ToolContract, handler: Handler) -> CompiledTool:
        """A tool, compiled, under the concurrency limit of these offers. Raises SchemaRefused."""
        caps, task = contract.caps, contract.task
        return CompiledTool(
            kind=Kind.TOOL,
            name=contract.name,
            handler=handler,
            is_async=is_async(handler),
            authorise=refuse_without_task if task is not None and task.required else authorise,
            accept=accept,
            verify=verify,
            limit=ConcurrencyLimit(caps.concurrency, self.limit),
            contract=contract,
            input=compile_schema(contract.input_schema),
            output=None if contract.output_schema is None else compile_schema(contract.output_schema),
            caps=caps,
            seconds=caps.timeout_ms / 1000,
            roles=contract.roles,
            tier=contract.tier,
            capabilities=contract.capabilities,
            read_only=is_callable_unasked(contract.safety),
            task=task,
            dialect=contract.dialect,
            fingerprint=fingerprint(contract).whole,
            explainer=handler if isinstance(handler, ExplainsRefusals) else None,
        )


class Draft:
    """Offers in the making: adding a tool costs the same however many there are. Use it once."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        self._contracts = dict(offers.registry.tools)
        self._compiled = dict(offers.compiled)

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Add one tool. Raises ContractRefused or SchemaRefused; then nothing is added."""
        check_new_tool(self._contracts, contract)
        self._compiled[Kind.TOOL, contract.name] = self._offers.compile_tool(contract, handler)
        self._contracts[contract.name] = contract

    def finish(self) -> Offers:
        """The offers that the draft began with, and what was added."""
        registry = replace(self._offers.registry, tools=MappingProxyType(self._contracts))
        return replace(self._offers, registry=registry, compiled=MappingProxyType(self._compiled))


Narrow: TypeAlias = Callable[[str, Sequence[Any], Mapping[str, str | None]], Awaitable[Sequence[Any] | Failure]]
"""What a list shows to one caller: the method, the contracts that are offered, the facts of the caller."""


class Catalog:
    """The current snapshot, and the functions to call when it changes."""

    narrow: Narrow | None = None
    """Makes lists that depend on the caller. None: every caller sees the same."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        self._draft: Draft | None = None
        self._watchers: set[Callable[[str, str | None], None]] = set()
        self._lock = threading.Lock()

    @property
    def offers(self) -> Offers:
        """The current snapshot; the same value until something changes."""
        return self._offers if self._draft is None else self._settle()

    async def entries_for(
        self, caller: Caller, method: str, entries: Sequence[Any], *, revision: str, transport: str
    ) -> Sequence[Any] | Failure:
        """The entries of a list that a caller sees."""
        if self.narrow is None:
            return entries
        facts = {
            "principal": caller.principal,
            "role": caller.role,
            "tier": caller.tier,
            "revision": revision,
            "transport": transport,
        }
        return await self.narrow(method, entries, facts)

    def change(self, make: Callable[[Offers], Offers], changed: str) -> None:
        """Replace the current snapshot, from any thread. `changed` is `tools`, `prompts`, `resources` or `completions`."""
        with self._lock:
            self._offers = make(self._finish_draft())
        self.announce(changed)

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Offer one tool more, from any thread. Raises ContractRefused or SchemaRefused.

        The snapshot is made when it is next read, so that adding many tools in a row does not copy the offers for each.
        """
        with self._lock:
            draft = self._draft or Draft(self._offers)
            draft.add_tool(contract, handler)
            self._draft = draft
        self.announce("tools")

    def _settle(self) -> Offers:
        with self._lock:
            return self._finish_draft()

    def _finish_draft(self) -> Offers:
        if self._draft is not None:
            self._offers, self._draft = self._draft.finish(), None
        return self._offers

    def announce(self, changed: str, uri: str | None = None) -> None:
        """Tell the watchers that a list changed, or (with a URI) that one resource did."""
        for watcher in tuple(self._watchers):
            watcher(changed, uri)

    def follow(self, follower: Callable[[str, str | None], None]) -> Callable[[], None]:
        """Call a function at once for every change, on the thread of the change, until the returned function is called."""
        self._watchers.add(follower)
        return lambda: self._watchers.discard(follower)

    def watch(self, watcher: Callable[[str, str | None], None]) -> Callable[[], None]:
        """Call a function on the running event loop for every change, until the returned function is called."""
        loop, home = asyncio.get_running_loop(), threading.get_ident()

        def deliver(changed: str, uri: str | None) -> None:
            if notify in self._watchers:
                watcher(changed, uri)

        def notify(changed: str, uri: str | None) -> None:
            if threading.get_ident() == home:
                deliver(changed, uri)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(deliver, changed, uri)

        self._watchers.add(notify)
        return lambda: self._watchers.discard(notify)


class DerivedCatalog(Catalog):
    """A catalog whose offers are computed from those of others, and again when one of them changes."""

    def __init__(self, sources: Sequence[Catalog], derive: Callable[[], Offers]) -> None:
        super().__init__(Offers())
        self._derive = derive
        self._derived: Offers | None = None
        self._stops = [source.follow(self._invalidate) for source in sources]

    @property
    def offers(self) -> Offers:
        """The current snapshot; the same value until a source changes."""
        derived = self._derived
        return self._settle() if derived is None else derived

    def close(self) -> None:
        """Follow the sources no longer."""
        for stop in self._stops:
            stop()

    def _settle(self) -> Offers:
        with self._lock:
            self._derived = derived = self._derive()
        return derived

    def _invalidate(self, changed: str, uri: str | None) -> None:
        if uri is None:
            with self._lock:
                self._derived = None
        elif isinstance(self.offers.find(Kind.RESOURCE, uri), Failure):
            return  # a filter leaves the resource out, so no client may learn that it exists
        self.announce(changed, uri)


def is_async(handler: Handler) -> bool:
    """Whether the handler is a coroutine function, or an object whose `__call__` is one."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)


def prompt_schema(contract: PromptContract) -> JsonObject:
    """The arguments of a prompt as a closed schema: strings by the protocol."""
    return {
        "type": "object",
        "properties": {argument.name: {"type": "string"} for argument in contract.arguments},
        "required": [argument.name for argument in contract.arguments if argument.required],
        "additionalProperties": False,
    }
