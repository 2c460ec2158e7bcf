"""Removes one of the author's own servers from the configuration of an MCP client. Pure."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, indent, render
from strictwire.gateway.install.config import Rewritten
from strictwire.sources.client_config import ClientFile, ConfigRefused, read_config

_KEYS: Final = r"(?:(?:#[^\n]*\n|\n)*[^\[#\n][^\n]*\n)*"
"""The lines of a table up to its last key. Comments after it belong to the next table."""


def remove_server(raw: bytes, client: ClientFile, server: str, name: str | None, *, toml: bool) -> Rewritten:
    """Remove the entries that serve `MODULE:NAME`, or only the one of this name. Raises ConfigRefused.

    The module is not imported, so that a server that no longer starts can be removed.
    """
    read = read_config(raw, toml=toml) if raw.strip() else {}
    servers = read.get(client.member, {})
    if not isinstance(servers, dict):
        raise ConfigRefused(f"{client.member!r} is not a table of servers")
    removed = tuple(each for each, entry in servers.items() if name in (None, each) and _serves(entry, server))
    if not removed:
        return Rewritten(text=raw, left={name or server: f"no server of this configuration runs {server}"})
    kept = {each: entry for each, entry in servers.items() if each not in removed}
    wanted = {**read, client.member: kept}
    text = _without_tables(raw, client.member, removed, wanted) if toml else indent(render(wanted)) + b"\n"
    return Rewritten(text=text, changed=removed)


def _serves(entry: JsonValue, server: str) -> bool:
    """Whether an entry starts `strictwire serve MODULE:NAME`, with or without the guard in front."""
    words = entry.get("args") if isinstance(entry, dict) else None
    return isinstance(words, list) and ("serve", server) in pairwise(words)


def _without_tables(raw: bytes, member: str, names: tuple[str, ...], wanted: JsonObject) -> bytes:
    """The text without the tables of these servers, so that comments stay; the result is checked by parsing it."""
    text = raw.decode().rstrip("\n") + "\n"
    for name in names:
        header = rf"\[{re.escape(member)}\.(?:{re.escape(name)}|\"{re.escape(name)}\")(?:\.[^\n]*)?\][^\n]*\n"
        text = re.sub(f"^{header}{_KEYS}", "", text, flags=re.MULTILINE)
    if {member: {}, **tomllib.loads(text)} != wanted:
        raise ConfigRefused("the table of the server cannot be removed; edit the file by hand")
    return text.encode()
