"""Composition of servers: the offers of mounted servers beside those of the server itself.

Tools and prompts of a mounted server get its prefix; resources keep their URIs. The same function composes what `lint` and
`docs` read and what calls run.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import CallContext
from strictwire.contract.registry import ContractRefused, Registry, check_name
from strictwire.contract.tool import ToolContract
from strictwire.pipeline.call import COMPLETION, Kind
from strictwire.pipeline.catalog import Offers
from strictwire.pipeline.compiled import CompiledTool
from strictwire.server.declare.refused import Place

PREFIX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
"""A prefix leaves half of the 64 characters of a name to the tool."""

Clash = Callable[[str, str], None]
"""Called with a name that cannot be offered and the reason. It may raise; otherwise the entry is left out."""


def ignore_clash(_name: str, _reason: str) -> None:
    """Leave it out: it is reported elsewhere."""


def refuse_clash(place: Place) -> Clash:
    """Raise DeclarationRefused for this place."""

    def refuse(name: str, reason: str) -> None:
        raise place.refuse(f"{name!r} {reason}")

    return refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedOffers:
    """The offers of a mounted server."""

    prefix: str
    offers: Offers

    def shown(self, name: str) -> str:
        """The name of a tool or prompt of this server."""
        return f"{self.prefix}_{name}" if self.prefix else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """Composed offers, and where their contracts come from."""

    offers: Offers
    origins: tuple[Mapping[int, Any], ...] = ()
    """For each mounted server: its own contract for each composed one, by the identity of that."""


@dataclass(slots=True)
class _Draft:
    """Offers in the making."""

    own: Offers
    clash: Clash
    tools: dict[str, Any] = field(init=False)
    resources: dict[str, Any] = field(init=False)
    prompts: dict[str, Any] = field(init=False)
    compiled: dict[tuple[Kind, str], CompiledTool] = field(init=False)

    def __post_init__(self) -> None:
        registry = self.own.registry
        self.tools, self.resources, self.prompts = dict(registry.tools), dict(registry.resources), dict(registry.prompts)
        self.compiled = dict(self.own.compiled)

    def add(self, mounted: MountedOffers) -> dict[int, Any]:
        """Add the offers of a server. Returns its own contracts by the identity of those that are shown."""
        registry, origins = mounted.offers.registry, dict[int, Any]()
        for kind, known, contracts in (
            (Kind.TOOL, self.tools, registry.tools),
            (Kind.PROMPT, self.prompts, registry.prompts),
            (Kind.RESOURCE, self.resources, registry.resources),
        ):
            for name, contract in contracts.items():
                shown = name if kind is Kind.RESOURCE else mounted.shown(name)
                reason = _find_refusal(kind, shown, known)
                if reason is not None:
                    self.clash(shown, reason)
                    continue
                renamed = contract if shown == name else replace(contract, name=shown)
                known[shown] = renamed
                tool = replace(mounted.offers.compiled[kind, name], name=shown, contract=renamed)
                if isinstance(renamed, ToolContract) and shown != name:
                    tool = replace(tool, fingerprint=fingerprint(renamed).whole)
                self.compiled[kind, shown] = tool
                origins[id(renamed)] = contract
        return origins


def _find_refusal(kind: Kind, name: str, known: Mapping[str, Any]) -> str | None:
    if name in known:
        return "is offered twice; mount one of the servers with another prefix, or rename it"
    try:
        if kind is not Kind.RESOURCE:
            check_name(name)
    except ContractRefused as exc:
        return f"cannot be offered: {exc}; use a shorter prefix"
    return None


def compose(own: Offers, mounted: Sequence[MountedOffers], clash: Clash) -> Composed:
    """The offers of a server and of those that are mounted in it, in this order."""
    if not mounted:
        return Composed(offers=own)
    draft = _Draft(own, clash)
    origins = tuple(MappingProxyType(draft.add(each)) for each in mounted)
    completion = _compose_completion(own, mounted)
    if completion is not None:
        draft.compiled[Kind.COMPLETION, COMPLETION] = completion
    templates = (*own.templates, *(each for server in mounted for each in server.offers.templates))
    registry = Registry(
        tools=MappingProxyType(draft.tools),
        resources=MappingProxyType(draft.resources),
        prompts=MappingProxyType(draft.prompts),
    )
    offers = replace(own, registry=registry, compiled=MappingProxyType(draft.compiled), templates=templates)
    return Composed(offers=offers, origins=origins)


def _compose_completion(own: Offers, mounted: Sequence[MountedOffers]) -> CompiledTool | None:
    """Completion that asks the server whose prompt or resource is completed."""
    key = (Kind.COMPLETION, COMPLETION)
    servers = [each for each in (MountedOffers(prefix="", offers=own), *mounted) if key in each.offers.compiled]
    if not servers or servers == [MountedOffers(prefix="", offers=own)]:
        return None

    async def complete(arguments: JsonObject, call: CallContext) -> Any:
        for server in servers:
            ref = _own_ref(arguments["ref"], server)
            if ref is not None:
                tool, given = server.offers.compiled[key], {**arguments, "ref": ref}
                return await (tool.handler(given, call) if tool.is_async else asyncio.to_thread(tool.handler, given, call))
        return {"completion": {"values": [], "total": 0, "hasMore": False}}

    return replace(servers[0].offers.compiled[key], handler=complete, is_async=True)


def _own_ref(ref: JsonObject, server: MountedOffers) -> JsonObject | None:
    """What a reference of a client means in one server; None if it means nothing there."""
    registry = server.offers.registry
    if ref.get("type") == "ref/prompt":
        return next(({**ref, "name": name} for name in registry.prompts if server.shown(name) == ref.get("name")), None)
    return ref if ref.get("uri") in registry.resources else None
