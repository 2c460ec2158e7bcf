"""The basics pack: its schemas, its tools, and that no schema from a client can block the server."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import time
from collections.abc import Coroutine
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.canon.json import JsonObject, parse_object
from strictwire.contract.conform import compile_schema
from strictwire.contract.handler import CallContext
from strictwire.contract.safety import Safety
from strictwire.contract.schema import SchemaProblem
from strictwire.fault.failure import Failure, Refused
from strictwire.packs.basics import BasicsPack, pack
from strictwire.packs.basics.tools import _SCHEMA_PROBLEMS, canonicalize, measure_text
from strictwire.packs.basics.worker import validate
from strictwire.packs.basics.worker_pool import PoolLimits, WorkerPool
from strictwire.packs.pack import ENTRY_POINTS, Environment, PackRefused
from strictwire.sources.shipped import load_contract

SCHEMAS = Path(__file__).parents[2] / "schemas" / "tools"
NO_CONTEXT = cast("CallContext", None)
"""These tools do not use the context."""


def read(name: str) -> JsonObject:
    return parse_object((SCHEMAS / f"{name}.json").read_bytes())


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


async def call(tool: str, arguments: JsonObject) -> Any:
    """Call a tool as the pipeline does: arguments are checked by the input schema, the answer by the output schema."""
    assert compile_schema(read(tool)).find_violations(arguments) == ()
    basics = pack()
    handlers = await basics.open(Environment())
    try:
        answer = handlers[tool](arguments, NO_CONTEXT)
        answer = await answer if asyncio.iscoroutine(answer) else answer
    finally:
        await basics.close()
    assert compile_schema(read(f"{tool}.output")).find_violations(answer) == ()
    return answer


def refusal(tool: str, arguments: JsonObject) -> Failure:
    with pytest.raises(Refused) as caught:
        run(call(tool, arguments))
    return caught.value.failure


def test_the_pack_is_found_by_its_entry_point() -> None:
    (found,) = entry_points(group=ENTRY_POINTS, name="basics")

    assert isinstance(found.load()(), BasicsPack)


@pytest.mark.clause("G2")
@pytest.mark.parametrize("tool", BasicsPack.tools)
def test_every_tool_has_a_contract_from_its_three_files(tool: str) -> None:
    contract = load_contract(SCHEMAS.parent, tool)

    assert (contract.input_schema, contract.output_schema) == (read(tool), read(f"{tool}.output"))
    assert (contract.safety, contract.annotations["readOnlyHint"]) == (Safety.READ_ONLY, True)
    assert 0 < len(contract.description) <= 120


def test_every_tool_has_a_handler() -> None:
    async def opened() -> set[str]:
        basics = pack()
        handlers = await basics.open(Environment())
        await basics.close()
        return set(handlers)

    assert run(opened()) == set(BasicsPack.tools)


def test_a_setting_is_refused_because_the_pack_has_none() -> None:
    with pytest.raises(PackRefused, match="expected no settings, got speed"):
        run(pack().open(Environment(settings={"speed": 1})))


def walk(schema: Any) -> list[JsonObject]:
    parts = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    return ([schema] if isinstance(schema, dict) else []) + [found for part in parts for found in walk(part)]


@pytest.mark.clause("G1", "G3", "G4", "G5", "G6", "G7", "G10", "G13")
@pytest.mark.parametrize("name", [name for tool in BasicsPack.tools for name in (tool, f"{tool}.output")])
def test_the_schemas_obey_the_governance_rules(name: str) -> None:
    schema = read(name)
    objects = [part for part in walk(schema) if part.get("type") == "object" and "properties" in part]

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert all(part["additionalProperties"] is False for part in objects)
    assert all(set(part["required"]) == set(part["properties"]) for part in objects)
    assert not [part for part in walk(schema) if "default" in part]
    assert all("maxLength" in part or "pattern" in part for part in walk(schema) if part.get("type") == "string")
    assert all("maxItems" in part for part in walk(schema) if part.get("type") == "array")
    assert all(len(part["description"]) <= 120 for part in walk(schema) if isinstance(part.get("description"), str))


PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"name": "Ada"}, []),
        ({"age": -1, "x": 1}, [
            ("/age", "minimum", "0", ""),
            ("/name", "required", "", ""),
            ("/x", "additionalProperties", "", ""),
        ]),
        ({"name": 1}, [("/name", "type", "string", "integer")]),
        (None, [("", "type", "object", "null")]),
    ],
)  # fmt: skip
def test_a_document_is_validated_against_its_schema(document: Any, expected: list[tuple[str, ...]]) -> None:
    violations = [dict(zip(("path", "keyword", "expected", "actual"), each, strict=True)) for each in expected]

    answer = run(call("json_validate", {"document": document, "schema": PERSON}))

    assert answer == {"valid": not violations, "violations": violations}


def test_at_most_ten_violations_are_reported_and_their_texts_are_bounded() -> None:
    names = {f"{number}{'x' * 5000}": 1 for number in range(30)}
    schema = {"properties": {"a": True}, "additionalProperties": False}
    answer = run(call("json_validate", {"document": names, "schema": schema}))

    assert answer["valid"] is False
    assert len(answer["violations"]) == 10
    assert max(len(each["path"]) for each in answer["violations"]) == 1024


@pytest.mark.parametrize(
    ("schema", "reason", "path"),
    [
        ({"properties": {"a": {"$ref": "https://example.com/a.json"}}}, "remote_ref", "/schema/properties/a/$ref"),
        ({"$ref": "other.json#/x"}, "remote_ref", "/schema/$ref"),
        ({"$ref": "#/$defs/none"}, "invalid", "/schema"),
        ({"type": "no such type"}, "invalid", "/schema"),
        ({"pattern": "("}, "invalid", "/schema"),
        ({"$schema": "https://example.com/mine"}, "unknown_dialect", "/schema/$schema"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_reason_and_pointer(schema: JsonObject, reason: str, path: str) -> None:
    failure = refusal("json_validate", {"document": 1, "schema": schema})
    (violation,) = failure.details["violations"]  # type: ignore[misc]

    assert (failure.code, failure.details["reason"], violation["path"]) == ("INVALID_PARAMS", reason, path)
    assert failure.text == f"The schema {_SCHEMA_PROBLEMS[reason]}"


def test_every_schema_problem_has_a_message() -> None:
    assert set(_SCHEMA_PROBLEMS) == set(SchemaProblem) - {SchemaProblem.ROOT_NOT_OBJECT}


def test_schemas_that_are_too_deep_or_too_large_are_refused() -> None:
    deep: JsonObject = {}
    for _ in range(70):
        deep = {"not": deep}

    assert validate({"document": 1, "schema": deep}) == {"problem": "too_deep", "pointer": ""}
    assert validate({"document": 1, "schema": {"$comment": "x" * (1 << 20)}}) == {"problem": "too_large", "pointer": ""}


COSTLY: JsonObject = {"items": {"oneOf": [{"const": number} for number in range(500)]}}
"""Takes about half a second for 3,000 items, the most that its cost allows."""


def test_a_schema_that_doubles_with_every_reference_is_refused() -> None:
    defs: JsonObject = {"a0": {"type": "integer"}}
    for level in range(1, 60):
        defs[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    doubling: JsonObject = {"$defs": defs, "$ref": "#/$defs/a59"}

    assert validate({"document": 1, "schema": doubling}) == {"problem": "too_complex", "pointer": ""}


@pytest.mark.slow
def test_a_validation_that_takes_too_long_is_abandoned_and_the_event_loop_is_not_blocked() -> None:
    async def attack() -> tuple[str, float, Any]:
        workers = WorkerPool(PoolLimits(seconds=2.0, processes=1))
        await workers.validate(1, {})
        workers._idle[0].process.send_signal(signal.SIGSTOP)
        longest = 0.0
        doomed = asyncio.create_task(workers.validate([499] * 3000, COSTLY))
        while not doomed.done():
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)
        with pytest.raises(Refused) as caught:
            await doomed
        after = await workers.validate("x", {"type": "integer"})
        await workers.close()
        return caught.value.failure.code, longest, after

    code, longest, after = run(attack())

    assert code == "TIMEOUT"
    assert longest < 1.0, "the event loop was blocked"
    assert after["valid"] is False


def test_cancelling_a_call_kills_its_worker() -> None:
    async def cancelled() -> tuple[int, int | None]:
        workers = WorkerPool(PoolLimits(processes=1))
        await workers.validate(1, {})
        process = workers._idle[0].process
        doomed = asyncio.create_task(workers.validate([499] * 3000, COSTLY))
        while workers._idle:
            await asyncio.sleep(0)
        doomed.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doomed
        left = len(workers._idle)
        await workers.close()
        return left, process.returncode

    assert run(cancelled()) == (0, -9)


def test_a_worker_that_died_while_idle_is_replaced() -> None:
    async def replaced() -> Any:
        workers = WorkerPool()
        await workers.validate(1, {})
        workers._idle[0].process.kill()
        await workers._idle[0].process.wait()
        answer = await workers.validate(1, {})
        await workers.close()
        return answer

    assert run(replaced()) == {"valid": True, "violations": []}


def test_a_worker_is_replaced_after_its_number_of_requests() -> None:
    async def pids() -> list[int]:
        workers = WorkerPool(PoolLimits(requests=2))
        seen = []
        for _ in range(4):
            await workers.validate(1, {})
            seen.extend(each.process.pid for each in workers._idle)
        await workers.close()
        return seen

    first, second = run(pids())
    assert first != second


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_request_and_not_the_server() -> None:
    """As one that runs out of memory does."""

    async def kill() -> tuple[str, Any]:
        workers = WorkerPool(PoolLimits(seconds=50, processes=1))
        await workers.validate(1, {})
        (worker,) = workers._idle
        doomed = asyncio.create_task(workers.validate([499] * 3000, COSTLY))
        await asyncio.sleep(0)
        worker.process.kill()
        with pytest.raises(Refused) as caught:
            await doomed
        after = await workers.validate(1, {})
        await workers.close()
        return caught.value.failure.code, after

    assert run(kill()) == ("CAP_EXCEEDED", {"valid": True, "violations": []})


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{ "b": 1, "a": [1.0, 2e0, -0] }', '{"a":[1,2,0],"b":1}'),
        ('"\\u00e9\\n"', '"é\\n"'),
        ("1e21", "1e+21"),
        ("9007199254740993.0", "9007199254740992"),
        ("1152921504606846976", "1152921504606847000"),
        ("1152921504606847000", "1152921504606847000"),
    ],
)
def test_a_document_has_one_canonical_text(text: str, canonical: str) -> None:
    raw = canonical.encode()
    expected = {"canonical": canonical, "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}

    assert run(call("json_canonicalize", {"document": text})) == expected


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ('{"a":1,"a":2}', "duplicate_key", None),
        ("[1,]", "syntax", 3),
        ("{", "syntax", 1),
        ("NaN", "syntax", 0),
        ("1e400", "number_range", None),
        ("[" * 200 + "]" * 200, "too_deep", None),
        ("9007199254740993", "number_range", None),
        ("1" * 400, "number_range", None),
    ],
)
def test_text_that_is_not_strict_json_is_refused_with_reason_and_position(
    text: str, reason: str, position: int | None
) -> None:
    failure = refusal("json_canonicalize", {"document": text})

    assert failure.code == "INVALID_PARAMS"
    assert (failure.details["reason"], failure.details.get("position")) == (reason, position)


def test_a_refusal_quotes_nothing_from_the_document() -> None:
    assert "secret" not in repr(refusal("json_canonicalize", {"document": '{"secret": secret}'}))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(json_values)
def test_canonicalizing_canonical_text_changes_nothing(value: Any) -> None:
    import json

    once = canonicalize({"document": json.dumps(value)}, NO_CONTEXT)

    assert canonicalize({"document": once["canonical"]}, NO_CONTEXT) == once


def test_a_text_is_measured() -> None:
    expected = {
        "bytes": 9,
        "characters": 7,
        "words": 3,
        "lines": 2,
        "sha256": hashlib.sha256("äé a\r\nb".encode()).hexdigest(),
    }

    assert run(call("text_measure", {"text": "äé a\r\nb"})) == expected
    assert measure_text({"text": ""}, NO_CONTEXT)["lines"] == 0


@pytest.mark.clause("G11")
@pytest.mark.parametrize(("tool", "argument"), [("json_canonicalize", "document"), ("text_measure", "text")])
def test_one_character_over_the_limit_violates_the_schema(tool: str, argument: str) -> None:
    schema = compile_schema(read(tool))

    assert schema.accepts({argument: "x" * 1_000_000})
    assert [each.keyword for each in schema.find_violations({argument: "x" * 1_000_001})] == ["maxLength"]
