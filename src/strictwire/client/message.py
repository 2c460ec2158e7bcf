"""The messages that a client sends in each era, and the reading of responses. No I/O.

Modern (2026-07-28): every request carries the version, the capabilities and the client info. Legacy (2025-11-25 and older):
`initialize` carries them once.
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
from strictwire.wire.names import NAMED_BY
from strictwire.wire.revisions import LATEST_LEGACY, MODERN

MODERN_VERSION: Final = MODERN
"""The stateless revision, which the client tries first."""

LEGACY_VERSION: Final = LATEST_LEGACY
"""The newest revision with `initialize`, which the client requests if the server does not support the modern one."""

META: Final = "io.modelcontextprotocol/"
"""Prefix of the members of `_meta` that the protocol defines."""

RESPONSE_LIMITS: Final = json.Limits(size=8 * 1024 * 1024, values=500_000)
"""A response may be twice as large as a request: a gateway must read a message to refuse it with the right failure."""

_PLAIN_HEADER: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""Printable ASCII without spaces at the ends, which HTTP would strip."""

_ENCODED_HEADER: Final = re.compile(r"=\?base64\?.*\?=")
"""A value in the form of an encoded one. It must be encoded too, otherwise the server would decode it."""


class Era(StrEnum):
    """The two incompatible generations of MCP."""

    MODERN = "modern"
    """Stateless: 2026-07-28."""
    LEGACY = "legacy"
    """With sessions: 2025-11-25 and older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a request. A tool that failed also has a result, with `isError` in `value`."""

    value: JsonObject
    raw: bytes
    """The bytes of the whole response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteError:
    """The error response of the server."""

    code: int
    message: str
    data: JsonValue = None
    raw: bytes = b""


Reply: TypeAlias = Result | RemoteError


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiated:
    """The result of the negotiation."""

    era: Era
    version: str
    opening: Result
    """The result of `server/discover` or `initialize`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Name, version and capabilities that the client sends to servers."""

    name: str = "strictwire"
    version: str = "0"
    capabilities: Mapping[str, JsonValue] | None = None
    """What the server may request. A gateway passes the capabilities of its own client, never more."""


def modern_params(params: Mapping[str, JsonValue], identity: Identity, version: str = MODERN_VERSION) -> JsonObject:
    """Add the members of `_meta` that the modern era requires. Members that the caller set are kept."""
    given = params.get("_meta")
    meta: JsonObject = {
        f"{META}protocolVersion": version,
        f"{META}clientCapabilities": dict(identity.capabilities or {}),
        f"{META}clientInfo": {"name": identity.name, "version": identity.version},
    }
    return {**params, "_meta": meta | (given if isinstance(given, dict) else {})}


def initialize_params(identity: Identity, version: str = LEGACY_VERSION) -> JsonObject:
    """The params of `initialize`, which opens a legacy session."""
    return {
        "protocolVersion": version,
        "capabilities": dict(identity.capabilities or {}),
        "clientInfo": {"name": identity.name, "version": identity.version},
    }


def request(request_id: int | str, method: str, params: Mapping[str, JsonValue]) -> JsonObject:
    """Make a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, JsonValue]) -> JsonObject:
    """Make a JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method, "params": dict(params)}


def modern_headers(message: Mapping[str, JsonValue], version: str = MODERN_VERSION) -> dict[str, str]:
    """The headers of a modern POST, which repeat members of its body."""
    headers = {"MCP-Protocol-Version": version}
    method, params = message.get("method"), message.get("params")
    if isinstance(method, str):
        headers["Mcp-Method"] = method
        name = params.get(NAMED_BY.get(method, "")) if isinstance(params, dict) else None
        if isinstance(name, str):
            headers["Mcp-Name"] = header_value(name)
    return headers


def header_value(text: str) -> str:
    """Encode a text as a header value. A text that a header cannot carry becomes `=?base64?...?=`, as MCP specifies."""
    if _PLAIN_HEADER.fullmatch(text) and not _ENCODED_HEADER.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def parse_message(raw: bytes) -> JsonObject:
    """Decode one message, which must be a strict JSON object. Raises NotUnderstood."""
    try:
        return json.parse_object(raw, RESPONSE_LIMITS)
    except json.NotStrict as exc:
        raise NotUnderstood(str(exc), raw) from exc


def read_reply(message: JsonObject, raw: bytes) -> Reply:
    """Read the result or the error of a response. Raises NotUnderstood: it has both or neither, or one is malformed."""
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict) and "error" not in message:
        return Result(value=result, raw=raw)
    if isinstance(error, dict) and "result" not in message:
        code, text = error.get("code"), error.get("message")
        if type(code) is int and isinstance(text, str):
            return RemoteError(code=code, message=text, data=error.get("data"), raw=raw)
    raise NotUnderstood("the response does not have exactly one valid result or error", raw)


def is_response(message: Mapping[str, JsonValue]) -> bool:
    """Whether the message is a response: it has a result or an error, and no method."""
    return "method" not in message and ("result" in message or "error" in message)


def id_key(request_id: JsonValue) -> tuple[str, JsonValue] | None:
    """A dictionary key for a request id: its type and value. None if it is not a string or an integer."""
    if type(request_id) is int or isinstance(request_id, str):
        return type(request_id).__name__, request_id
    return None
