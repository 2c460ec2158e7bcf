"""Lists the tools and calls each one that may be called, before the probes of a variant run.

A tool is called only if it is marked read-only, if the user gave arguments for it, or with `call_all`: testing an unknown
server must not change its data.
"""

from __future__ import annotations

import time
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.safety import is_callable_unasked, safety_of
from strictwire.probe.definition import ProbeContext, ToolCall
from strictwire.probe.observation import ResponseKind
from strictwire.probe.synthesis import maybe_arguments

MAX_PAGES: Final = 20
"""Pages of `tools/list` that are read."""

MAX_CALLS: Final = 40
"""Tools that are called on one variant: enough for nearly every server, and it bounds the time."""


async def list_and_call(context: ProbeContext) -> None:
    """Set the tools and the calls of the context."""
    if "tools" not in context.capabilities:
        return
    context.tools = tuple(await _list(context))
    calls: list[ToolCall] = []
    for tool in context.tools:
        arguments = _maybe_valid_arguments(context, tool)
        if arguments is not None and len(calls) < MAX_CALLS:
            calls.append(await call(context, tool, arguments))
            context.log.append((f"tool {calls[-1].name}", calls[-1].seen))
    context.calls = tuple(calls)


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
        if cursor is None:
            break
    return tools


def _maybe_valid_arguments(context: ProbeContext, tool: JsonObject) -> JsonObject | None:
    """Arguments to call a tool with, or None if it may not be called or no valid arguments are known."""
    given = context.options.tools.get(str(tool["name"]))
    if given is not None:
        return dict(given)
    annotations = tool.get("annotations")
    is_callable = is_callable_unasked(safety_of(annotations if isinstance(annotations, dict) else {}))
    schema = tool.get("inputSchema")
    if not (is_callable or context.options.call_all) or not isinstance(schema, dict):
        return None
    return maybe_arguments(schema)
