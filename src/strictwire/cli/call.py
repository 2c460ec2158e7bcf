"""`strictwire call`: calls a tool of any server and prints the result."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from strictwire.canon.json import JsonObject, NotStrict, indent, parse, parse_object, render
from strictwire.cli import remote
from strictwire.cli.target import TARGETS, TargetRefused
from strictwire.fault.escape import for_json_lines, for_terminal, for_terminal_lines

if TYPE_CHECKING:
    from strictwire.client.errors import ToolFailed
    from strictwire.server.client.client import Client

EXAMPLES: Final = f"""examples:
  strictwire call my_module:server add --a 1 --b 2
  strictwire call 'npx -y some-server' search --query 'red shoes' --limit 5
  strictwire call http://127.0.0.1:8808/mcp add --json '{{"a": 1, "b": 2}}'

Each --NAME VALUE is an argument of the tool. A value is JSON, or text if the argument is a string.

{TARGETS}
exit codes: 0 success, 1 the tool or the server failed, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options. The arguments of the tool come after its name."""
    remote.add_session(parser)
    parser.add_argument("tool", metavar="TOOL", help="the name of the tool")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="--NAME VALUE", help="arguments of the tool, or --json OBJECT"
    )


def run(arguments: argparse.Namespace) -> int:
    """Call the tool and print its result."""
    return remote.run_client("call", arguments, lambda client: _call(client, arguments.tool, arguments.arguments))


async def _call(client: Client, tool: str, words: Sequence[str]) -> int:
    from strictwire.client.errors import ToolFailed

    tools = {each.name: each for each in await client.list_tools()}
    if tool not in tools:
        near = difflib.get_close_matches(tool, tools, n=1)
        known = for_terminal(", ".join(tools))
        raise TargetRefused(f"no tool {tool!r}; " + (f"did you mean {near[0]!r}?" if near else f"tools: {known}"))
    given = read_arguments(words, tools[tool].input_schema)
    try:
        return _show((await client.call_tool(tool, given)).raw)
    except ToolFailed as exc:
        return _show_failure(exc)


def read_arguments(words: Sequence[str], schema: Any) -> JsonObject:
    """The arguments of a call from `--name value` words. Raises TargetRefused."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    given: JsonObject = {}
    rest = list(words)
    while rest:
        name, separator, value = rest.pop(0).partition("=")
        if not name.startswith("--") or (not separator and not rest):
            raise TargetRefused(f"{name!r}: expected --NAME VALUE for each argument of the tool")
        value = value if separator else rest.pop(0)
        if name == "--json":
            given |= _object(value)
        else:
            given[name.removeprefix("--")] = _value(value, properties.get(name.removeprefix("--")))
    return given


def _object(text: str) -> JsonObject:
    try:
        return parse_object(text.encode())
    except NotStrict as exc:
        raise TargetRefused(f"--json: expected a JSON object; {exc}") from exc


def _value(text: str, schema: Any) -> Any:
    """A value as JSON; as text if the argument is a string, or if it is no JSON."""
    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    try:
        return parse(text.encode())
    except NotStrict:
        return text


def _show(result: JsonObject) -> int:
    if "structuredContent" in result:
        print(for_json_lines(indent(render(result["structuredContent"])).decode()))
    for item in result.get("content", ()):
        is_copy = "structuredContent" in result and item.get("type") == "text"
        if not is_copy:
            print(_printed(_item(item)))
    return 0


def _printed(text: str) -> str:
    """As it is for a file or another program; without control characters for a terminal."""
    return for_terminal_lines(text.expandtabs()) if sys.stdout.isatty() else text


def _item(item: JsonObject) -> str:
    if item.get("type") == "text":
        return str(item.get("text"))
    size = len(str(item.get("data", ""))) * 3 // 4
    return f"[{item.get('type')} {item.get('mimeType', '')} {size} bytes]" if size else render(item).decode()


def _show_failure(failed: ToolFailed) -> int:
    from strictwire.fault.dialects.terminal import render_text
    from strictwire.fault.failure import Facts

    print(render_text(failed.failure, Facts(tool=failed.what)), file=sys.stderr)
    return 1
