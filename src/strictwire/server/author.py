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

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Answer, CallContext, Handler
from strictwire.contract.safety import Safety, SafetyRefused, declare_safety
from strictwire.contract.tool import (
    EMPTY,
    Caps,
    PromptArgument,
    PromptContract,
    ResourceContract,
    ToolContract,
)
from strictwire.fault.failure import Refused, fail
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.catalog import Catalog, Offers, template_pattern
from strictwire.profiles.mcp.header_echo import mirrored_arguments
from strictwire.profiles.mcp.identity import Identity
from strictwire.profiles.mcp.targets import MAX_COMPLETIONS
from strictwire.server.content import CONTENT, Embedded, Text, resource_contents
from strictwire.server.context import Context
from strictwire.server.hints import RESULT, HintRefused, Signature, flatten_models, name_of, read_signature

Function = TypeVar("Function", bound=Callable[..., Any])


class Server:
    """An MCP server. Tools, resources and prompts can be added and removed while it runs; it notifies its clients."""

    def __init__(self, name: str, *, version: str, title: str | None = None, instructions: str | None = None) -> None:
        self.identity = Identity(name=name, version=version, title=title, instructions=instructions)
        self.catalog = Catalog(Offers())
        self.editor: Callable[[], EditorFacts] | None = None
        """What `server/info` of `editor/0.1` reports, if a pack knows."""

    def tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        annotations: Mapping[str, JsonValue] = EMPTY,
        safety: Safety | str | None = None,
        roles: Sequence[str] = (),
        needs: Sequence[str] = (),
        tier: str = "core",
        category: str = "general",
        caps: Caps | None = None,
        dialect: str = "mcp",
        text_json: bool = True,
        input_schema: JsonObject | None = None,
        output_schema: JsonObject | None = None,
        meta: Mapping[str, JsonValue] = EMPTY,
    ) -> Callable[[Function], Function]:
        """Add a function as a tool. Its type hints define the contract, unless `input_schema` is given.

        `needs` lists the client capabilities that the tool requires. With `input_schema` the function takes the arguments
        as one dict. Raises HintRefused, ContractRefused or SchemaRefused: the contract is invalid.
        """

        def decorate(function: Function) -> Function:
            level, hints = _declare_safety(function, safety, annotations)
            signature = None if input_schema is not None else read_signature(function)
            contract = ToolContract(
                name=name or function.__name__,
                description=description if description is not None else _first_paragraph(function),
                title=title,
                input_schema=input_schema if signature is None else signature.input_schema,  # type: ignore[arg-type]
                output_schema=output_schema if signature is None or output_schema else signature.output_schema,
                annotations=hints,
                safety=level,
                roles=frozenset(roles),
                capabilities=frozenset(needs),
                tier=tier,
                category=category,
                caps=caps or Caps(),
                dialect=dialect,
                text_json=text_json,
                meta=meta,
            )
            self.add_tool(contract, _tool_handler(function, signature))
            return function

        return decorate

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        mime_type: str | None = None,
    ) -> Callable[[Function], Function]:
        """Add a function as a resource. Its arguments are the `{name}` placeholders of the URI; it returns text or bytes."""

        def decorate(function: Function) -> Function:
            contract = ResourceContract(
                uri=uri,
                name=name or function.__name__,
                description=description if description is not None else _first_paragraph(function),
                title=title,
                mime_type=mime_type,
            )
            handler = _resource_handler(function, contract)
            self.catalog.change(lambda offers: offers.with_resource(contract, handler), "resources")
            return function

        return decorate

    def prompt(
        self, *, name: str | None = None, description: str | None = None, title: str | None = None
    ) -> Callable[[Function], Function]:
        """Add a function as a prompt. Its parameters are the arguments, all strings; it returns text or messages."""

        def decorate(function: Function) -> Function:
            contract = PromptContract(
                name=name or function.__name__,
                description=description if description is not None else _first_paragraph(function),
                title=title,
                arguments=_prompt_arguments(function),
            )
            handler = _prompt_handler(function, contract)
            self.catalog.change(lambda offers: offers.with_prompt(contract, handler), "prompts")
            return function

        return decorate

    def completion(self, function: Function) -> Function:
        """Add a completion function: `function(ref, argument, context)` returns matching values, best first."""
        self.catalog.change(lambda offers: offers.with_completion(_completion_handler(function)), "completions")
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


def _first_paragraph(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")


def _declare_safety(
    function: Callable[..., Any], safety: Safety | str | None, annotations: Mapping[str, JsonValue]
) -> tuple[Safety, Mapping[str, JsonValue]]:
    try:
        return declare_safety(safety, annotations)
    except SafetyRefused as exc:
        raise HintRefused(f"{name_of(function)}: {exc}") from exc


Prepare: TypeAlias = Callable[[JsonObject, CallContext], tuple[tuple[Any, ...], dict[str, Any]]]
"""Makes the positional and keyword arguments of the author's function for one call."""


def _adapt(function: Callable[..., Any], prepare: Prepare, finish: Callable[[Any, JsonObject], Any]) -> Handler:
    """Make a handler from an author's function. For a plain function it is plain too, so that it runs in a thread."""
    if inspect.iscoroutinefunction(function):

        async def run_async(arguments: JsonObject, call: CallContext) -> Any:
            positional, named = prepare(arguments, call)
            return finish(await function(*positional, **named), arguments)

        return run_async

    def run_sync(arguments: JsonObject, call: CallContext) -> Any:
        positional, named = prepare(arguments, call)
        return finish(function(*positional, **named), arguments)

    return run_sync


def _tool_handler(function: Callable[..., Any], signature: Signature | None) -> Handler:
    """Make the handler of a tool. It passes the arguments as the parameters of the function, or as one dict.

    Not `_adapt`: tools are the hot path, and this takes fewer function calls.
    """
    wraps = signature is not None and signature.wraps
    invoke = _invoke_raw(function) if signature is None else _invoke_typed(function, signature)
    if inspect.iscoroutinefunction(function):

        async def run_async(arguments: JsonObject, call: CallContext) -> Any:
            return as_answer(await invoke(arguments, call), wraps=wraps)

        return run_async
    return lambda arguments, call: as_answer(invoke(arguments, call), wraps=wraps)


def _invoke_raw(function: Callable[..., Any]) -> Handler:
    """For a tool with `input_schema`: pass the arguments as one dict, and the Context if there is a second parameter."""
    if len(inspect.signature(function).parameters) > 1:
        return lambda arguments, call: function(arguments, Context(call))
    return lambda arguments, _call: function(arguments)


def _invoke_typed(function: Callable[..., Any], signature: Signature) -> Handler:
    read, context = signature.read, signature.context
    if context is not None:
        return lambda arguments, call: function(**read(arguments), **{context: Context(call)})
    return lambda arguments, _call: function(**read(arguments))


def as_answer(returned: Any, *, wraps: bool) -> Any:
    """Convert the return value of an author's function to a handler result. With `wraps` it becomes `{"result": ...}`."""
    if type(returned) is dict and "pydantic" not in sys.modules:  # fast path: the dict cannot contain a pydantic model
        return {RESULT: returned} if wraps else returned
    if isinstance(returned, CONTENT):
        return Answer(content=(returned.as_item(),))
    if isinstance(returned, list | tuple) and _is_content_list(returned):
        items = [Text(each) if isinstance(each, str) else each for each in returned]
        return Answer(content=tuple(item.as_item() for item in items))
    plain = flatten_models(returned)
    return {RESULT: plain} if wraps else plain


def _is_content_list(returned: Sequence[Any]) -> bool:
    """Whether a list has content items and strings only. A list of strings alone is a value, not content."""
    has_content = any(isinstance(each, CONTENT) for each in returned)
    return has_content and all(isinstance(each, (*CONTENT, str)) for each in returned)


def _resource_handler(function: Callable[..., Any], contract: ResourceContract) -> Handler:
    pattern = template_pattern(contract.uri)
    context = _context_name(function)

    def prepare(arguments: JsonObject, call: CallContext) -> tuple[tuple[Any, ...], dict[str, Any]]:
        found = pattern.fullmatch(arguments["uri"])
        named: dict[str, Any] = found.groupdict() if found else {}
        return (), named | ({context: Context(call)} if context else {})

    def finish(body: Any, arguments: JsonObject) -> JsonObject:
        if not isinstance(body, str | bytes | Embedded):
            raise Refused(fail("OUTPUT_INVALID", details={"reason": "not_text_or_bytes"}))
        if isinstance(body, Embedded):
            return {"contents": [resource_contents(body.uri, body.body, body.mime_type)]}
        return {"contents": [resource_contents(arguments["uri"], body, contract.mime_type)]}

    return _adapt(function, prepare, finish)


def _context_name(function: Callable[..., Any]) -> str | None:
    hints = inspect.get_annotations(function, eval_str=True)
    return next((name for name, hint in hints.items() if hint is Context and name != "return"), None)


def _prompt_arguments(function: Callable[..., Any]) -> tuple[PromptArgument, ...]:
    context = _context_name(function)
    return tuple(
        PromptArgument(name=name, required=parameter.default is inspect.Parameter.empty)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != context
    )


def _prompt_handler(function: Callable[..., Any], contract: PromptContract) -> Handler:
    context = _context_name(function)

    def prepare(arguments: JsonObject, call: CallContext) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), arguments | ({context: Context(call)} if context else {})

    def finish(returned: Any, _arguments: JsonObject) -> JsonObject:
        parts = returned if isinstance(returned, list) else [returned]
        result: JsonObject = {"description": contract.description} if contract.description else {}
        return result | {"messages": [_message(part) for part in parts]}

    return _adapt(function, prepare, finish)


def _completion_handler(function: Callable[..., Any]) -> Handler:
    def prepare(arguments: JsonObject, _call: CallContext) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (arguments["ref"], arguments["argument"], arguments["context"]), {}

    def finish(values: Any, _arguments: JsonObject) -> JsonObject:
        found = list(values)
        if not all(isinstance(each, str) for each in found):
            raise Refused(fail("OUTPUT_INVALID", details={"reason": "completion_not_text"}))
        first = found[:MAX_COMPLETIONS]
        return {"completion": {"values": first, "total": len(found), "hasMore": len(found) > len(first)}}

    return _adapt(function, prepare, finish)


def _message(part: Any) -> JsonObject:
    """Make a message of a prompt. A dict is already a message; text and content items become messages of the user."""
    if isinstance(part, dict) and part.get("role") in ("user", "assistant") and isinstance(part.get("content"), dict):
        return part
    if not isinstance(part, (*CONTENT, str)):
        raise Refused(fail("OUTPUT_INVALID", details={"reason": "not_a_message"}))
    item = part.as_item() if isinstance(part, CONTENT) else {"type": "text", "text": part}
    return {"role": "user", "content": item}
