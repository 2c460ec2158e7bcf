"""Prompts and completions. MCP passes the arguments of a prompt as strings; the type hints say what they mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Handler
from strictwire.contract.tool import PromptArgument, PromptContract
from strictwire.fault.failure import Refused, fail
from strictwire.profiles.mcp.targets import MAX_COMPLETIONS
from strictwire.server.content import CONTENT
from strictwire.server.declare.definitions import Direction
from strictwire.server.declare.invoke import check_function, make_handler
from strictwire.server.declare.parameters import Parameter, Parameters
from strictwire.server.declare.refused import place_of
from strictwire.server.declare.schemas import root_schema
from strictwire.server.declare.texts import is_scalar, text_reader

_NOT_SHAPE: Final = frozenset({"$schema", "description", "title", "examples"})
"""Keywords that say nothing about the form of a value."""


def prompt_arguments(parameters: Parameters) -> tuple[PromptArgument, ...]:
    """The arguments, each with a description that also says its type."""
    return tuple(
        PromptArgument(name=each.name, description=_describe(each), required=each.is_required) for each in parameters.listed
    )


def _describe(parameter: Parameter) -> str:
    """The text of the parameter. MCP has no place for the type of an argument, so the text ends with it."""
    schema = root_schema(parameter.hint, Direction.INPUT)
    text = str(parameter.show(schema).get("description", ""))
    shape = {keyword: value for keyword, value in schema.items() if keyword not in _NOT_SHAPE}
    if shape == {"type": "string"}:
        return text
    form = "Value" if is_scalar(parameter) else "JSON text"
    return f"{text} {form} of the JSON Schema {render(shape).decode()}".strip()


def prompt_handler(function: Callable[..., Any], contract: PromptContract, parameters: Parameters) -> Handler:
    """The handler of a prompt. Raises DeclarationRefused."""
    check_function(function)

    def finish(returned: Any, _arguments: JsonObject) -> JsonObject:
        parts = returned if isinstance(returned, list | tuple) else [returned]
        result: JsonObject = {"description": contract.description} if contract.description else {}
        return result | {"messages": [_message(part) for part in parts]}

    return make_handler(function, text_reader(parameters), parameters, finish)


def _message(part: Any) -> JsonObject:
    """Make a message of a prompt. A dict is already a message; text and content items become messages of the user."""
    if isinstance(part, dict) and part.get("role") in ("user", "assistant") and isinstance(part.get("content"), dict):
        return part
    if not isinstance(part, (*CONTENT, str)):
        raise Refused(fail("OUTPUT_INVALID", details={"reason": "not_a_message"}))
    item = part.as_item() if isinstance(part, CONTENT) else {"type": "text", "text": part}
    return {"role": "user", "content": item}


_COMPLETION: Final = ("ref", "argument", "context")
"""What a completion function receives, in this order."""


def completion_handler(function: Callable[..., Any]) -> Handler:
    """The handler of completion: `function(ref, argument, context)`. Raises DeclarationRefused."""
    check_function(function)

    def finish(values: Any, _arguments: JsonObject) -> JsonObject:
        found = list(values)
        if not all(isinstance(each, str) for each in found):
            raise Refused(fail("OUTPUT_INVALID", details={"reason": "completion_not_text"}))
        first = found[:MAX_COMPLETIONS]
        return {"completion": {"values": first, "total": len(found), "hasMore": len(found) > len(first)}}

    names = tuple(inspect.signature(function).parameters)
    if len(names) != len(_COMPLETION):
        raise place_of(function).refuse("a completion function takes three parameters: ref, argument and context")

    def read(arguments: JsonObject) -> dict[str, Any]:
        return {name: arguments[member] for name, member in zip(names, _COMPLETION, strict=True)}

    return make_handler(function, read, None, finish)
