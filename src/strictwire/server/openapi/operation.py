"""An operation as a contract with its handler, or the reason why it cannot be a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import compile_schema
from strictwire.contract.handler import Handler
from strictwire.contract.registry import NAME
from strictwire.contract.safety import Safety, declare_safety
from strictwire.contract.schema import SchemaRefused
from strictwire.contract.tags import is_tag
from strictwire.contract.tool import ToolContract
from strictwire.fault.plain import plain_text
from strictwire.server.openapi.document import Document, NotUsable, Operation, list_at, object_at
from strictwire.server.openapi.response import HttpClient
from strictwire.server.openapi.schemas import SchemaReader
from strictwire.server.openapi.upstream import ApiCall, Sent

MAX_DESCRIPTION: Final = 1024
"""Characters. A model reads the descriptions of all tools at once."""

_JSON: Final = re.compile(r"application/([\w.+-]+\+)?json\s*(;.*)?", re.IGNORECASE)

_IGNORED_HEADERS: Final = frozenset({"accept", "content-type", "authorization", "accept-encoding"})
"""OpenAPI says that parameters of the first three names are ignored: the client sends them. So is the compression."""

_FRAMING_HEADERS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "cookie"}
)
"""Headers with which a caller could address another host, end the request early, or take another session."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PATH: Final = re.compile(r"/(?!/)[^?#\\\x00-\x20\x7f]*")
"""A path of the API itself. An HTTP client takes `https://...` and `//...` for another host, which gets its token."""

_SAFETY: Final[Mapping[str, tuple[Safety, bool]]] = MappingProxyType(
    {
        "GET": (Safety.READ_ONLY, True),
        "HEAD": (Safety.READ_ONLY, True),
        "PUT": (Safety.DESTRUCTIVE, True),
        "DELETE": (Safety.DESTRUCTIVE, True),
        "POST": (Safety.DESTRUCTIVE, False),
        "PATCH": (Safety.DESTRUCTIVE, False),
    }
)
"""The safety level, and whether a repeated call changes nothing more (RFC 9110, 9.2). No method says that it only adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    """An argument of the tool."""

    name: str
    sent: Sent
    schema: Any
    required: bool


def declare_operation(operation: Operation, document: Document, client: HttpClient) -> tuple[ToolContract, Handler]:
    """The contract and the handler of an operation. Raises NotUsable."""
    if operation.method not in _SAFETY:
        raise NotUsable(f"{operation.method} is not a method of tools")
    if not _PATH.fullmatch(operation.path) or ".." in operation.path.split("/"):
        raise NotUsable("its path does not begin with a single '/', or has '..', '?', '#', a backslash or a space")
    arguments = _name_arguments(operation, document)
    output, wraps, has_output = _read_output(operation, document)
    safety, idempotent = _SAFETY[operation.method]
    level, annotations = declare_safety(safety, {"idempotentHint": idempotent, "openWorldHint": True})
    contract = ToolContract(
        name=_name_of(operation),
        description=_describe(operation),
        input_schema=_input_schema(arguments, operation, document),
        output_schema=output,
        annotations=annotations,
        safety=level,
        category=next((str(each) for each in list_at(operation.described, "tags")), "general"),
        tags=frozenset(each for each in list_at(operation.described, "tags") if is_tag(each)),
        text_json=True,
    )
    _check_schemas(contract)
    sent = {each.name: each.sent for each in arguments}
    return contract, ApiCall(
        client=client,
        method=operation.method,
        path=operation.path,
        sent=sent,
        wraps=wraps,
        has_output=has_output,
        limit=contract.caps.response_bytes,
    )


def _check_schemas(contract: ToolContract) -> None:
    try:
        compile_schema(contract.input_schema)
        if contract.output_schema is not None:
            compile_schema(contract.output_schema)
    except SchemaRefused as exc:
        raise NotUsable(f"its schema is refused: {exc}") from exc


def _name_of(operation: Operation) -> str:
    given = operation.described.get("operationId")
    text = given if isinstance(given, str) else f"{operation.method.lower()}_{operation.path}"
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_.-]", "_", text)).strip("_")
    if not NAME.fullmatch(name):
        raise NotUsable(f"{text!r} cannot be the name of a tool; give it an operationId of 1 to 64 letters and digits")
    return name


def _describe(operation: Operation) -> str:
    texts = (operation.described.get(name) for name in ("summary", "description"))
    lines = [each.strip() for each in texts if isinstance(each, str) and each.strip()]
    return plain_text("\n\n".join(lines), MAX_DESCRIPTION) if lines else operation.label


def _input_schema(arguments: list[_Argument], operation: Operation, document: Document) -> JsonObject:
    reader = SchemaReader(document)
    closed: JsonObject = {
        "type": "object",
        "properties": {each.name: reader.read(each.schema) for each in arguments},
        "required": [each.name for each in arguments if each.required],
        "additionalProperties": False,
    }
    wanted = set(re.findall(r"\{([^{}]*)\}", operation.path))
    missing = wanted - {each.sent.name for each in arguments if each.sent.place == "path"}
    if missing:
        raise NotUsable(f"its path has {min(missing)!r}, which is no parameter; add it to `parameters`")
    return reader.root(closed)


def _name_arguments(operation: Operation, document: Document) -> list[_Argument]:
    """The arguments. One whose name is taken gets its place behind its name."""
    found: dict[str, _Argument] = {}
    for sent, schema, required in (*_parameters(operation, document), *_body(operation, document)):
        name = sent.name if sent.name not in found else f"{sent.name}_{sent.place}"
        if name in found:
            raise NotUsable(f"it has two parameters {sent.name!r}; rename one")
        found[name] = _Argument(name=name, sent=sent, schema=schema, required=required)
    return list(found.values())


def _parameters(operation: Operation, document: Document) -> Iterator[tuple[Sent, Any, bool]]:
    merged: dict[tuple[str, str], JsonObject] = {}
    for each in (*list_at(operation.item, "parameters"), *list_at(operation.described, "parameters")):
        parameter = document.resolve(each)
        name, place = parameter.get("name"), parameter.get("in")
        if not isinstance(name, str) or not name or not isinstance(place, str):
            raise NotUsable("a parameter has no name or no place")
        merged[name, place] = parameter
    for (name, place), parameter in merged.items():
        if place == "header" and name.lower() in _IGNORED_HEADERS:
            continue
        required = parameter.get("required") is True
        if place not in _STYLES:
            raise NotUsable(f"parameter {name!r} is in a {place}; only path, query and header are supported")
        if place == "header" and (name.lower() in _FRAMING_HEADERS or not _HEADER_NAME.fullmatch(name)):
            raise NotUsable(f"parameter {name!r} is a header that a caller must not set, or no header; remove it")
        if place == "path" and not required:
            raise NotUsable(f"parameter {name!r} is in the path and not required; add `required: true`")
        yield (
            Sent(name=name, place=place, joined=_is_joined(parameter)),
            _parameter_schema(parameter, document),
            required,
        )


def _is_joined(parameter: JsonObject) -> bool:
    return parameter.get("explode") is False or parameter.get("in") != "query"


_STYLES: Final = {"path": "simple", "header": "simple", "query": "form"}
"""The default style of each place, the only one that is supported."""


def _parameter_schema(parameter: JsonObject, document: Document) -> Any:
    name, place = parameter["name"], parameter["in"]
    if parameter.get("style", _STYLES[place]) != _STYLES[place]:
        raise NotUsable(f"parameter {name!r} has style {parameter['style']!r}; use {_STYLES[place]!r}")
    schema = parameter.get("schema")
    if schema is None:
        raise NotUsable(f"parameter {name!r} has no schema")
    resolved = document.resolve(schema)
    if resolved.get("type") == "object" or "properties" in resolved:
        raise NotUsable(f"parameter {name!r} is an object; use the request body for it")
    description = parameter.get("description")
    if isinstance(description, str) and description and "$ref" not in schema:
        return {**schema, "description": description}
    return schema


def _body(operation: Operation, document: Document) -> Iterator[tuple[Sent, Any, bool]]:
    if "requestBody" not in operation.described:
        return
    body = document.resolve(operation.described["requestBody"])
    content = object_at(body, "content")
    schema = next((object_at(content, media).get("schema", {}) for media in content if _JSON.fullmatch(media)), None)
    if schema is None:
        raise NotUsable(f"its request body is {', '.join(content) or 'empty'}; only JSON is supported")
    yield Sent(name="body", place="body"), schema, body.get("required") is True


def _read_output(operation: Operation, document: Document) -> tuple[JsonObject | None, bool, bool]:
    """The output schema, whether the value is wrapped in `result`, and whether the response is JSON."""
    responses = object_at(operation.described, "responses")
    good: Any = next((responses[code] for code in sorted(responses) if re.fullmatch(r"2(\d\d|XX)", code)), {})
    content = object_at(document.resolve(good), "content")
    media = next((each for each in content if _JSON.fullmatch(each)), None)
    if media is None:
        if content and not any(each.startswith("text/") for each in content):
            raise NotUsable(f"it answers with {', '.join(content)}; only JSON and text are supported")
        return None, False, False
    schema = object_at(content, media).get("schema")
    if schema is None:
        return None, False, True
    reader = SchemaReader(document)
    read = reader.read(schema)
    if reader.is_object(read):
        return reader.root(read if "$ref" not in read else {"type": "object", "allOf": [read]}), False, True
    wrapped: JsonObject = {
        "type": "object",
        "properties": {"result": read},
        "required": ["result"],
        "additionalProperties": False,
    }
    return reader.root(wrapped), True, True
