"""Hypothesis strategies for failures and facts."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from strictwire.fault.catalogue import CATALOGUE, Blame, Stage
from strictwire.fault.dialects.editor_v01 import KINDS
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.invariants import INVARIANTS
from strictwire.fault.raised import Conflict, NotFound, ToolError, Unavailable

SCHEMA_OF = {
    "mcp protocol": "mcp-error-1",
    "mcp": "mcp-failure-1",
    "mcp/v1": "mcp-v1-error",
    "resolve/v0": "error-v0",
    "system/1.0": "system-error-1.0",
    "canonical": "canonical-error",
    "editor/0.1": "editor-error-0.1",
    "http": "problem-1",
}
"""The published schema of each dialect."""

_secrets = st.sampled_from(["password=hunter2hunter2", "Bearer abcdefgh12345678", "https://u:secret@host/", "token=…"])
_long = st.tuples(st.text(min_size=1, max_size=3), _secrets, st.integers(290, 1010)).map(
    lambda part: (part[0] * part[2]) + part[1]
)
words = st.text(max_size=6) | _secrets | _long
usual_texts = st.sampled_from(
    sorted({entry.text for entry in CATALOGUE.values()} | {kind.phrase for kind in KINDS.values()})
)
texts = words | usual_texts | usual_texts.flatmap(lambda usual: words.map(lambda more: usual + more))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)

_segments = st.sampled_from(["budget", "query", "cache", "scenePath", "a/b", "0", ""]) | st.text(max_size=10)
_pointers = st.lists(_segments, max_size=3).map(
    lambda parts: "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
)
_keywords = st.sampled_from(["required", "type", "additionalProperties", "pattern", "enum", "maximum", "format"]) | words
violations = st.fixed_dictionaries(
    {"path": _pointers | words, "keyword": _keywords},
    optional={"expected": words, "actual": words, "message": words, "schemaPath": words},
)

_KNOWN = {
    "violations": st.lists(violations | json_values, max_size=4) | json_values,
    "code": st.sampled_from([*CATALOGUE, "E42"]) | json_values,
    "timeoutMs": st.integers(0, 60_000) | json_values,
    "tool": words | json_values,
    "requiredTier": words | json_values,
    "currentTier": words | json_values,
    "requiredRoles": st.lists(words, max_size=2) | json_values,
    "unityError": words | json_values,
    "uri": words | json_values,
    "supported": st.lists(words, max_size=2),
    "requested": words,
    "requiredCapabilities": st.dictionaries(words, st.just({}), max_size=2),
    "message": words,
    "issues": st.lists(json_values, max_size=2),
    "password": words,
}
_known_details = st.lists(st.sampled_from(sorted(_KNOWN)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: _KNOWN[name] for name in names})
)
details = st.tuples(_known_details, st.dictionaries(words, json_values, max_size=2)).map(lambda two: two[1] | two[0])

AUTHOR_CODES = {each.base for each in (ToolError, NotFound, Conflict, Unavailable)}

failures = st.builds(
    Failure,
    code=st.sampled_from(list(CATALOGUE)),
    stage=st.sampled_from(list(Stage)),
    blame=st.sampled_from(list(Blame)),
    retryable=st.booleans(),
    text=texts,
    details=details,
    invariant_id=st.none() | st.sampled_from(list(INVARIANTS)) | words,
    cause=json_values,
    own_code=st.none() | st.sampled_from(["shop/OUT_OF_STOCK", "a-b/C2"]),
    action=st.none() | words,
).map(lambda failure: failure if failure.code in AUTHOR_CODES else replace(failure, own_code=None))
"""A code of an author refines one of the codes that authors raise, and no other."""

facts = st.builds(
    Facts,
    tool=st.just("") | words,
    timestamp=st.just("2026-01-19T15:32:10.123Z"),
    role=st.sampled_from([None, "ANTIGRAVITY", "WINDSURF"]),
    session_id=st.none() | st.uuids().map(str),
    workspace_root=st.none() | words,
    phase_id=st.none() | words,
    plan_hash=st.none() | words,
    revision=st.sampled_from(["2024-11-05", "2025-11-25", "2026-07-28"]),
    stack_trace=st.none() | words,
)
