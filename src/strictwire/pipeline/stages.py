"""The stages around the handler of our own tools.

Before it: may the call start, may this caller make it, do the arguments conform? Each returns the failure, or None; nothing
is coerced, filled in or dropped. After it: does the result keep the tool's promise?
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, NotJson, as_json, render
from strictwire.contract.handler import ABSENT, Answer
from strictwire.contract.task import REQUIRED_CAPABILITIES
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Done, Kind
from strictwire.pipeline.compiled import CompiledTool

log = logging.getLogger("strictwire.verify")

TIERS: Final[Mapping[str, int]] = MappingProxyType(
    {"core": 0, "pro": 1, "tier1": 1, "studio": 2, "tier2": 2, "enterprise": 3, "tier3": 3, "tier4": 4}
)
"""The order of tiers. A tool of an unlisted tier is above all; a caller of one has only that tier and the lowest."""


def admit(tool: CompiledTool, call: Call) -> Failure | None:
    """MISSING_CAPABILITY, or OVERLOADED; None if the call may start: it is counted in `tool.limit` until `leave`."""
    if tool.capabilities:
        missing = tool.capabilities.difference(call.capabilities)
        if missing:
            return fail("MISSING_CAPABILITY", details={"requiredCapabilities": {name: {} for name in sorted(missing)}})
    return None if tool.limit.enter() else fail("OVERLOADED")


def authorise(tool: CompiledTool, call: Call) -> Failure | None:
    """PERMISSION_DENIED by tier or by role."""
    caller = call.caller
    if caller.tier != tool.tier and not allows_tier(caller.tier, tool.tier):
        return fail("PERMISSION_DENIED", details={"requiredTier": tool.tier, "currentTier": caller.tier})
    if tool.roles and caller.role not in tool.roles:
        return fail("PERMISSION_DENIED", details={"requiredRoles": sorted(tool.roles)})
    return None


def refuse_without_task(_tool: CompiledTool, _call: Call) -> Failure | None:
    """MISSING_CAPABILITY: the `authorise` of plain calls of a tool that only runs as a task."""
    return fail("MISSING_CAPABILITY", details={"requiredCapabilities": REQUIRED_CAPABILITIES})


def explain(tool: CompiledTool, call: Call, refused: Failure) -> Failure:
    """The failure of a stage before the handler, with what the handler knows about such a call."""
    known = tool.explainer
    return refused if known is None else known.explain(refused, call.arguments, call.context)


def allows_tier(current: str, required: str) -> bool:
    """Whether a caller of one tier may use a tool of another."""
    return current == required or TIERS.get(required, len(TIERS)) <= TIERS.get(current, 0)


def accept(tool: CompiledTool, call: Call) -> Failure | None:
    """INVALID_PARAMS, with every violation that was found."""
    if tool.input is None or tool.input.accepts(call.arguments):
        return None
    violations = tool.input.find_violations(call.arguments)
    return fail("INVALID_PARAMS", details={"violations": [each.as_details() for each in violations]})


def verify(tool: CompiledTool, _call: Call, returned: object) -> Done | Failure:
    """The result as JSON, or OUTPUT_INVALID or CAP_EXCEEDED. An answer with a memo is checked and rendered once."""
    memo = returned.memo if isinstance(returned, Answer) else None
    if memo is not None and memo.tool is tool:
        known: Done = memo.done
        return known
    done = _verify(tool, returned)
    if memo is not None and isinstance(done, Done):
        memo.done, memo.tool = done, tool
    return done


def _verify(tool: CompiledTool, returned: object) -> Done | Failure:
    try:
        if type(returned) is dict:
            value, raw = as_json(returned)
            done = Done(value=value, raw=raw)
        else:
            done = _as_done(tool, returned)
    except NotJson:
        return _invalid(tool, {"reason": "not_json"})
    beside = len(render(list(done.content))) if done.content and done.structured else 0
    beside += len(render(dict(done.meta))) if done.meta else 0
    if len(done.raw) + beside > tool.caps.response_bytes:
        return fail("CAP_EXCEEDED", details={"limitBytes": tool.caps.response_bytes})
    if tool.output is None:
        return done
    if not done.structured:
        return _invalid(tool, {"reason": "no_structured_content"})
    if tool.output.accepts(done.value):
        return done
    return _invalid(tool, {"violations": [each.as_details() for each in tool.output.find_violations(done.value)]})


def _invalid(tool: CompiledTool, details: JsonObject) -> Failure:
    """OUTPUT_INVALID. The author sees in the log where the result breaks its own schema."""
    log.error("%s %s returned an invalid result: %s", tool.kind.value, tool.name, details)
    return fail("OUTPUT_INVALID", details=details)


def _as_done(tool: CompiledTool, returned: object) -> Done:
    if isinstance(returned, Answer):
        return _from_answer(returned)
    if tool.kind is Kind.TOOL and tool.output is None:
        return _from_loose(returned)
    value, raw = as_json(returned)
    return Done(value=value, raw=raw)


def _from_answer(answer: Answer) -> Done:
    if not isinstance(answer.meta, Mapping) or not all(isinstance(item, Mapping) for item in answer.content):
        raise NotJson("content items and _meta are objects")
    content, raw_content = as_json(list(answer.content))
    meta, _ = as_json(dict(answer.meta))
    items: tuple[JsonObject, ...] = tuple(content) if isinstance(content, list) else ()
    facts = meta if isinstance(meta, dict) else {}
    if answer.structured is ABSENT:
        return Done(value=None, raw=raw_content, content=items, meta=facts, structured=False)
    value, raw = as_json(answer.structured)
    return Done(value=value, raw=raw, content=items, meta=facts)


def _from_loose(returned: object) -> Done:
    """A tool without an output schema: text is content, None is no content, an object is structured."""
    if returned is None:
        return Done(value=None, raw=b"{}", structured=False)
    if isinstance(returned, str):
        value, raw = as_json(returned)
        return Done(value=None, raw=raw, content=({"type": "text", "text": value},), structured=False)
    value, raw = as_json(returned)
    if isinstance(value, dict):
        return Done(value=value, raw=raw)
    text = render(value).decode()
    return Done(value=None, raw=raw, content=({"type": "text", "text": text},), structured=False)
