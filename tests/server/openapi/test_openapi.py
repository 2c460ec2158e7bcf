"""Tools from an OpenAPI document: a real API, its document, and documents that cannot become tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from strictwire import MemoryClient, Server
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.server.openapi.document import MAX_BYTES, MAX_OPERATIONS
from tests.fixtures.api import document
from tests.fixtures.live import HERE, HttpProcess
from tests.fixtures.stories import story


class ApiProcess(HttpProcess):
    """The API."""

    def command(self, place: str, *_arguments: str) -> list[str]:
        return [sys.executable, str(HERE / place)]


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    process = ApiProcess("api.py")
    yield f"http://127.0.0.1:{process.port}"
    process.close()


async def call(base: str, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    async with httpx2.AsyncClient(base_url=base) as client:
        server = Server.from_openapi(document(), client)
        async with MemoryClient(server) as connection:
            return await connection.call_tool(name, arguments)


REX = {"name": "Rex", "age": 4, "parent": None}
TIM = {"name": "Tim", "parent": {"name": "Tom"}}

RESULTS: list[tuple[str, dict[str, Any], Any]] = [
    ("read_pet", {"pet_id": 1}, REX),
    ("list_pets", {"name": ["a b", "c&d"], "x-limit": 3}, {"result": ["a b", "c&d", "limit 3"]}),
    ("list_pets", {}, {"result": ["limit 10"]}),
    ("add_pet", {"body": TIM}, {"name": "Tim", "age": None, "parent": {"name": "Tom", "age": None, "parent": None}}),
    ("put_pet", {"pet_id": 1, "body": {"name": "Tim"}}, {"name": "Tim", "age": None, "parent": None}),
    ("read_file", {"name": "a b?c#d%"}, {"name": "a b?c#d%"}),
]


@pytest.mark.parametrize(("name", "arguments", "result"), RESULTS, ids=[f"{each[0]} {each[1]}" for each in RESULTS])
@story
async def test_a_call_is_a_request_and_its_response_the_result(
    api: str, name: str, arguments: dict[str, Any], result: Any
) -> None:
    assert (await call(api, name, arguments))["structuredContent"] == result


@story
async def test_a_response_without_content_is_an_empty_result(api: str) -> None:
    answer = await call(api, "delete_pet", {"pet_id": 1})

    assert (answer["content"], "isError" in answer) == ([], False)


FAILURES: list[tuple[str, dict[str, Any], str, str]] = [
    ("read_pet", {"pet_id": 7}, "NOT_FOUND", "the API answered 404: there is no such pet"),
    ("put_pet", {"pet_id": 1, "body": {"name": "Rex"}}, "CONFLICT", "the API answered 409: the name is taken"),
    ("broken", {}, "UNAVAILABLE", "the API answered 503: restarting"),
    ("delete_pet", {"pet_id": 2}, "TOOL_FAILED", "The API answered 403: not yours"),
    ("liar", {}, "OUTPUT_INVALID", ""),
    ("read_pet", {"pet_id": "one"}, "INVALID_PARAMS", ""),
    ("add_pet", {"body": {"name": ""}}, "INVALID_PARAMS", ""),
    ("read_file", {"name": ".."}, "INVALID_PARAMS", ""),
    ("read_file", {"name": ""}, "INVALID_PARAMS", ""),
    ("read_file", {"name": "../../admin"}, "INVALID_PARAMS", ""),
    ("read_file", {"name": "a/./b"}, "INVALID_PARAMS", ""),
    ("read_file", {"name": "a\\..\\b"}, "INVALID_PARAMS", ""),
]


@pytest.mark.parametrize(("name", "arguments", "code", "text"), FAILURES, ids=[f"{each[0]} {each[2]}" for each in FAILURES])
@story
async def test_a_refusal_of_the_api_is_a_failure(
    api: str, name: str, arguments: dict[str, Any], code: str, text: str
) -> None:
    answer = await call(api, name, arguments)
    error = answer["structuredContent"]["error"]

    assert error["code"] == code
    assert text in error["message"]


@story
async def test_an_api_that_does_not_answer_is_unavailable(caplog: pytest.LogCaptureFixture) -> None:
    answer = await call("http://127.0.0.1:9", "read_pet", {"pet_id": 1})

    assert answer["structuredContent"]["error"]["code"] == "UNAVAILABLE"
    assert "ConnectError" in caplog.text
    assert "ConnectError" not in str(answer)


def test_the_contract_is_that_of_the_document() -> None:
    server = Server.from_openapi(document(), httpx2.AsyncClient(), version="9", instructions="Pets.")
    tools = server.catalog.offers.registry.tools
    hints = {name: (tool.safety.value, tool.annotations["idempotentHint"]) for name, tool in tools.items()}

    assert (server.identity.name, server.identity.version) == ("pets", "9")
    assert tools["read_pet"].description == "Read a pet"
    assert hints == {
        "read_pet": ("read-only", True),
        "list_pets": ("read-only", True),
        "put_pet": ("destructive", True),
        "add_pet": ("destructive", False),
        "delete_pet": ("destructive", True),
        "read_file": ("read-only", True),
        "broken": ("read-only", True),
        "liar": ("read-only", True),
    }


def with_operation(operation: dict[str, Any], path: str = "/x", method: str = "get", **more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {path: {method: operation}}, **more}


def parameter(**facts: Any) -> dict[str, Any]:
    return with_operation({"operationId": "x", "parameters": [{"name": "a", "in": "query", "schema": {}, **facts}]})


REFUSED: list[tuple[Any, str]] = [
    (b"openapi: 3.0", "the document is not JSON of at most 16,777,216 bytes"),
    ({"openapi": "3.1.0", "x": "x" * MAX_BYTES}, "the document is not JSON of at most 16,777,216 bytes"),
    ({"swagger": "2.0"}, "the document has openapi=None; convert it to OpenAPI 3.0 or 3.1"),
    (with_operation({}) | {"paths": {}}, "the document has 0 operations; pass one with 1 to 1000"),
    (with_operation({}) | {"paths": [1]}, "a path cannot be read: its 'paths' is not an object"),
    (
        with_operation({}) | {"paths": {f"/{number}": {"get": {}} for number in range(MAX_OPERATIONS + 1)}},
        "the document has 1001 operations",
    ),
    (parameter(**{"in": "cookie"}), "GET /x: parameter 'a' is in a cookie; only path, query and header are supported"),
    (parameter(style="deepObject"), "GET /x: parameter 'a' has style 'deepObject'; use 'form'"),
    (parameter(schema={"type": "object"}), "GET /x: parameter 'a' is an object; use the request body for it"),
    (parameter(schema=None), "GET /x: parameter 'a' has no schema"),
    (parameter(schema={"$ref": "other.json#/A"}), "it refers to 'other.json#/A', which is outside of the document; copy"),
    (parameter(schema={"$ref": "#/components/schemas/A"}), "it refers to '#/components/schemas/A', which does not exist"),
    (parameter(schema={"type": "text"}), "GET /x: its schema is refused"),
    (with_operation({"operationId": "x", "parameters": 5}), "GET /x: its 'parameters' is not an array"),
    (with_operation({"operationId": "y" * 70}), "cannot be the name of a tool; give it an operationId"),
    (with_operation({"operationId": "x"}, "/a/{b}"), "GET /a/{b}: its path has 'b', which is no parameter"),
    (with_operation({}, method="trace"), "TRACE /x: TRACE is not a method of tools"),
    (
        with_operation({"requestBody": {"content": {"multipart/form-data": {}}}}, method="post"),
        "POST /x: its request body is multipart/form-data; only JSON is supported",
    ),
    (
        with_operation({"responses": {"200": {"content": {"image/png": {}}}}}),
        "GET /x: it answers with image/png; only JSON and text are supported",
    ),
]

REFUSED += [
    (with_operation({"operationId": "x"}, path), "its path does not begin with a single '/'")
    for path in ("https://other.test/x", "//other.test/x", "x", "\\\\other.test", "/a?b", "/a#b", "/a\r\nb", "/../a")
]
"""With such a path an HTTP client may send its credentials to another host."""

REFUSED += [
    (parameter(**{"in": "header", "name": name}), "is a header that a caller must not set")
    for name in ("Host", "content-length", "Transfer-Encoding", "Connection", "Cookie", "a b", "a:\r\nb")
]
REFUSED += [
    (parameter(**{"in": ["query"]}), "a parameter has no name or no place"),
    (parameter(name={}), "a parameter has no name or no place"),
    (parameter(**{"in": "path"}), "parameter 'a' is in the path and not required"),
]


@pytest.mark.parametrize("schema", [True, {"$ref": "#/components/schemas/Any"}])
def test_a_response_that_may_be_anything_is_wrapped(schema: Any) -> None:
    content = {"200": {"content": {"application/json": {"schema": schema}}}}
    given = with_operation({"operationId": "x", "responses": content}, components={"schemas": {"Any": True}})
    server = Server.from_openapi(given, httpx2.AsyncClient())

    [tool] = server.catalog.offers.registry.tools.values()
    assert tool.output_schema is not None
    assert tool.output_schema["required"] == ["result"]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[each[1][:40] for each in REFUSED])
def test_what_cannot_be_a_tool_is_refused_with_its_reason(given: Any, message: str) -> None:
    with pytest.raises(DeclarationRefused) as caught:
        Server.from_openapi(given, httpx2.AsyncClient())

    assert str(caught.value).startswith("Server.from_openapi(): ")
    assert message in str(caught.value)


def test_it_is_left_out_and_listed_on_request(caplog: pytest.LogCaptureFixture) -> None:
    given = parameter(style="deepObject")
    given["paths"]["/y"] = {"get": {"summary": "Fine"}}

    server = Server.from_openapi(given, httpx2.AsyncClient(), unsupported="skip")

    assert list(server.catalog.offers.registry.tools) == ["get_y"]
    assert server.skipped == {"GET /x": "parameter 'a' has style 'deepObject'; use 'form'"}
    assert "GET /x is left out: parameter 'a' has style 'deepObject'; use 'form'" in caplog.text


def test_a_client_without_request_is_refused() -> None:
    with pytest.raises(DeclarationRefused, match="the client has no `request`; pass one such as httpx"):
        Server.from_openapi(document(), object())  # type: ignore[arg-type]


def test_schemas_of_openapi_3_0_become_json_schema() -> None:
    components = {"schemas": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}}}
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "nullable": True, "example": 5},
            "e": {"type": "string", "enum": ["a"], "nullable": True},
            "node": {"$ref": "#/components/schemas/Node"},
        },
    }
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    given = with_operation({"operationId": "x", "requestBody": body}, method="post", components=components)

    tool = Server.from_openapi(given, httpx2.AsyncClient()).catalog.offers.registry.tools["x"]

    assert tool.input_schema["properties"]["body"]["properties"] == {
        "n": {"type": ["integer", "null"], "exclusiveMinimum": 1},
        "e": {"type": ["string", "null"], "enum": ["a", None]},
        "node": {"$ref": "#/$defs/Node"},
    }
    assert tool.input_schema["$defs"] == {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"schema": {"type": "integer", "default": 20}}, {"type": "integer", "description": "Default: 20"}),
        (
            {"description": "How many.", "schema": {"type": "string", "default": "ten"}},
            {"type": "string", "description": 'How many. Default: "ten"'},
        ),
        ({"schema": {"type": "string", "default": "x" * 300}}, {"type": "string"}),
    ],
)
def test_the_default_of_a_parameter_is_in_its_description(facts: dict[str, Any], expected: dict[str, Any]) -> None:
    tool = Server.from_openapi(parameter(**facts), httpx2.AsyncClient()).catalog.offers.registry.tools["x"]

    assert tool.input_schema["properties"]["a"] == expected


@pytest.mark.parametrize(("given", "name"), [("pets/list all", "pets_list_all"), (None, "get_x_id")])
def test_a_tool_is_named_by_its_operation_id_or_by_method_and_path(given: str | None, name: str) -> None:
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    operation = {"parameters": [path], **({"operationId": given} if given else {})}

    server = Server.from_openapi(with_operation(operation, path="/x/{id}"), httpx2.AsyncClient())

    assert list(server.catalog.offers.registry.tools) == [name]


@pytest.mark.parametrize(("length", "reason"), [(450, "its schema is refused"), (600, "refer to more than 500 others")])
def test_a_long_chain_of_references_is_refused_without_recursion(length: int, reason: str) -> None:
    schemas: dict[str, Any] = {
        f"S{number}": {"type": "object", "properties": {"a": {"$ref": f"#/components/schemas/S{number + 1}"}}}
        for number in range(length)
    }
    schemas[f"S{length}"] = {"type": "string"}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    given = with_operation({"operationId": "x", "requestBody": body}, method="post", components={"schemas": schemas})

    with pytest.raises(DeclarationRefused, match=reason):
        Server.from_openapi(given, httpx2.AsyncClient())
