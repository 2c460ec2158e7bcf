"""Parts of a policy that refer to nothing are found, and nothing else is reported."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from strictwire.gateway.policy.argument_paths import conditions_of, parse_path
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.gateway.policy.rates import RateLimit
from strictwire.gateway.policy.references import Offered, References, ReferenceWatch, UpstreamTables
from strictwire.gateway.policy.rules import Effect, Filter, Rule
from strictwire.gateway.policy.schema_paths import SchemaPaths

FILES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "files": {"type": "array", "items": {"$ref": "#/$defs/file"}},
        "any": {},
        "open": {"type": "object", "additionalProperties": {"type": "string"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"deep": {"type": "string"}}}]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "$defs": {
        "file": {"type": "object", "properties": {"path": {"type": "string"}}},
        "tree": {"type": "object", "properties": {"sub": {"$ref": "#/$defs/tree"}, "leaf": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(
    ("path", "exists"),
    [
        ("/path", True),
        ("/pth", False),
        ("/path/deeper", False),
        ("/files/*/path", True),
        ("/files/path", True),
        ("/files/0/path", True),
        ("/files/*/name", False),
        ("/any/thing/at/all", True),
        ("/open/whatever", True),
        ("/open/whatever/deeper", False),
        ("/either/deep", True),
        ("/either/other", False),
        ("/tree/sub/sub/sub/leaf", True),
        ("/tree/sub/sub/none", False),
        ("/**/leaf", True),
        ("/*/deep", True),
    ],
)
def test_a_schema_tells_whether_a_path_may_exist(path: str, exists: bool) -> None:
    assert SchemaPaths().may_exist(FILES, parse_path(path)) is exists


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, {"$ref": "https://x/y"}, {"additionalProperties": True}])
def test_a_schema_that_says_nothing_allows_every_path(schema: Any) -> None:
    assert SchemaPaths().may_exist(schema, parse_path("/a/b"))


def test_a_hostile_schema_costs_a_bounded_amount_of_work() -> None:
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**doubling, "d60": {"type": "string"}}}
    started = time.process_time()

    assert SchemaPaths().may_exist(schema, parse_path("/a"))
    assert time.process_time() - started < 2


TOOL: dict[str, Any] = {"name": "read", "inputSchema": FILES}
PROMPT: dict[str, Any] = {"name": "p", "arguments": [{"name": "topic"}]}
OFFERED = Offered(tools={"f_read": TOOL}, own_tools=frozenset({"read"}), prompts={"f_p": PROMPT})


def deny(**members: Any) -> PolicyRules:
    return PolicyRules(rules=(Rule(name="r", effect=Effect.DENY, **members),))


def dead(policy: PolicyRules, tables: UpstreamTables | None = None, **offered: Offered) -> list[str]:
    names = offered or {"f": OFFERED}
    return References(policy=policy, upstreams={"f": tables or UpstreamTables(), "g": UpstreamTables()}).find_dead(
        {"g": Offered(), **names}
    )


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, []),
        ({"tools": ("f_read",), "prompts": ("f_*",)}, []),
        ({"tools": ("f_raed",)}, ["r: no tool matches 'f_raed'; did you mean 'f_read'?"]),
        ({"tools": ("f_read", "x")}, ["r: no tool matches 'x'"]),
        ({"prompts": ("f_read",)}, ["r: no prompt matches 'f_read'"]),
        ({"tools": ("f_read",), "upstreams": ("g",)}, ["r: no tool matches 'f_read'"]),
        ({"upstreams": ("f", "h")}, ["r: no upstream matches 'h'"]),
        ({"resources": ("file:*",)}, ["r: no upstream that it covers offers resources"]),
        ({"arguments": conditions_of({"/path": "x"})}, []),
        ({"arguments": conditions_of({"/topic": "x"})}, []),
        (
            {"arguments": conditions_of({"/topic": "x"}), "tools": ("*",)},
            ["r: nothing that it covers has the argument '/topic'"],
        ),
        ({"arguments": conditions_of({"/a~1b/*": "x"})}, ["r: nothing that it covers has the argument '/a~1b/*'"]),
    ],
)
def test_a_rule_that_refers_to_nothing_is_found(members: dict[str, Any], expected: list[str]) -> None:
    assert dead(deny(**members)) == expected


def test_tables_and_limits_that_refer_to_nothing_are_found() -> None:
    tables = UpstreamTables(tool_filter=Filter(allow=("re*",), deny=("rm",)), renamed=("raed",), configured=("f_read",))
    policy = PolicyRules(limits=(RateLimit(name="l", calls=1, seconds=1, burst=1, tools=("f_*", "none")),))

    assert dead(policy, tables) == [
        "guard.upstreams.f.deny: no tool matches 'rm'",
        "guard.upstreams.f.rename: no tool matches 'raed'; did you mean 'read'?",
        "guard.upstreams.f.tools: no tool matches 'f_read'; did you mean 'read'?",
        "l: no tool matches 'none'",
    ]


def test_nothing_is_said_about_an_upstream_that_is_not_known() -> None:
    references = References(policy=deny(tools=("x",)), upstreams={"f": UpstreamTables(renamed=("x",))})

    assert references
    assert references.find_dead({}) == []
    assert not References(policy=PolicyRules(), upstreams={"f": UpstreamTables()})


def test_a_target_that_disappears_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    watch = ReferenceWatch(References(policy=deny(tools=("f_read",)), upstreams={"f": UpstreamTables()}))

    assert watch.start({"f": OFFERED}) == []
    with caplog.at_level(logging.WARNING, "strictwire.guard"):
        for tools in ({"f_read": TOOL}, {"f_other": TOOL}, {"f_next": TOOL}):
            watch.note_tools("f", tools, tools)

    assert [record.getMessage() for record in caplog.records] == [
        "the policy refers to nothing: r: no tool matches 'f_read'"
    ]
