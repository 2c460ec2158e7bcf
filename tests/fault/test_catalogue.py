"""The catalogue is complete: every code has an entry and a rendering in every dialect."""

from __future__ import annotations

import re

import pytest

from strictwire.fault.catalogue import CATALOGUE, PROTOCOL_CODES, RENDERINGS, Blame, Stage
from strictwire.fault.dialects.canonical import CANONICAL_CODES
from strictwire.fault.dialects.editor_v01 import KINDS, STANDARD
from strictwire.fault.dialects.index import DIALECTS
from strictwire.fault.dialects.resolve_v0 import MESSAGES
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.fault.failure import Failure, fail
from strictwire.fault.invariants import INVARIANTS
from strictwire.fault.spellings import NATIVE, spell


def test_every_code_has_an_entry_and_a_row() -> None:
    assert list(RENDERINGS) == list(CATALOGUE)


def test_no_code_is_listed_twice() -> None:
    """A repeated code would silently replace the first one, so the source lines are counted and not the mapping."""
    assert len(CATALOGUE) == 93


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_field_of_an_entry_is_set(code: str) -> None:
    entry = CATALOGUE[code]

    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", code)
    assert entry.text
    assert not entry.text.endswith(".")
    assert entry.meaning.endswith(".")
    assert entry.action.endswith(".")


@pytest.mark.clause("S12")
@pytest.mark.parametrize("code", SYSTEM_ERROR_CODES)
def test_every_governed_code_has_an_action(code: str) -> None:
    assert CATALOGUE[code].action


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_dialect_spells_every_code_with_one_of_its_codes(code: str) -> None:
    row = RENDERINGS[code]

    assert row.resolve in MESSAGES
    assert row.system in SYSTEM_ERROR_CODES
    assert row.canonical in CANONICAL_CODES
    assert row.editor in {*STANDARD, *KINDS}
    assert row.mcp in CATALOGUE
    assert row.mcp_v1 in CATALOGUE
    assert 400 <= row.http <= 599
    assert row.exit in (1, 2)


@pytest.mark.parametrize("code", CATALOGUE)
def test_numbers_of_mcp_stay_inside_the_allocation_policy(code: str) -> None:
    row = RENDERINGS[code]
    standard = {-32700, -32600, -32601, -32602, -32603}

    assert row.rpc in standard | {-32020, -32021, -32022}
    assert row.rpc_legacy in standard | {-32002}


@pytest.mark.parametrize("dialect", NATIVE)
def test_a_spelling_is_read_as_a_code_with_that_spelling(dialect: str) -> None:
    numbers_of_canonical = {-32600, -32602, -32001, -32603}
    words = {word: code for word, code in NATIVE[dialect].items() if dialect != "canonical" or isinstance(word, str)}
    retired = {-32002: "RESOURCE_NOT_FOUND"} if dialect == "mcp protocol" else {}

    assert {word: spell(code, dialect) for word, code in words.items() if word not in retired} == {
        word: word for word in words if word not in retired
    }
    assert dialect != "canonical" or set(NATIVE[dialect]) - set(words) == numbers_of_canonical


def test_every_spelling_of_every_dialect_can_be_read() -> None:
    assert set(NATIVE) == set(DIALECTS)
    for dialect in DIALECTS:
        assert {spell(code, dialect) for code in CATALOGUE} <= set(NATIVE[dialect])


SETTLED = [
    # condition, mcp, mcp/v1, resolve/v0, system/1.0, canonical, editor/0.1
    ("NOT_JSON", None, None, None, None, "INVALID_ENVELOPE", -32700),
    ("NOT_A_REQUEST", None, None, None, None, "INVALID_ENVELOPE", -32600),
    ("METHOD_NOT_FOUND", None, None, None, None, "INVALID_ENVELOPE", -32601),
    ("REQUEST_TOO_LARGE", None, None, None, None, "INVALID_ENVELOPE", -32600),
    ("UNKNOWN_TOOL", None, None, None, None, "TOOL_NOT_FOUND", -32001),
    ("MALFORMED_PARAMS", None, None, None, None, "INVALID_ENVELOPE", -32602),
    ("INVALID_PARAMS", "INVALID_PARAMS", "INVALID_PARAMS", None, None, "INVALID_TOOL_INPUT", -32002),
    (
        "PERMISSION_DENIED",
        "PERMISSION_DENIED",
        "PERMISSION_DENIED",
        "cache_missing",
        "INSUFFICIENT_PERMISSIONS",
        "INTERNAL_ERROR",
        -32005,
    ),
    ("TIMEOUT", "TIMEOUT", "CAP_EXCEEDED", "internal_error", "UNKNOWN_TOOL_FAILURE", "INTERNAL_ERROR", -32003),
    ("CAP_EXCEEDED", "CAP_EXCEEDED", "CAP_EXCEEDED", "internal_error", "UNKNOWN_TOOL_FAILURE", "INTERNAL_ERROR", -32000),
    ("OVERLOADED", "OVERLOADED", "OVERLOADED", "io_error", "UNKNOWN_TOOL_FAILURE", "INTERNAL_ERROR", -32000),
    ("RATE_LIMITED", "OVERLOADED", "OVERLOADED", "io_error", "UNKNOWN_TOOL_FAILURE", "INTERNAL_ERROR", -32000),
    ("TOOL_FAILED", "TOOL_FAILED", "INTERNAL", "internal_error", "UNKNOWN_TOOL_FAILURE", "INTERNAL_ERROR", -32000),
    ("OUTPUT_INVALID", "OUTPUT_INVALID", "INTERNAL", "internal_error", "INTERNAL_ERROR", "INTERNAL_ERROR", -32603),
    ("AUDIT_UNAVAILABLE", "AUDIT_UNAVAILABLE", "INTERNAL", "io_error", "AUDIT_LOG_FAILED", "INTERNAL_ERROR", -32603),
    ("INTERNAL", "INTERNAL", "INTERNAL", "internal_error", "INTERNAL_ERROR", "INTERNAL_ERROR", -32603),
]
"""Each condition in every dialect, as the contract settles it; None if it is not a tool failure."""


@pytest.mark.clause("S12")
@pytest.mark.parametrize("settled", SETTLED, ids=lambda row: row[0])
def test_every_dialect_renders_a_condition_as_the_contract_settles_it(settled: tuple[str | int | None, ...]) -> None:
    code, *expected = settled
    row = RENDERINGS[str(code)]
    rendered = [row.mcp, row.mcp_v1, row.resolve, row.system, row.canonical, row.editor]

    assert [None if want is None else got for want, got in zip(expected, rendered, strict=True)] == expected


def test_a_code_outside_the_catalogue_cannot_be_constructed() -> None:
    with pytest.raises(KeyError):
        fail("NO_SUCH_CODE")
    with pytest.raises(KeyError):
        Failure(code="NO_SUCH_CODE", stage=Stage.RUN, blame=Blame.US, retryable=False, text="x")


def test_the_catalogue_cannot_be_changed_at_run_time() -> None:
    for mapping in (CATALOGUE, RENDERINGS, INVARIANTS, SYSTEM_ERROR_CODES):
        with pytest.raises(TypeError):
            mapping["NEW"] = None  # type: ignore[index]


def test_a_failure_has_the_defaults_of_its_entry() -> None:
    assert fail("TIMEOUT", details={"timeoutMs": 5}) == Failure(
        code="TIMEOUT",
        stage=Stage.RUN,
        blame=Blame.TOOL,
        retryable=True,
        text="The tool exceeded its time limit",
        details={"timeoutMs": 5},
    )


@pytest.mark.clause("S12")
def test_invariant_ids_are_stable_and_listed() -> None:
    """Ids may be added; none of these may ever be removed or renamed."""
    published = {
        "MANDATORY_DIAGNOSTICS",
        "VALID_WORKSPACE_ROOT",
        "WORKSPACE_ROOT_FIXED",
        "PATH_WITHIN_WORKSPACE",
        "ROLE_SEPARATION",
        "LOCK_ENFORCED",
        "PLAN_HASH_MATCH",
        "PLAN_APPROVED",
        "PLAN_SCOPE_ENFORCED",
        "PLAN_IMMUTABLE",
        "POLICY_BEFORE_WRITE",
        "WRITE_ATOMIC",
        "HASH_BEFORE_WRITE",
        "INTENT_BEFORE_MUTATION",
        "AUDIT_BEFORE_ANSWER",
        "HASH_CHAIN_INTACT",
        "SEQUENCE_CONTINUOUS",
        "CONTRACT_LOCKED",
        "OUTPUT_FITS_CONTRACT",
        "ERROR_CODES_COMPLETE",
    }

    assert published <= set(INVARIANTS)


def test_protocol_codes_belong_to_stages_before_a_call() -> None:
    late = {code for code in PROTOCOL_CODES if CATALOGUE[code].stage not in list(Stage)[:4]}

    assert late == set()
