"""Adds one server to the configuration of an MCP client. Pure."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence

from strictwire.canon.json import JsonObject, indent, render
from strictwire.gateway.install.config import Rewritten
from strictwire.sources.client_config import ClientFile, ConfigRefused, read_config


def add_server(
    raw: bytes, client: ClientFile, name: str, command: Sequence[str], env: Mapping[str, str], *, toml: bool
) -> Rewritten:
    """Add a server, or replace the one of that name. An empty file is an empty configuration. Raises ConfigRefused."""
    read = read_config(raw, toml=toml) if raw.strip() else {}
    servers = read.get(client.member, {})
    if not isinstance(servers, dict):
        raise ConfigRefused(f"{client.member!r} is not a table of servers")
    program, *arguments = command
    entry: JsonObject = {"command": program, "args": arguments, "env": dict(env)}
    if servers.get(name) == entry:
        return Rewritten(text=raw, left={name: "it is there already"})
    wanted = {**read, client.member: {**servers, name: entry}}
    if not toml:
        return Rewritten(text=indent(render(wanted)) + b"\n", changed=(name,))
    if name in servers:
        raise ConfigRefused(f"there is a server {name!r} already; remove its table, or choose another --name")
    return Rewritten(text=_with_table(raw, client.member, name, entry, wanted), changed=(name,))


def _with_table(raw: bytes, member: str, name: str, entry: JsonObject, wanted: JsonObject) -> bytes:
    """The text with a table at its end. The strings of JSON are strings of TOML too; the result is checked by parsing it."""
    env = ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in entry["env"].items())
    lines = [
        "",
        f"[{member}.{json.dumps(name)}]",
        f"command = {json.dumps(entry['command'])}",
        f"args = {json.dumps(entry['args'])}",
        f"env = {{ {env} }}",
    ]
    text = raw.decode().rstrip("\n") + "\n" + "\n".join(lines) + "\n"
    if tomllib.loads(text) != wanted:
        raise ConfigRefused("the table of the server cannot be added; edit the file by hand")
    return text.lstrip("\n").encode()
