"""Requests of a server to its client: elicitation, sampling and roots. A capability is declared only if it has a handler.

In the legacy era they are requests. In the modern era they are the `inputRequests` of a result, and the next round of the
call has the answers. The answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final, TypeAlias

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused

MODEL: Final = "client"
"""The model of a sampling answer whose handler returns only text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """A form that the server wants the user to fill in."""

    message: str
    """What the server asks. Written by the server: show it as text, and say which server asks."""
    schema: JsonObject
    """The fields of the form: an object schema with properties of primitive types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """A request to the model of the client."""

    messages: tuple[JsonObject, ...]
    """The conversation: each has `role` and `content`."""
    max_tokens: int
    system_prompt: str | None = None
    params: JsonObject
    """All members of the request, also those without a field here."""


OnElicit: TypeAlias = Callable[[Elicitation], Any]
"""Returns the filled form (a mapping, dataclass or msgspec struct), None or "decline", or "cancel". May be async."""

OnSample: TypeAlias = Callable[[Sampling], Any]
"""Returns the text of the model, or the whole result as a mapping. May be async."""

ListRoots: TypeAlias = Callable[[], Any]
"""Returns the URIs of the folders that the client works in, or mappings with `uri` and `name`. May be async."""


class NotAnswered(Exception):
    """A request of the server that the client does not answer. `code` is the JSON-RPC error code."""

    def __init__(self, reason: str, code: int = -32602) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class InvalidAnswer(ValueError):
    """A handler of this program returned a value that the server did not ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The handlers for the requests of a server."""

    on_elicit: OnElicit | None = None
    on_sample: OnSample | None = None
    list_roots: ListRoots | None = None

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities to declare: those that have a handler."""
        handlers = {"elicitation": self.on_elicit, "sampling": self.on_sample, "roots": self.list_roots}
        return {name: {} for name, handler in handlers.items() if handler is not None}

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """The result of a request of the server. Raises NotAnswered, InvalidAnswer, and whatever the handler raises."""
        answers = {"elicitation/create": self._elicit, "sampling/createMessage": self._sample, "roots/list": self._roots}
        if method == "ping":
            return {}
        if method not in answers:
            raise NotAnswered("Method not found", -32601)
        return await answers[method](params)

    async def _elicit(self, params: JsonObject) -> JsonObject:
        message, schema = params.get("message"), params.get("requestedSchema")
        if self.on_elicit is None:
            raise NotAnswered("the client did not declare elicitation", -32601)
        if params.get("mode", "form") != "form" or not isinstance(message, str) or not isinstance(schema, dict):
            raise NotAnswered("expected an elicitation in form mode, with message and requestedSchema")
        returned = await _finished(self.on_elicit(Elicitation(message=message, schema=schema)))
        if returned is None or returned in ("decline", "cancel"):
            return {"action": returned or "decline"}
        return {"action": "accept", "content": _filled(returned, schema)}

    async def _sample(self, params: JsonObject) -> JsonObject:
        messages, max_tokens = params.get("messages"), params.get("maxTokens")
        if self.on_sample is None:
            raise NotAnswered("the client did not declare sampling", -32601)
        if not isinstance(messages, list) or type(max_tokens) is not int:
            raise NotAnswered("expected messages and maxTokens")
        system = params.get("systemPrompt")
        asked = Sampling(
            messages=tuple(each for each in messages if isinstance(each, dict)),
            max_tokens=max_tokens,
            system_prompt=system if isinstance(system, str) else None,
            params=params,
        )
        returned = await _finished(self.on_sample(asked))
        if isinstance(returned, str):
            return {"role": "assistant", "content": {"type": "text", "text": returned}, "model": MODEL}
        if not isinstance(returned, Mapping) or not {"role", "content", "model"} <= returned.keys():
            raise InvalidAnswer("on_sample: expected text, or a mapping with role, content and model")
        return dict(returned)

    async def _roots(self, _params: JsonObject) -> JsonObject:
        if self.list_roots is None:
            raise NotAnswered("the client did not declare roots", -32601)
        listed = await _finished(self.list_roots())
        return {"roots": [dict(each) if isinstance(each, Mapping) else {"uri": str(each)} for each in listed]}


async def _finished(returned: Any) -> Any:
    return await returned if isawaitable(returned) else returned


def _filled(returned: Any, schema: JsonObject) -> JsonObject:
    """The content of an accepted form: the defaults of the schema, then the values of the user. Raises InvalidAnswer."""
    given = msgspec.to_builtins(returned)
    if not isinstance(given, dict):
        raise InvalidAnswer('on_elicit: expected a mapping, a dataclass, None, "decline" or "cancel"')
    content: JsonObject = _defaults(schema) | given
    try:
        violations = compile_schema(schema).find_violations(content)
    except SchemaRefused as exc:
        raise NotAnswered("requestedSchema is not a valid schema") from exc
    if violations:
        named = ", ".join(f"{each.path or '/'} ({each.keyword})" for each in violations)
        raise InvalidAnswer(f"on_elicit: the content does not match the form: {named}")
    return content


def _defaults(schema: JsonObject) -> dict[str, JsonValue]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: field["default"] for name, field in properties.items() if isinstance(field, dict) and "default" in field}
