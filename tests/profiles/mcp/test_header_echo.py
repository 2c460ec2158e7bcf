"""Headers that repeat the body: every way in which they can differ is noticed, every way to say the same is understood."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from strictwire.contract.registry import ContractRefused
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.header_echo import (
    Mirrored,
    find_argument_mismatch,
    find_mismatch,
    mirrored_arguments,
    mismatch,
    read_value,
)
from tests.fixtures.live import HttpProcess, modern, modern_headers, request


def sealed(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def differs(value: Any, *given: str, kind: str = "string") -> bool:
    headers = Headers([("Mcp-Param-X", each) for each in given])
    found = find_argument_mismatch(headers, (Mirrored(header="X", path=("x",), kind=kind),), {"x": value})
    assert found in (None, mismatch("Mcp-Param-X"))
    return found is not None


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("eu", "eu"),
        ("eu", " eu\t"),
        ("é", sealed("é")),
        (" eu ", sealed(" eu ")),
        ("", ""),
        ("", sealed("")),
        ("=?base64?x?=", sealed("=?base64?x?=")),
        ("=?BASE64?eHg=?=", "=?BASE64?eHg=?="),
        (5, "5"),
        (5, "5.0"),
        (5.0, "5"),
        (-7, "-7"),
        (2**53 - 1, str(2**53 - 1)),
        (True, "true"),
        (False, "false"),
    ],
)
def test_a_header_that_says_the_same_agrees(value: Any, header: str) -> None:
    assert not differs(value, header)


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        ("eu", []),
        ("eu", ["us"]),
        ("eu", ["EU"]),
        ("eu", ["eu", "eu"]),
        ("é", ["é"]),
        ("eu", ["=?base64?!!!?="]),
        ("eu", ["=?base64?ZXU?="]),
        ("\ufffd", ["=?base64?/w==?="]),
        (5, ["6"]),
        (5, ["five"]),
        (5, ["0x5"]),
        (5, ["+5"]),
        (5, ["5_0"]),
        (50, ["5_0"]),
        (5, [" 5 x"]),
        (1000, ["1e3"]),
        (2**53, [str(2**53)]),
        (True, ["1"]),
        (True, ["True"]),
        (1, ["true"]),
        (False, ["0"]),
        ("5", ["5.0"]),
    ],
)
def test_a_header_that_says_anything_else_does_not(value: Any, headers: list[str]) -> None:
    assert differs(value, *headers)


def test_a_header_for_an_argument_that_is_not_there_differs() -> None:
    mirrored = (Mirrored(header="X", path=("x",), kind="string"),)

    assert find_argument_mismatch(Headers([("Mcp-Param-X", "")]), mirrored, {}) == mismatch("Mcp-Param-X")
    assert find_argument_mismatch(Headers([("Mcp-Param-X", "null")]), mirrored, {"x": None}) == mismatch("Mcp-Param-X")
    assert find_argument_mismatch(Headers([]), mirrored, {"x": None}) is None


def test_an_argument_that_cannot_be_repeated_is_left_to_the_schema() -> None:
    assert not differs(["eu"])
    assert not differs({"eu": 1})


def test_only_sealed_values_may_hold_more_than_ascii() -> None:
    assert read_value(Headers([("X", "\xe9")]), "X") is None
    assert read_value(Headers([("X", sealed("\U0001f600"))]), "X") == "\U0001f600"


@pytest.mark.parametrize(("method", "member"), [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")])
def test_the_name_is_repeated_where_there_is_one(method: str, member: str) -> None:
    pairs = [("MCP-Protocol-Version", "v"), ("Mcp-Method", method)]

    def judged(*more: tuple[str, str]) -> object:
        return find_mismatch(Headers([*pairs, *more]), version="v", method=method, params={member: "é"})

    assert judged() == mismatch("Mcp-Name")
    assert judged(("Mcp-Name", sealed("é"))) is None
    assert judged(("mcp-name", sealed("e"))) == mismatch("Mcp-Name")


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}},
}


def test_annotated_arguments_are_found_at_any_depth_of_properties() -> None:
    assert mirrored_arguments(SCHEMA) == (Mirrored(header="B", path=("a", "b"), kind="integer"),)


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "number", "x-mcp-header": "A"}},
        {"a": {"type": "array", "x-mcp-header": "A"}},
        {"a": {"x-mcp-header": "A"}},
        {"a": {"type": "string", "x-mcp-header": "A B"}},
        {"a": {"type": "string", "x-mcp-header": ""}},
        {"a": {"type": "string", "x-mcp-header": 5}},
        {"a": {"type": "string", "x-mcp-header": "A\r\nEvil"}},
        {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}},
    ],
)
def test_an_annotation_that_clients_must_not_follow_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(ContractRefused):
        mirrored_arguments({"type": "object", "properties": properties})


# Over the wire.


def call(**arguments: Any) -> bytes:
    return modern(1, "tools/call", {"name": "mirrored", "arguments": arguments})


GOOD = {"Mcp-Param-Region": sealed("é"), "Mcp-Param-Limit": "5", "Mcp-Param-Dry": "true", "Mcp-Param-Zone": "z"}


def test_headers_that_repeat_everything_are_served(http: HttpProcess) -> None:
    body = call(region="é", limit=5, dry=True, nested={"zone": "z"})

    assert http.ask(body, **GOOD).json()["result"]["content"][0]["text"] == "dry, limit, nested, region"


@pytest.mark.parametrize("header", [*GOOD, "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize("wrong", [None, "wrong", "=?base64?!?="])
def test_each_header_that_is_missing_or_wrong_is_a_mismatch(http: HttpProcess, header: str, wrong: str | None) -> None:
    body = call(region="é", limit=5, dry=True, nested={"zone": "z"})
    headers = {**modern_headers(body), **GOOD, header: wrong}
    answer = http.post(body, headers)  # type: ignore[arg-type]

    assert (answer.status, answer.json()["error"]["code"]) == (400, -32020)
    assert answer.json()["error"]["data"]["details"]["header"] == header


def test_a_header_that_comes_twice_is_a_mismatch(http: HttpProcess) -> None:
    body = call(limit=5)
    raw = request(body, {**modern_headers(body), "Mcp-Param-Limit": "5"}, port=http.port)
    with http.connect() as connection:
        connection.write(raw.replace(b"Mcp-Param-Limit: 5\r\n", b"Mcp-Param-Limit: 5\r\nmcp-param-limit: 5\r\n"))

        assert connection.answer().json()["error"]["code"] == -32020


def test_header_names_have_no_case(http: HttpProcess) -> None:
    body = call(limit=5)
    headers = {name.upper(): value for name, value in {**modern_headers(body), "Mcp-Param-Limit": "5"}.items()}

    assert http.post(body, headers).status == 200


def test_unknown_parameter_headers_are_passed_over(http: HttpProcess) -> None:
    assert http.ask(call(), **{"Mcp-Param-Unknown": "x"}).status == 200
