"""The executable specification of envelope validation: schemas, canonical errors, and the golden run log (V15).

Its fixtures stand beside it in `fixtures/`: the two schemas of a tool, and the golden file, which
`python -m tests.profiles.golden` writes.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.profiles.golden import GOLDEN, REQUESTS, record
from tests.profiles.wires import validator

from strictwire.canon.json import NotStrict, parse_object
from strictwire.contract.schema import SchemaRefused
from strictwire.fault.dialects.canonical import CANONICAL_CODES, CanonicalError
from strictwire.profiles.runlog import NAMESPACE, Ids, deterministic_id
from strictwire.sources.registry import NotConforming, SchemaRegistry

SCHEMAS = Path(__file__).parents[2] / "schemas"
FIXTURES = Path(__file__).parent / "fixtures"
TOOL = "fixture.greet"

ENVELOPE: dict[str, Any] = {
    "id": "2f6f7c46-1a3e-4a0e-9a66-8f4c3b1f0a11",
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {"tool": TOOL, "input": {"name": "Ada"}},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The published envelopes beside the schemas of a fixture tool."""
    shutil.copytree(SCHEMAS / "envelopes", tmp_path / "envelopes")
    shutil.copytree(FIXTURES / "tools", tmp_path / "tools")
    return tmp_path


@pytest.fixture
def registry(root: Path) -> SchemaRegistry:
    return SchemaRegistry(schema_root=root)


def change(**changes: Any) -> dict[str, Any]:
    """The envelope with changes; `...` takes a member away."""
    return {name: value for name, value in {**ENVELOPE, **changes}.items() if value is not ...}


# The envelope.


@pytest.mark.clause("V1")
@pytest.mark.clause("V15")
@pytest.mark.parametrize("changes", [{}, {"idempotencyKey": "k"}, {"params": {}}, {"params": {"more": [1]}}, {"x": None}])
def test_an_envelope_is_accepted_with_whatever_stands_beside_its_members(
    registry: SchemaRegistry, changes: dict[str, Any]
) -> None:
    registry.load_envelope().validate(change(**changes))


@pytest.mark.clause("V15")
@pytest.mark.parametrize(
    ("changes", "path", "keyword"),
    [
        pytest.param({"id": ...}, "/id", "required", marks=pytest.mark.clause("V1")),
        pytest.param({"jsonrpc": ...}, "/jsonrpc", "required", marks=pytest.mark.clause("V1")),
        pytest.param({"method": ...}, "/method", "required", marks=pytest.mark.clause("V1")),
        pytest.param({"params": ...}, "/params", "required", marks=pytest.mark.clause("V1")),
        pytest.param({"id": ""}, "/id", "minLength", marks=pytest.mark.clause("V2")),
        pytest.param({"id": 1}, "/id", "type", marks=pytest.mark.clause("V2")),
        pytest.param({"id": None}, "/id", "type", marks=pytest.mark.clause("V2")),
        pytest.param({"jsonrpc": "1.0"}, "/jsonrpc", "const", marks=pytest.mark.clause("V3")),
        pytest.param({"jsonrpc": 2.0}, "/jsonrpc", "const", marks=pytest.mark.clause("V3")),
        pytest.param({"method": ""}, "/method", "minLength", marks=pytest.mark.clause("V4")),
        pytest.param({"method": " \t"}, "/method", "pattern", marks=pytest.mark.clause("V4")),
        pytest.param({"params": "text"}, "/params", "type", marks=pytest.mark.clause("V5")),
        pytest.param({"params": []}, "/params", "type", marks=pytest.mark.clause("V5")),
    ],
)
def test_an_envelope_that_breaks_a_rule_is_refused_with_the_place_and_the_rule(
    registry: SchemaRegistry, changes: dict[str, Any], path: str, keyword: str
) -> None:
    with pytest.raises(NotConforming) as refused:
        registry.load_envelope().validate(change(**changes))

    assert (path, keyword) in {(each.path, each.keyword) for each in refused.value.violations}
    assert not registry.load_envelope().accepts(change(**changes))


@pytest.mark.clause("V15")
@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5))
def test_what_is_no_object_is_no_envelope(value: Any) -> None:
    assert not SchemaRegistry(schema_root=SCHEMAS).load_envelope().accepts(value)


# Tool input and output.


@pytest.mark.clause("V6")
@pytest.mark.clause("V15")
def test_what_is_said_to_and_by_a_tool_is_accepted(registry: SchemaRegistry) -> None:
    pair = registry.load_tool_io(TOOL)

    pair.input.validate({"tool": TOOL, "input": {"name": "Ada"}, "more": 1})
    pair.output.validate({"tool": TOOL, "output": {"greeting": "Hello, Ada"}, "more": 1})


@pytest.mark.clause("V6")
@pytest.mark.clause("V15")
@pytest.mark.parametrize(
    ("side", "value"),
    [
        ("input", {"tool": "fixture.other", "input": {"name": "Ada"}}),
        ("input", {"tool": TOOL}),
        ("input", {"input": {"name": "Ada"}}),
        ("input", {"tool": TOOL, "input": "Ada"}),
        ("input", {"tool": TOOL, "input": {}}),
        ("input", {"tool": TOOL, "input": {"name": ""}}),
        ("input", {"tool": TOOL, "output": {"greeting": "Hello"}}),
        ("input", []),
        ("output", {"tool": "fixture.other", "output": {"greeting": "Hello"}}),
        ("output", {"tool": TOOL, "output": "Hello"}),
        ("output", {"tool": TOOL, "output": None}),
        ("output", {"tool": TOOL, "output": {}}),
        ("output", {"tool": TOOL}),
        ("output", None),
    ],
)
def test_another_tool_or_a_side_that_is_no_object_or_breaks_its_schema_is_refused(
    registry: SchemaRegistry, side: str, value: Any
) -> None:
    with pytest.raises(NotConforming):
        getattr(registry.load_tool_io(TOOL), side).validate(value)


@pytest.mark.clause("V15")
def test_a_refusal_names_places_and_never_repeats_values(registry: SchemaRegistry) -> None:
    with pytest.raises(NotConforming) as refused:
        registry.load_tool_io(TOOL).input.validate({"tool": TOOL, "input": {"name": ["hidden"]}})

    assert str(refused.value) == "does not conform: /name (type)"
    assert "hidden" not in repr(refused.value)


# The registry.


@pytest.mark.clause("V7")
@pytest.mark.clause("V15")
def test_repeated_loads_give_the_same_objects(registry: SchemaRegistry) -> None:
    assert registry.load_envelope() is registry.load_envelope()
    assert registry.load_tool_io(TOOL) is registry.load_tool_io(TOOL)


@pytest.mark.clause("V7")
def test_a_changed_file_is_noticed_and_has_a_new_fingerprint(registry: SchemaRegistry, root: Path) -> None:
    before, envelope = registry.load_tool_io(TOOL), registry.load_envelope()
    path = root / "tools" / f"{TOOL}.json"
    original = path.read_bytes()

    path.write_bytes(original.replace(b'"maxLength": 100', b'"maxLength": 200'))
    after = registry.load_tool_io(TOOL)
    path.write_bytes(original)
    again = registry.load_tool_io(TOOL)

    assert after is not before
    assert after.input.fingerprint != before.input.fingerprint
    assert after.input.accepts({"tool": TOOL, "input": {"name": "x" * 150}})
    assert not before.input.accepts({"tool": TOOL, "input": {"name": "x" * 150}})
    assert after.output is before.output
    assert again.input is before.input
    assert registry.load_envelope() is envelope


@pytest.mark.clause("V7")
def test_white_space_and_member_order_are_no_change(registry: SchemaRegistry, root: Path) -> None:
    before = registry.load_tool_io(TOOL)
    path = root / "tools" / f"{TOOL}.json"
    members = parse_object(path.read_bytes())
    path.write_text("\n\n" + str(dict(reversed(members.items()))).replace("'", '"').replace("False", "false"))

    assert registry.load_tool_io(TOOL) is before


@pytest.mark.clause("V7")
def test_tools_of_equal_schemas_differ_by_their_name_alone(registry: SchemaRegistry, root: Path) -> None:
    for ending in ("json", "output.json"):
        shutil.copy(root / "tools" / f"{TOOL}.{ending}", root / "tools" / f"fixture.twin.{ending}")

    one, twin = registry.load_tool_io(TOOL), registry.load_tool_io("fixture.twin")

    assert one.input.fingerprint != twin.input.fingerprint
    assert one.input.parts[1][1] is twin.input.parts[1][1]
    assert not twin.input.accepts({"tool": TOOL, "input": {"name": "Ada"}})


@pytest.mark.clause("V7")
@pytest.mark.parametrize("name", ["fixture.none", "", "../tools/fixture.greet", "fixture.greet.output", "a b", "x" * 200])
def test_an_unknown_tool_raises_key_error(registry: SchemaRegistry, name: str) -> None:
    with pytest.raises(KeyError):
        registry.load_tool_io(name)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{", NotStrict),
        (b"[]", NotStrict),
        (b'{"type":"no such type"}', SchemaRefused),
        (b'{"$ref":"https://example.com/schema"}', SchemaRefused),
    ],
)
def test_a_file_that_is_no_schema_raises(
    registry: SchemaRegistry, root: Path, content: bytes, error: type[Exception]
) -> None:
    (root / "tools" / f"{TOOL}.json").write_bytes(content)

    with pytest.raises(error):
        registry.load_tool_io(TOOL)


def test_a_missing_envelope_schema_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SchemaRegistry(schema_root=tmp_path).load_envelope()


# Canonical errors.


@pytest.mark.clause("V8")
@pytest.mark.clause("V15")
@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("INVALID_ENVELOPE", 400, {"code": -32600, "message": "Invalid MCP envelope"}),
        ("INVALID_TOOL_INPUT", 422, {"code": -32602, "message": "Invalid tool input"}),
        ("TOOL_NOT_FOUND", 404, {"code": -32001, "message": "Unknown tool"}),
        ("INTERNAL_ERROR", 500, {"code": -32603, "message": "Internal error"}),
    ],
)
def test_each_code_has_its_status_and_its_error(code: str, status: int, error: dict[str, Any]) -> None:
    assert CanonicalError.to_http_status(code) == status
    assert CanonicalError.to_jsonrpc_error(code) == error
    assert CanonicalError.to_jsonrpc_error(code) is not CanonicalError.to_jsonrpc_error(code)


@pytest.mark.clause("V9")
@pytest.mark.clause("V15")
@given(code=st.text(max_size=20).filter(lambda text: text not in CANONICAL_CODES))
@pytest.mark.parametrize("table", [CanonicalError.to_http_status, CanonicalError.to_jsonrpc_error])
def test_any_other_code_raises_key_error(table: Callable[[str], object], code: str) -> None:
    with pytest.raises(KeyError):
        table(code)


# The golden run log.


def golden() -> list[dict[str, Any]]:
    return [parse_object(line) for line in GOLDEN.read_bytes().splitlines()]


@pytest.mark.clause("V14")
@pytest.mark.clause("V15")
def test_the_same_requests_over_both_transports_give_the_golden_file_to_the_byte(tmp_path: Path) -> None:
    path = asyncio.run(record(tmp_path))

    assert path.read_bytes() == GOLDEN.read_bytes()


@pytest.mark.clause("V12")
@pytest.mark.clause("V15")
def test_every_golden_event_has_the_fields_of_the_contract() -> None:
    names = {"ts", "requestId", "traceId", "spanId", "transport", "route", "method", "status", "durationMs", "error"}
    for event in golden():
        validator("run-log-event-1").validate(event)
        assert set(event) == names | {"metadata"}


@pytest.mark.clause("V13")
@pytest.mark.clause("V15")
def test_every_golden_event_tells_its_schema_version_and_that_ids_were_deterministic() -> None:
    for event in golden():
        assert event["metadata"]["schemaVersion"] == "0.1.0"
        assert event["metadata"]["deterministic"] is True


@pytest.mark.clause("V10")
@pytest.mark.clause("V14")
@pytest.mark.clause("V15")
def test_the_events_of_both_transports_differ_in_the_transport_alone() -> None:
    events = golden()
    http = [event for event in events if event["transport"] == "http"]
    stdio = [event for event in events if event["transport"] == "stdio"]

    assert len(http) == len(stdio) == len(REQUESTS)
    assert [event | {"transport": "stdio"} for event in http] == stdio


@pytest.mark.clause("V14")
def test_the_golden_file_holds_a_success_and_each_canonical_error() -> None:
    assert {event["status"] for event in golden()} == {"ok", *(code.lower() for code in CANONICAL_CODES)}


@pytest.mark.clause("V12")
def test_golden_ids_are_uuids_made_from_method_parameters_and_route() -> None:
    event = golden()[0]
    params = {"tool": "fixture.echo", "input": {"text": "hi"}}

    for kind, name in (("trace", "traceId"), ("span", "spanId")):
        made = deterministic_id(kind, method="tools/call", payload=params, route="/rpc/envelope")
        text = '{"method":"tools/call","payload":{"input":{"text":"hi"},"tool":"fixture.echo"},"route":"/rpc/envelope"}'
        assert event[name] == made == str(uuid.uuid5(NAMESPACE, f"{kind}:{text}"))
    assert Ids.DETERMINISTIC == "deterministic"
