"""What a server makes of its own offers and those of mounted servers: transformed tools, and the filter by tags.

The same functions adapt what `lint` and `docs` read and what calls run.
"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.contract.registry import Registry
from strictwire.contract.tags import TagFilter, TagsRefused, check_tags
from strictwire.fault.failure import Refused, fail
from strictwire.pipeline.call import COMPLETION, Kind
from strictwire.pipeline.catalog import Offers
from strictwire.pipeline.compiled import CompiledTool
from strictwire.server.declare.refused import Place
from strictwire.server.mounting import Clash, Composed
from strictwire.server.transforming import Transform, TransformRefused, transform_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """How the offers of a server are changed. The transforms of one tool replace it, each with a tool of its own."""

    transforms: tuple[Transform, ...] = ()
    tags: TagFilter = field(default_factory=TagFilter)

    def __bool__(self) -> bool:
        return bool(self.transforms or self.tags)


def adapt(composed: Composed, adaptation: Adaptation, clash: Clash) -> Composed:
    """The offers, changed. `clash` gets a transformed tool that cannot be offered, and the reason."""
    if adaptation.transforms:
        composed = _transform(composed, adaptation.transforms, clash)
    return replace(composed, offers=select(composed.offers, adaptation.tags)) if adaptation.tags else composed


def select(offers: Offers, tags: TagFilter) -> Offers:
    """The offers that a filter allows."""
    registry, left_out = offers.registry, set[tuple[Kind, str]]()

    def kept(kind: Kind, contracts: Mapping[str, Any]) -> Mapping[str, Any]:
        allowed = {name: each for name, each in contracts.items() if tags.allows(each.tags)}
        left_out.update((kind, name) for name in contracts if name not in allowed)
        return MappingProxyType(allowed)

    chosen = Registry(
        tools=kept(Kind.TOOL, registry.tools),
        resources=kept(Kind.RESOURCE, registry.resources),
        prompts=kept(Kind.PROMPT, registry.prompts),
    )
    compiled = {key: tool for key, tool in offers.compiled.items() if key not in left_out}
    completion = compiled.get((Kind.COMPLETION, COMPLETION))
    if completion is not None:
        compiled[Kind.COMPLETION, COMPLETION] = _complete_only(completion, chosen)
    templates = tuple(each for each in offers.templates if (each[1].kind, each[1].name) in compiled)
    return replace(offers, registry=chosen, compiled=MappingProxyType(compiled), templates=templates)


def _complete_only(completion: CompiledTool, registry: Registry) -> CompiledTool:
    """Completion of arguments of what is offered. Other references are unknown, as they are to `prompts/get`."""
    inner = completion.handler

    def check(ref: JsonObject) -> None:
        is_prompt = ref.get("type") == "ref/prompt"
        if is_prompt and ref.get("name") not in registry.prompts:
            raise Refused(fail("UNKNOWN_PROMPT"))
        if not is_prompt and ref.get("uri") not in registry.resources:
            raise Refused(fail("RESOURCE_NOT_FOUND", details={"uri": ref.get("uri")}))

    def complete(arguments: JsonObject, call: CallContext) -> Any:
        check(arguments["ref"])
        return inner(arguments, call)

    async def complete_async(arguments: JsonObject, call: CallContext) -> Any:
        check(arguments["ref"])
        returned: Awaitable[Any] = inner(arguments, call)
        return await returned

    return replace(completion, handler=complete_async if completion.is_async else complete)


def tags_of_offers(offers: Offers) -> frozenset[str]:
    """Every tag of a tool, resource or prompt."""
    registry = offers.registry
    kinds: tuple[Mapping[str, Any], ...] = (registry.tools, registry.resources, registry.prompts)
    return frozenset(tag for contracts in kinds for each in contracts.values() for tag in each.tags)


def read_filter(include: Any, exclude: Any, place: Place) -> TagFilter:
    """The filter that an author gave. Raises DeclarationRefused."""
    try:
        return TagFilter(include=check_tags(include, "include_tags"), exclude=check_tags(exclude, "exclude_tags"))
    except TagsRefused as exc:
        raise place.refuse(str(exc)) from exc


def check_source(tool: str, offers: Offers, place: Place) -> None:
    """Check that a tool that is to be transformed exists. Raises DeclarationRefused."""
    known = offers.registry.tools
    if not isinstance(tool, str):
        raise place.refuse("the first argument is not the name of a tool; write transform_tool('name', ...)")
    if tool not in known:
        near = difflib.get_close_matches(tool, known, n=1)
        raise place.refuse("there is no such tool; " + (f"did you mean {near[0]!r}?" if near else "add it first"))


def _transform(composed: Composed, transforms: Sequence[Transform], clash: Clash) -> Composed:
    """Replace each transformed tool, at its place in the list."""
    offers = composed.offers
    wanted: dict[str, list[Transform]] = {}
    for each in transforms:
        wanted.setdefault(each.tool, []).append(each)
    made: dict[str, CompiledTool] = {}
    origins = [dict(each) for each in composed.origins]
    for name, contract in offers.registry.tools.items():
        tool = offers.compiled[Kind.TOOL, name]
        for version in _versions(tool, wanted.get(name), clash):
            if version.name in made or (version.name != name and _is_kept(version.name, offers, wanted)):
                clash(version.name, "is taken by another tool; give the transformed tool another name")
                continue
            made[version.name] = version
            for known in origins:
                if id(contract) in known:
                    known[id(version.contract)] = known[id(contract)]
    others = {key: tool for key, tool in offers.compiled.items() if key[0] is not Kind.TOOL}
    compiled = {(Kind.TOOL, name): tool for name, tool in made.items()} | others
    contracts: dict[str, Any] = {name: tool.contract for name, tool in made.items()}
    registry = replace(offers.registry, tools=MappingProxyType(contracts))
    adapted = replace(offers, registry=registry, compiled=MappingProxyType(compiled))
    return Composed(offers=adapted, origins=tuple(MappingProxyType(each) for each in origins))


def _is_kept(name: str, offers: Offers, wanted: Mapping[str, object]) -> bool:
    """Whether a tool of this name stays as it is."""
    return name in offers.registry.tools and name not in wanted


def _versions(tool: CompiledTool, transforms: Sequence[Transform] | None, clash: Clash) -> list[CompiledTool]:
    if transforms is None:
        return [tool]
    versions = []
    for each in transforms:
        try:
            versions.append(transform_tool(tool, each))
        except TransformRefused as exc:
            clash(each.name or each.tool, f"cannot be made from {each.tool!r}: {exc}")
    return versions
