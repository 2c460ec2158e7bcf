"""What the server lists, and one call of each tool that may be called. Runs before the probes of a lane.

A tool is called only if it is marked read-only, named by the user, or everything is allowed: a probe of a stranger's
server must not delete anything.
"""

from __future__ import annotations

import time
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.probe.bench import Bench, Called
from strictwire.probe.observation import Kind
from strictwire.probe.synthesis import maybe_arguments

MAX_PAGES: Final = 20
MAX_CALLS: Final = 40
"""Tools called on one lane: enough for nearly every server, and a bound on time."""


async def take(bench: Bench) -> None:
    """Fill in the bench: tools, calls, and why a tool was not called."""
    if "tools" not in bench.capabilities:
        return
    bench.tools = tuple(await _list(bench))
    calls: list[Called] = []
    uncalled: dict[str, str] = {}
    for tool in bench.tools:
        name = str(tool.get("name"))
        reason, arguments = _plan(bench, tool)
        if len(calls) == MAX_CALLS:
            reason = f"more than {MAX_CALLS} tools"
        if reason:
            uncalled[name] = reason
            continue
        calls.append(await call(bench, tool, arguments))
        bench.log.append((f"tool {name}", calls[-1].seen))
    bench.calls, bench.uncalled = tuple(calls), uncalled


async def call(bench: Bench, tool: JsonObject, arguments: JsonObject) -> Called:
    """Call a tool and time it."""
    asked = bench.wire.speaker.request("tools/call", {"name": str(tool["name"]), "arguments": arguments})
    start = time.monotonic()
    seen = await bench.wire.ask(asked)
    return Called(tool=tool, arguments=arguments, seen=seen, seconds=time.monotonic() - start)


async def _list(bench: Bench) -> list[JsonObject]:
    tools: list[JsonObject] = []
    cursor: object = None
    for _ in range(MAX_PAGES):
        params: JsonObject = {} if cursor is None else {"cursor": cursor}
        seen = await bench.wire.ask(bench.wire.speaker.request("tools/list", params))
        bench.log.append(("tools/list", seen))
        page = seen.result.get("tools")
        if seen.kind is not Kind.RESULT or not isinstance(page, list):
            break
        tools += [tool for tool in page if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        cursor = seen.result.get("nextCursor")
        if cursor is None:
            break
    return tools


def _plan(bench: Bench, tool: JsonObject) -> tuple[str, JsonObject]:
    """Why not, or with which arguments."""
    given = bench.options.tools.get(str(tool["name"]))
    if given is not None:
        return "", dict(given)
    annotations = tool.get("annotations")
    is_read_only = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
    if not (is_read_only or bench.options.call_all):
        return "not marked read-only and not named with --tool", {}
    schema = tool.get("inputSchema")
    arguments = maybe_arguments(schema) if isinstance(schema, dict) else None
    if arguments is None:
        return "no fitting arguments were found; give them with --tool", {}
    return "", arguments
