"""`strictwire inspect`: shows what any server offers: its tools, resources and prompts."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Protocol

from strictwire.canon.json import JsonObject, indent, render
from strictwire.cli import remote
from strictwire.cli.target import TARGETS
from strictwire.fault.escape import for_json_lines, for_terminal


class Entry(Protocol):
    """An entry of a list."""

    @property
    def raw(self) -> JsonObject:
        """The whole entry."""


if TYPE_CHECKING:
    from strictwire.server.client.client import Client

EXAMPLES: Final = f"""examples:
  strictwire inspect my_module:server
  strictwire inspect 'npx -y some-server' --format json
  strictwire inspect http://127.0.0.1:8808/mcp --header 'Authorization: Bearer TOKEN'

{TARGETS}
exit codes: 0 success, 1 the server cannot be reached, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    remote.add_session(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Print what the server offers."""

    async def show(client: Client) -> int:
        found = await _read(client)
        as_json = arguments.format == "json"
        print(for_json_lines(indent(render(found)).decode()) if as_json else "\n".join(map(for_terminal, _lines(found))))
        return 0

    return remote.run_client("inspect", arguments, show)


async def _read(client: Client) -> JsonObject:
    server = client.server
    found: JsonObject = {
        "server": server.raw,
        "protocolVersion": client.protocol_version,
        "capabilities": client.capabilities,
    }
    if server.instructions:
        found["instructions"] = server.instructions
    lists: dict[str, Callable[[], Awaitable[Iterable[Entry]]]] = {
        "tools": client.list_tools,
        "resources": client.list_resources,
        "resourceTemplates": client.list_resource_templates,
        "prompts": client.list_prompts,
    }
    for member, read in lists.items():
        found[member] = await _entries(read)
    return found


async def _entries(read: Callable[[], Awaitable[Iterable[Entry]]]) -> list[JsonObject]:
    """The entries of a list, as the server sent them. One that the server refuses is empty."""
    from strictwire.client.errors import RequestFailed

    try:
        return [each.raw for each in await read()]
    except RequestFailed:
        return []


def _lines(found: JsonObject) -> Iterator[str]:
    server = found["server"]
    yield f"{server.get('name', 'server')} {server.get('version', '')} (MCP {found['protocolVersion']})"
    if "instructions" in found:
        yield from (f"  {line}" for line in str(found["instructions"]).splitlines())
    for member, title in (("tools", "Tools"), ("resources", "Resources"), ("resourceTemplates", "Resource templates")):
        yield from _section(title, [_entry(each) for each in found[member]])
    yield from _section("Prompts", [_entry(each) for each in found["prompts"]])


def _section(title: str, entries: list[tuple[str, str]]) -> Iterator[str]:
    if entries:
        yield from ("", title)
    for name, text in entries:
        yield f"  {name}"
        if text:
            yield f"      {text}"


def _entry(each: JsonObject) -> tuple[str, str]:
    """The name with its arguments, and the first line of the description."""
    from strictwire.check.render.reference import first_line

    name = str(each.get("uriTemplate") or each.get("uri") or each.get("name"))
    return f"{name}{_arguments(each)}{_safety(each)}", first_line(str(each.get("description") or ""))


def _arguments(each: JsonObject) -> str:
    from strictwire.check.render.reference import members

    if isinstance(each.get("inputSchema"), dict):
        listed = [(name, kind, needed == "yes") for name, kind, needed, _text in members(each["inputSchema"])]
        return "(" + ", ".join(f"{name}: {kind}" if needed else f"[{name}: {kind}]" for name, kind, needed in listed) + ")"
    if "arguments" in each:
        names = [(str(one.get("name")), bool(one.get("required"))) for one in each["arguments"]]
        return "(" + ", ".join(name if needed else f"[{name}]" for name, needed in names) + ")"
    return ""


def _safety(each: JsonObject) -> str:
    from strictwire.contract.safety import safety_of

    return f"  [{safety_of(each.get('annotations') or {}).value}]" if "inputSchema" in each else ""
