"""`Server`: the API for writing an MCP server whose tools have contracts.

from strictwire import Server

server = Server("clock", version="1.0.0")

@server.tool()
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b

if __name__ == "__main__":
    server.run()
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, overload

from strictwire.contract.handler import Handler
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.catalog import Catalog, DerivedCatalog, Offers
from strictwire.profiles.mcp.header_echo import mirrored_arguments
from strictwire.profiles.mcp.identity import Identity
from strictwire.server.adapting import Adaptation, adapt, check_source, read_filter
from strictwire.server.assembly import ServerParts, open_server
from strictwire.server.declare.context import NO_LIFESPAN
from strictwire.server.declare.docstrings import read_docstring
from strictwire.server.declare.lifespan import Lifespan, read_lifespan
from strictwire.server.declare.options import ToolOptions, tags_of
from strictwire.server.declare.parameters import read_parameters
from strictwire.server.declare.prompt import completion_handler, prompt_arguments, prompt_handler
from strictwire.server.declare.refused import Place, name_of, place_of
from strictwire.server.declare.resource import resource_handler
from strictwire.server.declare.tool import declare_tool
from strictwire.server.middleware import Middleware, read_middleware
from strictwire.server.mounting import PREFIX, Clash, MountedOffers, compose, ignore_clash, refuse_clash
from strictwire.server.transforming import Argument, Hidden, Transform

if TYPE_CHECKING:
    from strictwire.client.session import Session, SessionOptions
    from strictwire.server.openapi.response import HttpClient
    from strictwire.transport.http.asgi import AsgiApp

Function = TypeVar("Function", bound=Callable[..., Any])


class ServerOptions(TypedDict, total=False):
    """The options of a server that is made from something else."""

    title: str | None
    instructions: str | None
    lifespan: Lifespan | None
    middleware: Sequence[Middleware]
    include_tags: Collection[str]
    exclude_tags: Collection[str]


class Server:
    """An MCP server. Tools, resources and prompts can be added and removed while it runs; it notifies its clients."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        instructions: str | None = None,
        lifespan: Lifespan | None = None,
        middleware: Sequence[Middleware] = (),
        include_tags: Collection[str] = (),
        exclude_tags: Collection[str] = (),
    ) -> None:
        """`lifespan` opens what the server needs, yields it, and closes it. `middleware` runs around calls and lists,
        outermost first. With `include_tags` the server offers only what has one of these tags; `exclude_tags` leaves out
        what has one of them. Raises DeclarationRefused.
        """
        self.identity = Identity(name=name, version=version, title=title, instructions=instructions)
        self._own = Catalog(Offers())
        self._mounts: tuple[tuple[str, Server], ...] = ()
        self._is_mounted = False
        self._adaptation = Adaptation(tags=read_filter(include_tags, exclude_tags, Place(function=f"Server({name!r})")))
        self.catalog: Catalog = self._own
        """What the server offers: its own and what is mounted in it, transformed and filtered."""
        if self._adaptation:
            self._derive_catalog()
        self._middleware = read_middleware(middleware)
        self._lifespan = None if lifespan is None else read_lifespan(lifespan)
        self.skipped: Mapping[str, str] = {}
        """Operations that `from_openapi` left out, and why."""
        self.editor: Callable[[], EditorFacts] | None = None
        """What `server/info` of `editor/0.1` reports, if a pack knows."""

    def add_instructions(self, text: str) -> None:
        """Add a paragraph to the instructions for clients. Clients that are connected already keep theirs."""
        known = [self.identity.instructions] if self.identity.instructions else []
        self.identity = replace(self.identity, instructions="\n\n".join([*known, text]))

    def describe_editor(self, facts: Callable[[], EditorFacts]) -> None:
        """Report these facts in `server/info` of `editor/0.1`. They are asked for on every request."""
        self.editor = facts

    @property
    def _state(self) -> Any:
        """The type that the lifespan yields."""
        return NO_LIFESPAN if self._lifespan is None else self._lifespan.yields

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...

    def tool(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Add a function as a tool. Its type hints define the contract. `declare.options` documents the options.

        Raises DeclarationRefused, ContractRefused or SchemaRefused: the contract is invalid.
        """

        def decorate(function: Function) -> Function:
            contract, handler = declare_tool(function, options, self._state)
            with _named(function):
                self.add_tool(contract, handler)
            return function

        return _decorate("tool", decorate, function)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        mime_type: str | None = None,
        tags: Collection[str] = (),
    ) -> Callable[[Function], Function]:
        """Add a function as a resource. Its parameters are the variables of the URI template; it returns text or bytes.

        A template has `{name}` for one path segment, `{+name}` for several, and `{?name}` for members of the query.
        Raises DeclarationRefused or ContractRefused.
        """
        if not isinstance(uri, str):
            raise place_of(uri).refuse("@server.resource needs the URI: write @server.resource('notes://{id}')")

        def decorate(function: Function) -> Function:
            contract = ResourceContract(
                uri=uri,
                name=name or function.__name__,
                description=read_docstring(function).summary if description is None else description,
                title=title,
                mime_type=mime_type,
                tags=tags_of(tags, place_of(function)),
            )
            with _named(function):
                self._check_free("resources", uri)
                handler = resource_handler(function, contract, self._state)
                self._own.change(lambda offers: offers.with_resource(contract, handler), "resources")
            return function

        return decorate

    @overload
    def prompt(self, function: Function, /) -> Function: ...

    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        tags: Collection[str] = (),
    ) -> Callable[[Function], Function]: ...

    def prompt(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        tags: Collection[str] = (),
    ) -> Any:
        """Add a function as a prompt. Its parameters are the arguments; it returns text or messages.

        Clients pass strings, which are converted to the types of the parameters. Raises DeclarationRefused or
        ContractRefused.
        """

        def decorate(function: Function) -> Function:
            parameters = read_parameters(function, self._state)
            contract = PromptContract(
                name=name or function.__name__,
                description=read_docstring(function).summary if description is None else description,
                title=title,
                arguments=prompt_arguments(parameters),
                tags=tags_of(tags, place_of(function)),
            )
            handler = prompt_handler(function, contract, parameters)
            with _named(function):
                self._check_free("prompts", contract.name)
                self._own.change(lambda offers: offers.with_prompt(contract, handler), "prompts")
            return function

        return _decorate("prompt", decorate, function)

    def completion(self, function: Function) -> Function:
        """Add a completion function: `function(ref, argument, context)` returns matching values, best first."""
        self._own.change(lambda offers: offers.with_completion(completion_handler(function)), "completions")
        return function

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Add a tool with its contract and handler. Raises ContractRefused or SchemaRefused."""
        mirrored_arguments(contract.input_schema)  # raises if `x-mcp-header` is used wrongly
        self._check_free("tools", contract.name)
        self._own.add_tool(contract, handler)

    def remove_tool(self, name: str) -> None:
        """Remove a tool. An unknown name is ignored."""
        self._own.change(lambda offers: offers.without_tool(name), "tools")

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt. An unknown name is ignored."""
        self._own.change(lambda offers: offers.without_prompt(name), "prompts")

    def resource_changed(self, uri: str) -> None:
        """Notify subscribed clients that a resource has changed."""
        self._own.announce("resources", uri)

    @classmethod
    def from_openapi(
        cls,
        document: Mapping[str, Any] | str | bytes,
        client: HttpClient,
        *,
        name: str | None = None,
        version: str | None = None,
        unsupported: Literal["refuse", "skip"] = "refuse",
        **options: Unpack[ServerOptions],
    ) -> Server:
        """A server with one tool for each operation of an OpenAPI document.

        `client` sends the requests, such as `httpx.AsyncClient(base_url=...)` or an `aiohttp.ClientSession`; it has the
        address and the credentials. Name and version are by default those of the document. `unsupported="skip"` leaves
        operations out that cannot be tools, and logs why; `server.skipped` lists them. Raises DeclarationRefused.
        """
        # Imported here because few servers need it.
        from strictwire.server.openapi.tools import read_api

        api = read_api(document, client, unsupported)
        server = cls(name or api.name, version=version or api.version, **options)
        server.skipped = api.skipped
        for contract, handler in api.tools:
            server.add_tool(contract, handler)
        return server

    @classmethod
    def from_fastmcp(
        cls,
        server: Any,
        *,
        middleware: Sequence[Middleware] = (),
        include_tags: Collection[str] = (),
        exclude_tags: Collection[str] = (),
    ) -> Server:
        """A server of FastMCP 4, or an MCPServer of the official SDK, under our contract, in this process.

        Arguments and results are validated against its schemas, and every call is recorded. Its tools are safe only as far
        as their annotations say so. What it adds later is not visible. Raises DeclarationRefused or ContractRefused.
        """
        # Imported here because few servers need it.
        from strictwire.server.foreign import read_foreign

        read = read_foreign(server)
        made = cls(
            read.name,
            version=read.version,
            instructions=read.instructions,
            lifespan=read.lifespan,
            middleware=middleware,
            include_tags=include_tags,
            exclude_tags=exclude_tags,
        )
        for tool, handler in read.tools:
            made.add_tool(tool, handler)
        for resource, handler in read.resources:
            made._own.change(partial(Offers.with_resource, contract=resource, handler=handler), "resources")
        for prompt, handler in read.prompts:
            made._own.change(partial(Offers.with_prompt, contract=prompt, handler=handler), "prompts")
        return made

    @property
    def mounts(self) -> tuple[tuple[str, Server], ...]:
        """The prefix and the server of each mount."""
        return self._mounts

    def mount(self, other: Server, *, prefix: str = "") -> None:
        """Offer what another server offers. Its tools and prompts are called `PREFIX_name`; resources keep their URIs.

        The lifespan, dependencies and middleware of the other server are used for its own calls. What it adds or removes
        later is visible here. Raises DeclarationRefused: a name or URI is taken, or the servers would contain each other.
        """
        place = Place(function=f"mount({other.identity.name!r})")
        if prefix and not PREFIX.fullmatch(prefix):
            raise place.refuse(f"prefix {prefix!r}: use 1 to 32 characters of A-Z a-z 0-9 _ . -, and begin with no sign")
        if self is other or self in _inside(other):
            raise place.refuse(f"{self.identity.name!r} would contain itself; mount only in one direction")
        self._check_not_mounted(place, "mount into it")
        mounts = (*self._mounts, (prefix, other))
        self._offered(mounts, self._adaptation, refuse_clash(place))
        self._mounts, other._is_mounted = mounts, True
        self._derive_catalog()

    def transform_tool(
        self,
        tool: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        tags: Collection[str] | None = None,
        arguments: Mapping[str, Argument | Hidden] = MappingProxyType({}),
    ) -> None:
        """Offer a tool with another name, other texts or other arguments instead of as it is.

        The tool is one of this server, also a mounted one, under the name that clients see. `arguments` maps its argument
        names to `Argument(name=..., description=...)` or `Hidden(value)`. Several transforms of one tool make several
        tools; one without changes keeps the tool beside them. Raises DeclarationRefused.
        """
        place = Place(function=f"transform_tool({tool!r})")
        transform = Transform(
            tool=tool,
            name=name,
            title=title,
            description=description,
            tags=None if tags is None else tags_of(tags, place),
            arguments=MappingProxyType(dict(arguments)),
        )
        self._check_not_mounted(place, "transform its tools")
        check_source(tool, self._offered(self._mounts, Adaptation(), ignore_clash), place)
        adaptation = replace(self._adaptation, transforms=(*self._adaptation.transforms, transform))
        self._offered(self._mounts, adaptation, refuse_clash(place))
        self._adaptation = adaptation
        self._derive_catalog()

    def _offered(self, mounts: Sequence[tuple[str, Server]], adaptation: Adaptation, clash: Clash) -> Offers:
        return adapt(compose(self._own.offers, _mounted_offers(mounts), clash), adaptation, clash).offers

    def _derive_catalog(self) -> None:
        """Compute the catalog from what the server is made of now."""
        if isinstance(self.catalog, DerivedCatalog):
            self.catalog.close()
        sources = [self._own, *(each.catalog for _, each in self._mounts)]
        self.catalog = DerivedCatalog(sources, lambda: self._offered(self._mounts, self._adaptation, ignore_clash))

    def _check_not_mounted(self, place: Place, action: str) -> None:
        """Raises DeclarationRefused: the outer server follows what this server was when it was mounted."""
        if self._is_mounted:
            raise place.refuse(f"{self.identity.name!r} is mounted already; {action} first, and then mount it")

    def _check_free(self, kind: Literal["tools", "resources", "prompts"], name: str) -> None:
        """Raises ContractRefused: a mounted server or a transformed tool has the name."""
        if (self._mounts or self._adaptation.transforms) and name in getattr(self.catalog.offers.registry, kind):
            raise ContractRefused(
                f"{name!r} is taken by a mounted server or a transformed tool; rename it, or mount that with another prefix"
            )

    def open(self, executor: Executor) -> AbstractAsyncContextManager[Catalog]:
        """Start what the server needs while it runs. The transports call it. Raises LifespanFailed."""
        return open_server(self.parts(), executor)

    def parts(self) -> ServerParts:
        """What the server is made of, for the composition root."""
        return ServerParts(
            server=self,
            own=self._own,
            lifespan=self._lifespan,
            middleware=self._middleware,
            adaptation=self._adaptation,
            mounts=tuple((prefix, each.parts()) for prefix, each in self._mounts),
        )

    def asgi(self, *, path: str = "/mcp", config: str | PathLike[str] | None = None) -> AsgiApp:
        """The server as an ASGI application, to run under uvicorn or to mount in Starlette or FastAPI.

        `path` is the path of MCP inside the application. `config` is the settings file; by default strictwire.toml, if it
        exists. In another application, use `app.lifespan` as its lifespan, or enter it there. Raises SettingsRefused.
        """
        # Imported here because tests with MemoryClient do not need the transports.
        from strictwire.server.asgi import make_asgi

        return make_asgi(self, path=path, config=None if config is None else Path(config))

    async def open_session(self, options: SessionOptions) -> Session:
        """Open a session with this server in memory. `Client(server)` uses it. Raises ClientError."""
        # Imported here because a server over stdio or HTTP does not need it.
        from strictwire.server.testing import InMemory

        return await InMemory(self).open_session(options)

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve as the command line says: `--stdio` (the default) or `--http HOST:PORT`. Ends the process."""
        # Imported here because tests with MemoryClient do not need the transports.
        from strictwire.server.run import run_from_arguments

        run_from_arguments(self, argv)


def _inside(server: Server) -> set[Server]:
    """The servers that are mounted in a server, at any depth."""
    return {inner for _, each in server.mounts for inner in (each, *_inside(each))}


def _mounted_offers(mounts: Sequence[tuple[str, Server]]) -> list[MountedOffers]:
    return [MountedOffers(prefix=prefix, offers=each.catalog.offers) for prefix, each in mounts]


@contextmanager
def _named(function: Callable[..., Any]) -> Iterator[None]:
    """Put the name of the function before the reason for which the registry refuses its contract."""
    try:
        yield
    except ContractRefused as exc:
        raise ContractRefused(f"{name_of(function)}: {exc}") from exc


def _decorate(kind: str, decorate: Callable[[Any], Any], function: Any) -> Any:
    """A decorator that works with and without parentheses."""
    if function is None:
        return decorate
    if not callable(function):
        raise Place(function=f"@server.{kind}").refuse(f"{function!r} is not a function; write @server.{kind}(name=...)")
    return decorate(function)
