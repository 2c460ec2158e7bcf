"""What a client says in each era, and how an answer is read. Pure; it moves no bytes.

Modern (2026-07-28): every request carries version, capabilities and identity. Legacy (2025-11-25 and before): a
handshake says them once.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import NotUnderstood

MODERN_VERSION: Final = "2026-07-28"
"""The stateless revision, tried first."""

LEGACY_VERSION: Final = "2025-11-25"
"""The newest revision with a handshake, offered when the first is not spoken."""

META: Final = "io.modelcontextprotocol/"
"""Prefix of the members of `_meta` that the protocol owns."""

ANSWER_LIMITS: Final = json.Limits(size=8 * 1024 * 1024)
"""Answers may be twice as large as requests: a gateway must see what it refuses."""

_NAMED: Final[Mapping[str, str]] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose Mcp-Name header repeats a member of their params."""

_PLAIN_HEADER: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_SENTINEL: Final = re.compile(r"=\?base64\?.*\?=")


class Era(StrEnum):
    """Which of the two handshakes a server speaks."""

    MODERN = "modern"
    LEGACY = "legacy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A request succeeded, as JSON-RPC sees it. `isError` of a tool is in `value`."""

    value: JsonObject
    raw: bytes
    """The whole answer as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteError:
    """The server answered with an error object."""

    code: int
    message: str
    data: JsonValue = None
    raw: bytes = b""


Reply: TypeAlias = Result | RemoteError


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """How this client introduces itself."""

    name: str = "strictwire"
    version: str = "0"
    capabilities: Mapping[str, JsonValue] | None = None
    """What it can do for the server; never more than what its own caller declared."""


def modern_params(params: Mapping[str, JsonValue], identity: Identity, version: str = MODERN_VERSION) -> JsonObject:
    """The params with `_meta` completed; members of `_meta` that the caller set are kept."""
    given = params.get("_meta")
    meta: JsonObject = {
        f"{META}protocolVersion": version,
        f"{META}clientCapabilities": dict(identity.capabilities or {}),
        f"{META}clientInfo": {"name": identity.name, "version": identity.version},
    }
    return {**params, "_meta": meta | (given if isinstance(given, dict) else {})}


def initialize_params(identity: Identity, version: str = LEGACY_VERSION) -> JsonObject:
    """What opens a legacy session."""
    return {
        "protocolVersion": version,
        "capabilities": dict(identity.capabilities or {}),
        "clientInfo": {"name": identity.name, "version": identity.version},
    }


def request(request_id: int | str, method: str, params: Mapping[str, JsonValue]) -> JsonObject:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, JsonValue]) -> JsonObject:
    """A JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method, "params": dict(params)}


def modern_headers(message: Mapping[str, JsonValue], version: str = MODERN_VERSION) -> dict[str, str]:
    """The headers that repeat the body of a modern POST."""
    headers = {"MCP-Protocol-Version": version}
    method, params = message.get("method"), message.get("params")
    if isinstance(method, str):
        headers["Mcp-Method"] = method
        name = params.get(_NAMED.get(method, "")) if isinstance(params, dict) else None
        if isinstance(name, str):
            headers["Mcp-Name"] = header_value(name)
    return headers


def header_value(text: str) -> str:
    """The text as a header value; what a header cannot carry travels as base64 between the sentinels."""
    if _PLAIN_HEADER.fullmatch(text) and not _SENTINEL.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def parse_message(raw: bytes) -> JsonObject:
    """One strict JSON object. Raises NotUnderstood."""
    try:
        return json.parse_object(raw, ANSWER_LIMITS)
    except json.NotStrict as exc:
        raise NotUnderstood(str(exc), raw) from exc


def read_reply(message: JsonObject, raw: bytes) -> Reply:
    """The result or the error of a response. Raises NotUnderstood when it has neither, both or a malformed one."""
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict) and "error" not in message:
        return Result(value=result, raw=raw)
    if isinstance(error, dict) and "result" not in message:
        code, text = error.get("code"), error.get("message")
        if type(code) is int and isinstance(text, str):
            return RemoteError(code=code, message=text, data=error.get("data"), raw=raw)
    raise NotUnderstood("a response has exactly one of result and error", raw)


def is_response(message: Mapping[str, JsonValue]) -> bool:
    """It answers something: it names no method."""
    return "method" not in message and ("result" in message or "error" in message)


def id_key(request_id: JsonValue) -> tuple[str, JsonValue] | None:
    """The id as a key that keeps `1` and `"1"` apart; None when it is no id at all."""
    if type(request_id) is int or isinstance(request_id, str):
        return type(request_id).__name__, request_id
    return None
