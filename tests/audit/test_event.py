"""What a record holds (S8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.audit.event import Call, Flood, Intent, Outcome, Prune, Recovery, Refusal, render_body
from strictwire.canon.json import is_rendered, parse_object

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
FAILED: Any = {
    "outcome": "error",
    "error_code": "FILE_WRITE_FAILED",
    "invariant_id": "INV",
    "cause": {"message": "password=hunter2", "code": "EIO", "name": "OSError"},
    "duration_us": 12,
    "envelope": {"error_code": "FILE_WRITE_FAILED", "api_key": "abc"},
}


@pytest.mark.clause("S8")
def test_a_failed_call_holds_what_the_clause_names_and_the_envelope_as_sent_after_redaction():
    body = parse_object(render_body(Outcome(timestamp="T", **WHO, **FAILED)))

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


def test_values_are_not_written_unless_a_record_holds_them():
    call = Call(timestamp="T", **WHO, duration_us=1)

    assert not {"arguments", "result", "envelope", "stage"} & parse_object(render_body(call)).keys()


def test_values_are_redacted():
    call = Call(timestamp="T", **WHO, duration_us=1, arguments={"token": "t"}, result=[1])
    body = parse_object(render_body(call))

    assert (body["arguments"], body["result"]) == ({"token": "[redacted]"}, [1])


def test_an_intent_says_nothing_about_an_end():
    body = parse_object(render_body(Intent(timestamp="T", **WHO)))

    assert body == {"kind": "intent", "timestamp": "T", **WHO}


def test_a_refusal_says_at_which_stage():
    body = parse_object(render_body(Refusal(timestamp="T", stage="authorise", **FAILED)))

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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_every_body_reads_back_to_its_own_bytes_and_has_no_line_break(arguments: object, result: object):
    """An untouched log never fails verification, whatever was stored in it."""
    call = Call(timestamp="T", **WHO, duration_us=1, cause=result, arguments=arguments, result=result)  # type: ignore[arg-type]
    body = render_body(call)

    assert is_rendered(body)
    assert b"\n" not in body
