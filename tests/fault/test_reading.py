"""The JSON of every dialect is read back into a Failure, which renders to the same JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fault.failure_strategies import SCHEMA_OF, facts, failures

from strictwire.canon.json import render
from strictwire.fault.catalogue import CATALOGUE, Blame, Stage
from strictwire.fault.dialects.index import DIALECTS
from strictwire.fault.dialects.mcp import TOOL_DIALECTS, answer_tool_failure
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.fault.losses import CARRIED, FIELDS, Carried, render_losses
from strictwire.fault.reading import Unreadable, read, read_failure

Conforms = Callable[[str, Any], list[str]]


@pytest.mark.slow
@pytest.mark.clause("S4")
@pytest.mark.parametrize("dialect", DIALECTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(failure=failures, known=facts)
def test_rendered_json_is_valid_and_reads_back_to_an_equal_failure(
    dialect: str, failure: Failure, known: Facts, conforms: Conforms
) -> None:
    body = DIALECTS[dialect](failure, known)

    assert conforms(SCHEMA_OF[dialect], body) == []
    assert DIALECTS[dialect](read_failure(body), known) == body
    assert render(DIALECTS[dialect](read_failure(render(body)), known)) == render(body)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["system/1.0"])
@settings(deadline=None)
@given(failure=failures, known=facts)
def test_facts_are_read_back_if_the_dialect_carries_them(dialect: str, failure: Failure, known: Facts) -> None:
    body = DIALECTS[dialect](failure, known)
    reading = read(body)

    assert DIALECTS[dialect](reading.failure, reading.facts) == body


@pytest.mark.parametrize("dialect", TOOL_DIALECTS)
@settings(deadline=None, max_examples=30)
@given(failure=failures, known=facts)
def test_a_failure_is_read_from_the_whole_message(dialect: str, failure: Failure, known: Facts) -> None:
    answer = answer_tool_failure(failure, known, dialect)
    part = {"error": answer.error} if answer.result is None else {"result": answer.result}
    again = answer_tool_failure(read_failure(render({"jsonrpc": "2.0", "id": 1, **part})), known, dialect)

    assert again == answer


@pytest.mark.parametrize("dialect", ["mcp", "resolve/v0", "system/1.0"])
def test_a_result_without_structured_content_is_read_from_its_text(dialect: str) -> None:
    answer = answer_tool_failure(fail("FILE_NOT_FOUND"), Facts(tool="t"), dialect)
    assert answer.result is not None
    whole, text_only = answer.result, {name: answer.result[name] for name in ("content", "isError")}

    assert read_failure(text_only) == read_failure(whole)


def test_a_result_of_a_server_without_a_dialect_is_tool_failed() -> None:
    result = {"content": [{"type": "text", "text": "Disk on fire"}], "isError": True}

    assert read_failure(result) == fail("TOOL_FAILED", text="Disk on fire")
    assert read_failure({"content": [], "isError": True}) == fail("TOOL_FAILED")


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"code": -32700, "message": "Parse error"}, fail("NOT_JSON")),
        ({"code": -32601, "message": "No method x"}, fail("METHOD_NOT_FOUND", text="No method x")),
        (
            {"code": -32602, "message": "Resource not found", "data": {"uri": "a:b"}},
            fail("RESOURCE_NOT_FOUND", details={"uri": "a:b"}),
        ),
        (
            {"code": -32002, "message": "Resource not found", "data": {"uri": "a:b"}},
            fail("RESOURCE_NOT_FOUND", details={"uri": "a:b"}),
        ),
        (
            {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["1"], "requested": "2"}},
            fail("UNSUPPORTED_VERSION", details={"supported": ["1"], "requested": "2"}),
        ),
        ({"code": -32603, "message": "x", "data": {"code": "GATEWAY/NOT_FOUND"}}, fail("NOT_FOUND", text="x")),
        ({"code": -32603, "message": "x", "data": "free text"}, fail("INTERNAL", text="x")),
        ({"code": -32000, "message": ["not", "a", "text"]}, fail("TOOL_FAILED")),
    ],
)
def test_errors_of_other_servers_are_read_by_their_number(error: dict[str, Any], failure: Failure) -> None:
    assert read_failure({"jsonrpc": "2.0", "id": 1, "error": error}) == failure
    assert read_failure(error) == failure


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"not json",
        b"[]",
        b'{"a":1,"a":2}',
        {},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"isError": False, "content": []},
        {"isError": "true"},
        {"error": None},
        {"error": {"code": "no_such_code", "message": "x"}},
        {"error": {"code": 1.5}},
        {"error": {"code": True}},
        {"error_code": "NO_SUCH_CODE"},
        {"code": -32099, "message": "x"},
        {"code": -32700, "message": "x", "data": {"errorType": "execution"}},
        {"code": "X", "status": 400},
        {"code": -32602, "message": "x", "data": {"code": "NO_SUCH_CODE"}},
    ],
)
def test_a_payload_that_is_not_a_failure_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable) as caught:
        read_failure(payload)

    assert caught.value.reason


@given(
    payload=st.dictionaries(
        st.sampled_from(
            ["error", "code", "message", "data", "isError", "content", "structuredContent", "status", "error_code"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers(-32800, -32000) | st.text(max_size=5) | st.sampled_from(list(CATALOGUE)),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from(["code", "message", "details", "errorType", "issues", "text"]), inner)
            ),
            max_leaves=8,
        ),
    )
)
def test_any_object_is_read_or_refused_without_another_exception(payload: dict[str, Any]) -> None:
    try:
        failure = read_failure(payload)
    except Unreadable:
        return
    assert failure.code in CATALOGUE


OTHER: dict[str, list[Any]] = {
    "code": list(CATALOGUE),
    "stage": list(Stage),
    "blame": list(Blame),
    "retryable": [True, False],
    "text": ["One sentence", "Another sentence"],
    "details": [
        {},
        {"limit": 1},
        {"violations": [{"path": "/budget", "keyword": "type", "expected": "integer", "actual": "string"}]},
        {"violations": [{"path": "/cache", "keyword": "required"}]},
    ],
    "invariant_id": [None, "PLAN_APPROVED", "WRITE_ATOMIC"],
    "cause": [None, "text", {"message": "m", "code": None, "name": "n"}],
    "own_code": [None, "shop/OUT_OF_STOCK"],
    "action": [None, "Do something else."],
}
"""Two values of each field, to measure whether a dialect carries it."""


def _grade(dialect: str, field: str) -> Carried:
    """Measure whether different values of one field differ after rendering and reading."""
    bodies = [
        [render(DIALECTS[dialect](replace(base, **{field: value}), Facts())) for value in OTHER[field]]
        for base in map(fail, CATALOGUE)
    ]
    if all(len(set(rendered)) == 1 for rendered in bodies):
        return Carried.LOST
    read_back = all(
        getattr(read_failure(body), field) == value
        for rendered in bodies
        for value, body in zip(OTHER[field], rendered, strict=True)
    )
    return Carried.WHOLE if read_back else Carried.PARTLY


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_table_of_losses_matches_the_measurement(dialect: str) -> None:
    measured = {field: _grade(dialect, field) for field in FIELDS}
    stated = dict(CARRIED[dialect])
    # A failure of arguments with the default text renders a more specific message, which these texts do not cover.
    if dialect == "mcp":
        assert measured.pop("text") is Carried.WHOLE
        assert stated.pop("text") is Carried.PARTLY
    if dialect == "system/1.0":
        assert measured.pop("text") is Carried.WHOLE
        assert stated.pop("text") is Carried.PARTLY

    assert measured == stated


def test_the_table_of_losses_names_every_dialect() -> None:
    assert set(CARRIED) == set(DIALECTS)
    assert all(f"`{dialect}`" in render_losses() for dialect in DIALECTS)
