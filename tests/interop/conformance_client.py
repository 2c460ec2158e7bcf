"""The program that the official suite runs to judge our client: `conformance_client.py URL`, scenario in the environment.

It uses only `strictwire.Client`, as any program would.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from strictwire import Client, Tool

VERSION: Final = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
"""The revision that the suite plays a server of."""

CONTEXT: Final[dict[str, Any]] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")


def example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that an input schema accepts: one value for each required property."""
    samples = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: samples.get(properties.get(name, {}).get("type"), "text") for name in schema.get("required", ())}


async def call_all(client: Client) -> None:
    """List everything that the server has, and use it."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, example(tool.input_schema))
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name, {each.name: "text" for each in prompt.arguments})


async def list_only(client: Client) -> None:
    """List the tools and call none."""
    await client.list_tools()


async def call_in_context(client: Client) -> None:
    """Make the calls that the suite names."""
    await client.list_tools()
    for each in CONTEXT["toolCalls"]:
        await client.call_tool(each["name"], each["arguments"])


async def call_parallel(client: Client) -> None:
    """Call every tool at the same time, so that the rounds of one must not mix with those of another."""
    tools = await client.list_tools()
    await asyncio.gather(*(client.call_tool(tool.name, example(tool.input_schema)) for tool in tools))


async def echo_schema(client: Client) -> None:
    """Send back the schema of the first tool, as the client received it."""
    tools: dict[str, Tool] = {tool.name: tool for tool in await client.list_tools()}
    echo = tools.pop("json_schema_echo")
    (focal,) = tools.values()
    await client.call_tool(echo.name, {"schema": focal.input_schema})


SCENARIOS: Final[Mapping[str, Callable[[Client], Awaitable[None]]]] = {
    "http-custom-headers": call_in_context,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2322-client-request-state": call_parallel,
}
"""Scenarios that need more than `call_all`."""


async def main(url: str) -> None:
    """Play one scenario. The suite judges what its server received."""
    client = Client(
        url,
        era="modern" if VERSION >= "2026" else "legacy",
        timeout=20,
        on_elicit=lambda _form: {},
        on_sample=lambda _asked: "text",
        roots=["file:///tmp"],
    )
    async with client:
        await SCENARIOS.get(os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), call_all)(client)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
