"""Tools: the handler of a function whose type hints are the contract, or whose contract is given as schemas."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.contract.tool import EMPTY, Caps, ToolContract
from strictwire.server.declare.context import NO_LIFESPAN, Context
from strictwire.server.declare.docstrings import read_docstring
from strictwire.server.declare.hints import read_hints
from strictwire.server.declare.inject import BindableHandler, bindable
from strictwire.server.declare.invoke import check_function
from strictwire.server.declare.options import ToolOptions, check_options, failures_of, safety_of_options, tags_of, task_of
from strictwire.server.declare.parameters import Parameters, read_parameters
from strictwire.server.declare.refused import Place, place_of
from strictwire.server.declare.results import finish_loosely, read_returns


def declare_tool(
    function: Callable[..., Any], options: ToolOptions, lifespan: Any = NO_LIFESPAN
) -> tuple[ToolContract, Handler]:
    """The contract and the handler of a function. `lifespan` is the type that the lifespan of the server yields.

    Raises DeclarationRefused.
    """
    place = place_of(function)
    check_options(options, place)
    check_function(function)
    name = options.get("name") or getattr(function, "__name__", None)
    if name is None:
        raise place.refuse("it has no name; write @server.tool(name=...)")
    safety, annotations = safety_of_options(options, place)
    given, output = options.get("input_schema"), options.get("output_schema")
    if given is None:
        schemas, handler = declare_typed(function, output, lifespan)
    else:
        schemas, handler = declare_raw(function, given, output, lifespan)
    description = options.get("description")
    contract = ToolContract(
        name=name,
        description=read_docstring(function).summary if description is None else description,
        title=options.get("title"),
        input_schema=schemas.input,
        output_schema=schemas.output,
        annotations=annotations,
        safety=safety,
        roles=frozenset(options.get("roles", ())),
        capabilities=frozenset(options.get("needs", ())),
        tier=options.get("tier", "core"),
        category=options.get("category", "general"),
        caps=options.get("caps") or Caps(),
        dialect=options.get("dialect", "mcp"),
        failures=failures_of(options, place),
        task=task_of(options, place),
        text_json=options.get("text_json", True),
        tags=tags_of(options.get("tags", ()), place),
        meta=options.get("meta", EMPTY),
    )
    return contract, handler


class Schemas(NamedTuple):
    """The schemas of a tool."""

    input: JsonObject
    output: JsonObject | None


def declare_typed(
    function: Callable[..., Any], output_schema: JsonObject | None, lifespan: Any = NO_LIFESPAN
) -> tuple[Schemas, Handler]:
    """A tool by its type hints. `output_schema`, if given, replaces that of the hints. Raises DeclarationRefused."""
    parameters = read_parameters(function, lifespan)
    place = Place(function=parameters.place.function, part="the result")
    returns = read_returns(read_hints(function).get("return", Any), place)
    schemas = Schemas(parameters.input_schema(), output_schema or returns.schema)
    finish = returns.finish
    if parameters.needs_running:
        done = (lambda returned, _arguments: returned) if finish is None else lambda returned, _arguments: finish(returned)
        return schemas, bindable(function, parameters, parameters.reader(), done)
    return schemas, _handler(function, _invoke_typed(function, parameters), finish)


def declare_raw(
    function: Callable[..., Any], input_schema: JsonObject, output_schema: JsonObject | None, lifespan: Any = NO_LIFESPAN
) -> tuple[Schemas, Handler]:
    """A tool by its schemas: the function takes the arguments as one dict, and the Context second if it has a second one."""
    count = len(inspect.signature(function).parameters)
    if count not in (1, 2):
        raise place_of(function).refuse(
            f"it has {count} parameters, but with `input_schema` it takes the arguments as one dict, and a Context if it "
            "has a second parameter"
        )
    schemas = Schemas(input_schema, output_schema)
    if count == 1:
        return schemas, _handler(function, lambda arguments, _call: function(arguments), finish_loosely)

    def with_state(state: Any) -> Handler:
        return _handler(function, lambda arguments, call: function(arguments, Context(call, state)), finish_loosely)

    if lifespan is NO_LIFESPAN:
        return schemas, with_state(NO_LIFESPAN)
    return schemas, BindableHandler(lambda running: with_state(running.lifespan), ())


def _invoke_typed(function: Callable[..., Any], parameters: Parameters) -> Handler:
    read, context = parameters.reader(), parameters.context
    if context is not None:
        return lambda arguments, call: function(**read(arguments), **{context: Context(call)})
    return lambda arguments, _call: function(**read(arguments))


def _handler(function: Callable[..., Any], invoke: Handler, finish: Callable[[Any], Any] | None) -> Handler:
    """The handler. Not `invoke.make_handler`: tools are the hot path, and this takes fewer function calls."""
    if inspect.iscoroutinefunction(function):

        async def run_async(arguments: JsonObject, call: CallContext) -> Any:
            returned = await invoke(arguments, call)
            return returned if finish is None else finish(returned)

        return run_async
    if finish is None:
        return lambda arguments, call: invoke(arguments, call)
    return lambda arguments, call: finish(invoke(arguments, call))
