"""The return value of a function: its output schema, and how it becomes the result of a handler."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Union, get_args, get_origin

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Answer
from strictwire.contract.schema import DIALECT
from strictwire.fault.failure import Refused, fail
from strictwire.server.content import CONTENT, Result, Text
from strictwire.server.declare.definitions import Direction
from strictwire.server.declare.parts import parts
from strictwire.server.declare.pydantic import encode_special, pydantic_writer, write_models
from strictwire.server.declare.refused import Place
from strictwire.server.declare.schemas import root_schema
from strictwire.server.declare.types import is_native, lower_at, mentions_pydantic

RESULT: Final = "result"
"""The member of structured content that holds a result which is not an object."""

_BASE64_SCHEMA: Final = b'"contentEncoding":"base64"'
"""Part of the schema that msgspec generates for `bytes`. Arguments are decoded from base64, but results are not encoded."""

_UNKNOWN: Final = frozenset({Any, object, list, dict, tuple, set, frozenset})
"""Hints that leave open what is inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returns:
    """What a function returns."""

    schema: JsonObject | None
    """The output schema; None if there is no structured content."""
    finish: Callable[[Any], Any] | None
    """Makes the result of a handler. It raises Refused(OUTPUT_INVALID). None: the value is the result as it is."""


def read_returns(hint: Any, place: Place) -> Returns:
    """What a return type promises. Raises DeclarationRefused."""
    if hint is Any:
        return Returns(schema=None, finish=finish_loosely)
    if hint in (None, type(None)):
        return Returns(schema=None, finish=partial(_finish_exactly, type(None), "null"))
    if hint is str:
        return Returns(schema=None, finish=partial(_finish_exactly, str, "string"))
    if _is_content(hint):
        return Returns(schema=None, finish=_finish_content)
    if get_origin(hint) is Result:
        return _with_content(_structured(get_args(hint)[0], place))
    if any(part is Result or _is_content_class(part) for part in parts(hint)):
        raise place.refuse(
            "mixes content such as Image with other values; return Result[T], whose content stands beside the data"
        )
    return _structured(hint, place)


def _structured(hint: Any, place: Place) -> Returns:
    schema = root_schema(lower_at(hint, Direction.OUTPUT, place), Direction.OUTPUT)
    if _BASE64_SCHEMA in render(schema):
        raise place.refuse("has bytes, which JSON cannot represent; return Image, Audio, Embedded or text instead")
    write = _writer(hint)
    if schema.get("type") == "object":
        return Returns(schema=schema, finish=write)
    if write is None:
        return Returns(schema=_wrapped(schema), finish=lambda returned: {RESULT: returned})
    return Returns(schema=_wrapped(schema), finish=lambda returned: {RESULT: write(returned)})


def _writer(hint: Any) -> Callable[[Any], Any] | None:
    """Converts a value to one that the pipeline encodes; None if it encodes the value as it is."""
    if mentions_pydantic(hint):
        return pydantic_writer(hint)
    if not is_native(hint, Direction.OUTPUT):
        return partial(msgspec.to_builtins, enc_hook=encode_special, str_keys=True, order="deterministic")
    return write_models if any(_is_open(part) for part in parts(hint)) else None


def _is_open(part: Any) -> bool:
    return part.__hash__ is not None and part in _UNKNOWN


def _wrapped(schema: JsonObject) -> JsonObject:
    inner = {keyword: value for keyword, value in schema.items() if keyword not in ("$schema", "$defs")}
    wrapped: JsonObject = {
        "$schema": DIALECT,
        "type": "object",
        "properties": {RESULT: inner},
        "required": [RESULT],
        "additionalProperties": False,
    }
    return wrapped | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


def _with_content(returns: Returns) -> Returns:
    """The same for `Result[T]`: the value is the structured content, the items are the content."""

    def finish(returned: Any) -> Any:
        if not isinstance(returned, Result):
            raise _invalid("expected_result")
        value = returned.value if returns.finish is None else returns.finish(returned.value)
        return Answer(structured=value, content=_items(returned.content))

    return Returns(schema=returns.schema, finish=finish)


def _finish_exactly(kind: type, name: str, returned: Any) -> Any:
    if not isinstance(returned, kind):
        raise _invalid(f"expected_{name}")
    return returned


def _finish_content(returned: Any) -> Any:
    if isinstance(returned, str):
        return returned
    if isinstance(returned, CONTENT):
        return Answer(content=(returned.as_item(),))
    if isinstance(returned, list | tuple) and all(isinstance(each, (*CONTENT, str)) for each in returned):
        return Answer(content=_items(returned))
    if returned is None:
        return None
    raise _invalid("expected_content")


def finish_loosely(returned: Any) -> Any:
    """The result of a function that promises nothing: content if it is content, otherwise the value."""
    if type(returned) is dict and "pydantic" not in sys.modules:  # fast path: the dict cannot contain a model
        return returned
    if isinstance(returned, CONTENT) or (isinstance(returned, list | tuple) and _is_content_list(returned)):
        return _finish_content(returned)
    if isinstance(returned, Result):
        return Answer(structured=write_models(returned.value), content=_items(returned.content))
    return write_models(returned)


def _items(content: Sequence[Any]) -> tuple[JsonObject, ...]:
    return tuple((Text(each) if isinstance(each, str) else each).as_item() for each in content)


def _invalid(reason: str) -> Refused:
    return Refused(fail("OUTPUT_INVALID", details={"reason": reason}))


def _is_content_list(returned: Sequence[Any]) -> bool:
    """Whether a list has content items and strings only. A list of strings alone is a value, not content."""
    has_content = any(isinstance(each, CONTENT) for each in returned)
    return has_content and all(isinstance(each, (*CONTENT, str)) for each in returned)


def _is_content(hint: Any) -> bool:
    """Whether the type is a content class, or a list or union of content classes, `str` and None."""
    if get_origin(hint) in (list, tuple, Union, types.UnionType):
        inside = get_args(hint)
        return any(map(_is_content, inside)) and all(
            _is_content(each) or each in (str, type(None), Ellipsis) for each in inside
        )
    return _is_content_class(hint)


def _is_content_class(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, CONTENT)
