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

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Unpack, overload

from strictwire.contract.handler import Handler
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.catalog import Catalog, Offers
from strictwire.profiles.mcp.header_echo import mirrored_arguments
from strictwire.profiles.mcp.identity import Identity
from strictwire.server.declare.docstrings import read_docstring
from strictwire.server.declare.options import ToolOptions
from strictwire.server.declare.parameters import read_parameters
from strictwire.server.declare.prompt import completion_handler, prompt_arguments, prompt_handler
from strictwire.server.declare.refused import Place, place_of
from strictwire.server.declare.resource import resource_handler
from strictwire.server.declare.tool import declare_tool

Function = TypeVar("Function", bound=Callable[..., Any])


class Server:
    """An MCP server. Tools, resources and prompts can be added and removed while it runs; it notifies its clients."""

    def __init__(self, name: str, *, version: str, title: str | None = None, instructions: str | None = None) -> None:
        self.identity = Identity(name=name, version=version, title=title, instructions=instructions)
        self.catalog = Catalog(Offers())
        self.editor: Callable[[], EditorFacts] | None = None
        """What `server/info` of `editor/0.1` reports, if a pack knows."""

    def describe_editor(self, facts: Callable[[], EditorFacts]) -> None:
        """Report these facts in `server/info` of `editor/0.1`. They are asked for on every request."""
        self.editor = facts

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...

    def tool(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Add a function as a tool. Its type hints define the contract. `declare.options` documents the options.

        Raises DeclarationRefused, ContractRefused or SchemaRefused: the contract is invalid.
        """

        def decorate(function: Function) -> Function:
            self.add_tool(*declare_tool(function, options))
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
            )
            handler = resource_handler(function, contract)
            self.catalog.change(lambda offers: offers.with_resource(contract, handler), "resources")
            return function

        return decorate

    @overload
    def prompt(self, function: Function, /) -> Function: ...

    @overload
    def prompt(
        self, /, *, name: str | None = None, description: str | None = None, title: str | None = None
    ) -> Callable[[Function], Function]: ...

    def prompt(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
    ) -> Any:
        """Add a function as a prompt. Its parameters are the arguments; it returns text or messages.

        Clients pass strings, which are converted to the types of the parameters. Raises DeclarationRefused or
        ContractRefused.
        """

        def decorate(function: Function) -> Function:
            parameters = read_parameters(function)
            contract = PromptContract(
                name=name or function.__name__,
                description=read_docstring(function).summary if description is None else description,
                title=title,
                arguments=prompt_arguments(parameters),
            )
            handler = prompt_handler(function, contract, parameters)
            self.catalog.change(lambda offers: offers.with_prompt(contract, handler), "prompts")
            return function

        return _decorate("prompt", decorate, function)

    def completion(self, function: Function) -> Function:
        """Add a completion function: `function(ref, argument, context)` returns matching values, best first."""
        self.catalog.change(lambda offers: offers.with_completion(completion_handler(function)), "completions")
        return function

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Add a tool with its contract and handler. Raises ContractRefused or SchemaRefused."""
        mirrored_arguments(contract.input_schema)  # raises if `x-mcp-header` is used wrongly
        self.catalog.add_tool(contract, handler)

    def remove_tool(self, name: str) -> None:
        """Remove a tool. An unknown name is ignored."""
        self.catalog.change(lambda offers: offers.without_tool(name), "tools")

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt. An unknown name is ignored."""
        self.catalog.change(lambda offers: offers.without_prompt(name), "prompts")

    def resource_changed(self, uri: str) -> None:
        """Notify subscribed clients that a resource has changed."""
        self.catalog.announce("resources", uri)

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve as the command line says: `--stdio` (the default) or `--http HOST:PORT`. Ends the process."""
        # Imported here because tests with MemoryClient do not need the transports.
        from strictwire.server.run import run_from_arguments

        run_from_arguments(self, argv)


def _decorate(kind: str, decorate: Callable[[Any], Any], function: Any) -> Any:
    """A decorator that works with and without parentheses."""
    if function is None:
        return decorate
    if not callable(function):
        raise Place(function=f"@server.{kind}").refuse(f"{function!r} is not a function; write @server.{kind}(name=...)")
    return decorate(function)
