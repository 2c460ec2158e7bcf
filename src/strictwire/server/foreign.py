"""`Server.from_fastmcp()`: a server of FastMCP 4, or of the official SDK, under our contract, in this process.

Its lists are read once, when it is wrapped. Its calls go through the in-memory client of its own library, so that its
lifespan, dependencies and middleware work as before. Only public names of the libraries are used, and neither is imported
before a server of it is passed. Not here: calls of tools (`foreign_calls`). Not passed on: log messages.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.contract.safety import safety_of
from strictwire.contract.tags import meta_without_tags, tags_in_meta
from strictwire.contract.tool import PromptArgument, PromptContract, ResourceContract, ToolContract
from strictwire.contract.uri_template import UriTemplate, compile_template
from strictwire.fault.failure import Refused, fail
from strictwire.server.declare.inject import BindableHandler
from strictwire.server.declare.refused import Place
from strictwire.server.foreign_calls import LIBRARIES, ForeignServer, Library, dump, open_foreign

LIST_SECONDS: Final = 30.0
"""How long a server may take to list what it offers."""

PLACE: Final = Place(function="Server.from_fastmcp()")

Value = TypeVar("Value")


_LISTS: Final = ("list_tools", "list_resources", "list_resource_templates", "list_prompts")
_AS_WIRE: Final = ("to_mcp_tool", "to_mcp_resource", "to_mcp_template", "to_mcp_prompt")
"""How the entries of FastMCP become those of the official SDK."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A server of another library, read."""

    name: str
    version: str
    instructions: str | None
    lifespan: Callable[[Any], Any]
    """Opens the client; its value is what the handlers call."""
    tools: tuple[tuple[ToolContract, Handler], ...]
    resources: tuple[tuple[ResourceContract, Handler], ...]
    prompts: tuple[tuple[PromptContract, Handler], ...]


def read_foreign(server: Any) -> Foreign:
    """Read a server. Raises DeclarationRefused: it is no server of a known library, or cannot be listed."""
    library = next((LIBRARIES[name] for name in _packages(type(server)) if name in LIBRARIES), None)
    if library is None or not all(callable(getattr(server, name, None)) for name in _LISTS):
        raise PLACE.refuse(f"{type(server).__name__} is no server; pass a FastMCP, or an MCPServer of the official SDK")
    tools, resources, templates, prompts = _run_apart(_read_lists(server))

    return Foreign(
        name=str(server.name),
        version=str(getattr(server, "version", None) or "0"),
        instructions=getattr(server, "instructions", None),
        lifespan=_lifespan(server, library),
        tools=tuple((_tool(each), _call_tool(each["name"])) for each in tools),
        resources=_with_readers([_resource(each) for each in (*resources, *templates)]),
        prompts=tuple((_prompt(each), _get_prompt(each["name"])) for each in prompts),
    )


def _lifespan(server: Any, library: Library) -> Callable[[Any], Any]:
    @asynccontextmanager
    async def lifespan(_server: Any) -> AsyncIterator[ForeignServer]:
        async with open_foreign(server, library) as opened:
            yield opened

    return lifespan


def _packages(kind: type) -> Iterator[str]:
    """The top-level packages of a class and its bases: an author may have a subclass."""
    for each in kind.__mro__:
        yield each.__module__.partition(".")[0]


async def _read_lists(server: Any) -> tuple[list[JsonObject], ...]:
    async with asyncio.timeout(LIST_SECONDS):
        listed = [await getattr(server, name)() for name in _LISTS]
    return tuple([_as_wire(entry) for entry in entries] for entries in listed)


def _as_wire(entry: Any) -> JsonObject:
    convert = next((getattr(entry, name) for name in _AS_WIRE if hasattr(entry, name)), None)
    return dump(entry if convert is None else convert())


def _run_apart(work: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine on an event loop of its own, whether or not one runs here. Raises DeclarationRefused."""
    results: list[Value] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except Exception as exc:  # noqa: BLE001 - passed on to the caller
            errors.append(exc)

    thread = threading.Thread(target=run, name="strictwire-list")
    thread.start()
    thread.join()
    if errors:
        raise PLACE.refuse(f"its lists cannot be read: {type(errors[0]).__name__}: {errors[0]}") from errors[0]
    return results[0]


def _tool(entry: JsonObject) -> ToolContract:
    annotations = entry.get("annotations") or {}
    return ToolContract(
        name=entry["name"],
        title=entry.get("title"),
        description=entry.get("description", ""),
        input_schema=entry["inputSchema"],
        output_schema=entry.get("outputSchema"),
        annotations=annotations,
        safety=safety_of(annotations),
        tags=tags_in_meta(entry.get("_meta")),
        meta=meta_without_tags(entry.get("_meta", {})),
    )


def _resource(entry: JsonObject) -> ResourceContract:
    return ResourceContract(
        uri=entry.get("uri") or entry["uriTemplate"],
        name=entry["name"],
        title=entry.get("title"),
        description=entry.get("description", ""),
        mime_type=entry.get("mimeType"),
        tags=tags_in_meta(entry.get("_meta")),
        meta=meta_without_tags(entry.get("_meta", {})),
    )


def _prompt(entry: JsonObject) -> PromptContract:
    arguments = tuple(
        PromptArgument(name=each["name"], description=each.get("description", ""), required=each.get("required", False))
        for each in entry.get("arguments", ())
    )
    return PromptContract(
        name=entry["name"],
        title=entry.get("title"),
        description=entry.get("description", ""),
        arguments=arguments,
        tags=tags_in_meta(entry.get("_meta")),
        meta=meta_without_tags(entry.get("_meta", {})),
    )


def _with_server(run: Callable[[ForeignServer, JsonObject, CallContext], Coroutine[Any, Any, Any]]) -> Handler:
    """A handler that gets the running server."""

    def bind(running: Any) -> Handler:
        async def handler(arguments: JsonObject, call: CallContext) -> Any:
            return await run(running.lifespan, arguments, call)

        return handler

    return BindableHandler(bind, ())


def _call_tool(name: str) -> Handler:
    async def run(server: ForeignServer, arguments: JsonObject, call: CallContext) -> Any:
        return await server.call_tool(name, arguments, call)

    return _with_server(run)


def _with_readers(contracts: Sequence[ResourceContract]) -> tuple[tuple[ResourceContract, Handler], ...]:
    """Each resource with its handler. The libraries look for a fixed URI first, then for a template, in this order."""
    fixed = frozenset(each.uri for each in contracts if not each.is_template)
    found, earlier = [], list[UriTemplate]()
    for each in contracts:
        found.append((each, _read_resource(fixed - {each.uri}, tuple(earlier))))
        if each.is_template:
            earlier.append(compile_template(each.uri))
    return tuple(found)


def _read_resource(fixed: frozenset[str], earlier: tuple[UriTemplate, ...]) -> Handler:
    """Read a resource, unless its URI is that of another one.

    The wrapped server has all its resources, also those that a filter leaves out. Through a template that matches, it would
    read one of these.
    """

    async def run(server: ForeignServer, arguments: JsonObject, _call: CallContext) -> JsonObject:
        uri = arguments["uri"]
        if uri in fixed or any(each.match(uri) is not None for each in earlier):
            raise Refused(fail("RESOURCE_NOT_FOUND", details={"uri": uri}))
        result = await server.client.read_resource(uri)
        contents = result if isinstance(result, list) else result.contents
        return {"contents": [dump(each) for each in contents]}

    return _with_server(run)


def _get_prompt(name: str) -> Handler:
    async def run(server: ForeignServer, arguments: JsonObject, _call: CallContext) -> JsonObject:
        result = await server.client.get_prompt(name, arguments)
        shown: JsonObject = {"messages": [dump(each) for each in result.messages]}
        return shown | ({"description": result.description} if result.description else {})

    return _with_server(run)
