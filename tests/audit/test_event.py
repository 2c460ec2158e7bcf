"""What a record holds (S8)."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.audit.event import (
    _RENDERERS,
    NOWHERE,
    Brief,
    Call,
    End,
    Event,
    Flood,
    Intent,
    Origin,
    Outcome,
    Prune,
    Recovery,
    Refusal,
    Turned,
    Values,
    make_form,
    make_turned,
    render_body,
)
from strictwire.canon.json import is_rendered, parse_object, render_sorted

ORIGIN = Origin(
    call_id="c1",
    principal="alice",
    role="WINDSURF",
    session_id="s1",
    transport="stdio",
    profile="mcp",
    method="tools/call",
    tool_name="write_file",
    contract="sha256:aa",
    policy="p1",
    args_digest="sha256:bb",
    plan_hash="ph",
    phase_id="ph1",
)
FAILED = End(
    duration_us=12,
    error_code="FILE_WRITE_FAILED",
    invariant_id="INV",
    cause={"message": "password=hunter2", "code": "EIO", "name": "OSError"},
    envelope={"error_code": "FILE_WRITE_FAILED", "api_key": "abc"},
)
WHO = {
    "call_id": "c1",
    "principal": "alice",
    "role": "WINDSURF",
    "session_id": "s1",
    "transport": "stdio",
    "profile": "mcp",
    "method": "tools/call",
    "tool_name": "write_file",
    "contract": "sha256:aa",
    "policy": "p1",
    "args_digest": "sha256:bb",
    "plan_hash": "ph",
    "phase_id": "ph1",
}


@pytest.mark.clause("S8")
def test_a_failed_call_has_the_fields_of_the_clause_and_the_redacted_envelope():
    body = parse_object(render_body(Outcome(timestamp="T", origin=ORIGIN, end=FAILED)))

    assert body == {
        "kind": "outcome",
        "timestamp": "T",
        **WHO,
        "outcome": "error",
        "result_digest": None,
        "error_code": "FILE_WRITE_FAILED",
        "invariant_id": "INV",
        "cause": {"message": "password=[redacted]", "code": "EIO", "name": "OSError"},
        "duration_us": 12,
        "envelope": {"error_code": "FILE_WRITE_FAILED", "api_key": "[redacted]"},
    }


def test_values_are_digested_and_not_stored():
    call = Call(timestamp="T", origin=ORIGIN, end=End(duration_us=1), arguments={"a": 1}, result={"b": 2})

    assert not {"arguments", "result"} & parse_object(render_body(call)).keys()


def test_stored_values_are_redacted():
    call = Call(timestamp="T", origin=ORIGIN, end=End(duration_us=1), arguments={"token": "t"}, result=[1])
    body = parse_object(render_body(call, Values.STORED))

    assert (body["arguments"], body["result"]) == ({"token": "[redacted]"}, [1])


def test_an_intent_has_no_end():
    body = parse_object(render_body(Intent(timestamp="T", origin=ORIGIN)))

    assert body == {"kind": "intent", "timestamp": "T", **WHO}


def test_a_refusal_has_its_stage():
    body = parse_object(render_body(Refusal(timestamp="T", stage="authorise", origin=NOWHERE, end=FAILED)))

    assert (body["kind"], body["stage"], body["error_code"], body["tool_name"]) == (
        "refusal",
        "authorise",
        "FILE_WRITE_FAILED",
        None,
    )


def test_flood_recovery_and_prune_records_have_their_fields():
    bodies = [
        parse_object(render_body(event))
        for event in (
            Flood(timestamp="T", since="S", counts={"b": 2, "a": 1}),
            Recovery(timestamp="T", reason="torn_line", size=3, digest="sha256:cc", kept_as="f"),
            Prune(timestamp="T", before="B", first=9),
        )
    ]

    assert bodies == [
        {"kind": "flood", "timestamp": "T", "since": "S", "counts": {"a": 1, "b": 2}},
        {"kind": "recovery", "timestamp": "T", "reason": "torn_line", "size": 3, "digest": "sha256:cc", "kept_as": "f"},
        {"kind": "prune", "timestamp": "T", "before": "B", "first": 9},
    ]


def test_every_event_has_a_rendering():
    assert set(get_args(Event)) == set(_RENDERERS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_every_body_round_trips_and_has_no_line_break(arguments: object, result: object):
    """An intact log never fails verification, whatever values it contains."""
    call = Call(timestamp="T", origin=ORIGIN, end=End(duration_us=1, cause=result), arguments=arguments, result=result)
    body = render_body(call, Values.STORED)

    assert is_rendered(body)
    assert b"\n" not in body


FORM = make_form(Origin(principal='o"neil', transport="stdio", profile="mcp", method="tools/call", tool_name="add"))
TURNED = make_turned(
    stage="accept", error_code="INVALID_PARAMS", invariant_id=None, envelope={"error": {"token": "hunter2", "at": "/a"}}
)


@pytest.mark.parametrize("values", list(Values))
@pytest.mark.parametrize("turned", [None, TURNED])
def test_a_brief_renders_like_its_equivalent_record(values: Values, turned: Turned | None):
    result, raw = (None, b"") if turned else ({"sum": 3}, b'{"sum":3}')
    arguments = {"password": "x", "a": 1}
    brief = Brief(FORM, "2026-01-01T00:00:00.000Z", render_sorted(arguments), raw, 12, turned, arguments, result)

    assert render_body(brief, values) == render_body(brief.as_event(), values)
    assert (b'"arguments"' in render_body(brief, values)) is (values is Values.STORED)
