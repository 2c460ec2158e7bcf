"""Lists the tools and calls each one that may be called, before the other probes of tools run.

A tool is called only if it is declared read-only, or with `call_anything`: testing an unknown server must not change its
data. Missing and contradictory hints declare nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.safety import is_callable_unasked, safety_of
from strictwire.probe.definition import ProbeContext, ToolCall
from strictwire.probe.observation import ResponseKind
from strictwire.probe.synthesis import maybe_arguments

MAX_PAGES: Final = 20
"""Pages of `tools/list` that are read."""

MAX_TOOLS: Final = 5_000
"""Tools that are read: five times as many as a client can use."""

MAX_CALLS: Final = 40
"""Tools that are called on one variant: enough for nearly every server, and it bounds the time."""

_UNSAFE: Final = "it is not declared read-only; --call-anything calls it"

CALL_SHARE: Final = 0.4
"""Share of the remaining time that these calls may take: a few slow tools must not use up the time of all probes."""


async def list_and_call(context: ProbeContext) -> None:
    """Set the tools and the calls of the variant."""
    try:
        if "tools" in context.capabilities:
            context.state.tools = tuple(await _list(context))
            await _call_each(context)
    finally:
        context.state.surveyed.set()


async def call(context: ProbeContext, tool: JsonObject, arguments: JsonObject) -> ToolCall:
    """Call a tool and measure the time."""
    message = context.wire.messages.request("tools/call", {"name": str(tool["name"]), "arguments": arguments})
    start = time.monotonic()
    seen = await context.wire.ask(message)
    return ToolCall(tool=tool, arguments=arguments, seen=seen, seconds=time.monotonic() - start)


async def _list(context: ProbeContext) -> list[JsonObject]:
    tools: list[JsonObject] = []
    cursor: object = None
    for _ in range(MAX_PAGES):
        params: JsonObject = {} if cursor is None else {"cursor": cursor}
        seen = await context.wire.ask(context.wire.messages.request("tools/list", params))
        context.log.append(("tools/list", seen))
        page = seen.result.get("tools")
        if seen.kind is not ResponseKind.RESULT or not isinstance(page, list):
            break
        tools += [tool for tool in page if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        cursor = seen.result.get("nextCursor")
        if cursor is None or len(tools) >= MAX_TOOLS:
            break
    return tools[:MAX_TOOLS]


async def _call_each(context: ProbeContext) -> None:
    end = time.monotonic() + CALL_SHARE * min(context.deadline - time.monotonic(), context.options.budget)
    uncalled = context.state.uncalled
    unsafe = frozenset() if context.options.call_anything else _not_read_only(context.state.tools)
    for tool in context.state.tools:
        name = str(tool["name"])
        arguments = _UNSAFE if name in unsafe else _arguments_or_reason(context, tool)
        if isinstance(arguments, str):
            uncalled[name] = arguments
        elif len(context.calls) >= MAX_CALLS:
            uncalled[name] = f"only {MAX_CALLS} tools are called"
        elif time.monotonic() >= end:
            uncalled[name] = "the time budget for calls is used up"
        else:
            made = await call(context, tool, arguments)
            context.state.calls += (made,)
            context.log.append((f"tool {name}", made.seen))
            if made.seen.is_slow:
                uncalled[name] = f"no response within {context.options.seconds:g} s, so its response was not judged"


def _arguments_or_reason(context: ProbeContext, tool: JsonObject) -> JsonObject | str:
    """Arguments to call a tool with, or the reason why it is not called."""
    given = context.options.tools.get(str(tool["name"]))
    if given is not None:
        return dict(given)
    schema = tool.get("inputSchema")
    made = maybe_arguments(schema, context.options.seed) if isinstance(schema, dict) else None
    return "no valid arguments were found for its schema; give some with --tool" if made is None else made


def _not_read_only(tools: Sequence[JsonObject]) -> frozenset[str]:
    """Names of tools that are not declared read-only. A name that is listed twice may reach either tool."""
    return frozenset(str(tool["name"]) for tool in tools if not is_callable_unasked(safety_of(_annotations(tool))))


def _annotations(tool: JsonObject) -> JsonObject:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}
