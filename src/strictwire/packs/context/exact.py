"""The frozen stdio surface of v0, byte for byte: one line in, at most one line out.

Protocol 2024-11-05, three tools, text items, no `isError` on success. It is a separate small server because none of the
features of the general server may be visible: no version negotiation, no structured content, no errors except the six.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import (
    JsonObject,
    JsonValue,
    Limits,
    NotStrict,
    parse_object,
    render,
    render_sorted,
    slice_members,
)
from strictwire.fault.dialects import resolve_v0
from strictwire.fault.failure import Facts, Failure, Refused, fail
from strictwire.packs.context.arguments import read_cache_name, read_resolve_request
from strictwire.packs.context.inspection import inspect_leniently, list_caches
from strictwire.packs.context.library import Library
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.select import select

MAX_LINE: Final = 1_048_576
"""Longest message in bytes, including its newline."""

TIMEOUT_SECONDS: Final = 30.0
"""Time limit of one context.resolve; after it the answer is `internal_error`."""

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602

_I64: Final = range(-(1 << 63), 1 << 63)
_CACHE: Final = {"description": "Name of a cache, relative to the cache root", "type": "string"}

TOOLS: Final[tuple[JsonObject, ...]] = (
    {
        "name": "context.resolve",
        "description": "Select documents of a cache for a query within a token budget",
        "inputSchema": {
            "type": "object",
            "required": ["cache", "query", "budget"],
            "properties": {
                "cache": _CACHE,
                "query": {"description": "Words to look for", "type": "string"},
                "budget": {"description": "Most tokens to select", "type": "integer", "minimum": 0},
            },
        },
    },
    {
        "name": "context.list_caches",
        "description": "List the caches under the cache root",
        "inputSchema": {"type": "object", "properties": {}},
    },
    {
        "name": "context.inspect_cache",
        "description": "Tell version, size and validity of a cache",
        "inputSchema": {"type": "object", "required": ["cache"], "properties": {"cache": _CACHE}},
    },
)
"""The tools in the order of tools/list. The texts are part of the frozen surface."""

_INITIALIZED: Final[JsonObject] = {
    "capabilities": {"tools": {}},
    "protocolVersion": "2024-11-05",
    "serverInfo": {"name": "mcp-context-server", "version": "0.1.0"},
}


class ExactSurface:
    """One connection. Requests are answered strictly one after another."""

    def __init__(self, library: Library, *, timeout: float = TIMEOUT_SECONDS, executor: Executor | None = None) -> None:
        self._library = library
        self._timeout = timeout
        self._executor = executor or ThreadPoolExecutor(thread_name_prefix="resolve")
        self._is_initialized = False
        self._methods: Mapping[str, Callable[[JsonObject, bytes], bytes]] = MappingProxyType(
            {
                "initialize": self._initialize,
                "ping": lambda _message, _raw: b"{}",
                "tools/list": lambda _message, _raw: render_sorted({"tools": list(TOOLS)}),
                "tools/call": self._call,
            }
        )

    def answer_line(self, raw: bytes) -> bytes | None:
        """Return the answer to one line, without a newline, or None if there is no answer.

        1. a blank line has no answer; 2. size and strict JSON; 3. message shape; 4. JSON-RPC version; 5. a notification has
        no answer; 6. `initialize` must come first; 7. the method.
        """
        if not raw.strip(b" \t\r\n"):
            return None
        message = None if len(raw.rstrip(b"\n")) >= MAX_LINE else _read_message(raw)
        if message is None:
            return self.refuse_line()
        number = message.get("id")
        if message["jsonrpc"] != "2.0":
            return _error(number, _INVALID_REQUEST, "Invalid request")
        if number is None:
            return None
        if not self._is_initialized and message["method"] != "initialize":
            return _error(number, _INVALID_REQUEST, "Server not initialized")
        return self._dispatch(message, raw)

    def refuse_line(self) -> bytes:
        """Return the answer to a line that cannot be parsed or is longer than MAX_LINE."""
        return _error(None, _PARSE_ERROR, "Parse error")

    def refuse_call(self, raw: bytes, failure: Failure) -> bytes:
        """Return a failure instead of the answer to a tools/call, if it could not be recorded or the server failed."""
        message = _read_message(raw) or {}
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (render(message.get("id")), _failure(failure))

    def _dispatch(self, message: JsonObject, raw: bytes) -> bytes:
        method = self._methods.get(message["method"])
        if method is None:
            return _error(message["id"], _METHOD_NOT_FOUND, "Method not found")
        try:
            result = method(message, raw)
        except _BadParams:
            return _error(message["id"], _INVALID_PARAMS, "Invalid params")
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (render(message["id"]), result)

    def _initialize(self, _message: JsonObject, _raw: bytes) -> bytes:
        self._is_initialized = True
        return render_sorted(_INITIALIZED)

    def _call(self, message: JsonObject, raw: bytes) -> bytes:
        params = message.get("params")
        if not isinstance(params, dict) or not isinstance(params.get("name"), str):
            raise _BadParams
        given = params.get("arguments")
        arguments = given if isinstance(given, dict) else {}
        if arguments.get("budget") == 0 and _is_minus_zero(raw):
            arguments = {**arguments, "budget": None}
        try:
            return _text(self._run(params["name"], arguments))
        except Refused as refused:
            return _failure(refused.failure)
        except _UnknownTool:
            return _text(f"Unknown tool: {params['name']}".encode(), is_error=True)
        except Exception:  # noqa: BLE001 - this surface is its own runtime: a bug must become `internal_error`
            return _failure(fail("INTERNAL"))

    def _run(self, name: str, arguments: Mapping[str, JsonValue]) -> bytes:
        tools: Mapping[str, Callable[[Mapping[str, JsonValue]], bytes]] = {
            "context.resolve": self._resolve_in_time,
            "context.list_caches": lambda _arguments: render(list_caches(self._library.root)),
            "context.inspect_cache": self._inspect,
            "health": lambda _arguments: b'{"status":"ok"}',
        }
        if name not in tools:
            raise _UnknownTool
        return tools[name](arguments)

    def _resolve_in_time(self, arguments: Mapping[str, JsonValue]) -> bytes:
        """Resolve within the time limit. A load that takes longer continues, so the next call finds the cache loaded."""
        try:
            return self._executor.submit(self._resolve, arguments).result(self._timeout)
        except TimeoutError:
            raise Refused(fail("INTERNAL")) from None

    def _resolve(self, arguments: Mapping[str, JsonValue]) -> bytes:
        request = read_resolve_request(arguments)
        index = self._library.open(request.cache).index
        return render_selection(index, select(index, request.query, request.budget)) + b"\n"

    def _inspect(self, arguments: Mapping[str, JsonValue]) -> bytes:
        return render(asdict(inspect_leniently(resolve_name(self._library.root, read_cache_name(arguments)))))


class _BadParams(Exception):
    """The params of tools/call have no readable name."""


class _UnknownTool(Exception):
    """The tool name is unknown."""


def _read_message(raw: bytes) -> JsonObject | None:
    """Parse the envelope. Returns None if it is not a JSON object with `jsonrpc` and `method` as strings, or if its id is
    neither a string nor a 64-bit integer."""
    try:
        message = parse_object(raw, Limits(size=MAX_LINE))
    except NotStrict:
        return None
    number = message.get("id")
    readable = number is None or isinstance(number, str) or (type(number) is int and number in _I64)
    return message if readable and all(isinstance(message.get(name), str) for name in ("jsonrpc", "method")) else None


def _is_minus_zero(raw: bytes) -> bool:
    """Return whether the budget is spelled `-0`. It parses as 0 but is not an unsigned integer; only the bytes differ."""
    budget = slice_members(slice_members(slice_members(raw)["params"])["arguments"])["budget"]
    return budget.startswith(b"-")


def _text(text: bytes, *, is_error: bool = False) -> bytes:
    suffix = b',"isError":true' if is_error else b""
    return b'{"content":[{"text":%b,"type":"text"}]%b}' % (render(text.decode()), suffix)


def _failure(failure: Failure) -> bytes:
    return _text(render(resolve_v0.render(failure, Facts())) + b"\n", is_error=True)


def _error(number: JsonValue, code: int, message: str) -> bytes:
    return render({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})
