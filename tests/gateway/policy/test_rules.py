"""Access rules: each step of the decision, and properties that hold for every set of rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.gateway.policy.argument_paths import MAX_COMPARED, Scalar, conditions_of
from strictwire.gateway.policy.rules import AccessRequest, Decision, Effect, Filter, Rule, decide, depends_on_caller
from strictwire.pipeline.call import Kind

ANN = AccessRequest(
    target="files_write", own_name="write", upstream="files", principal="ann", role="editor", tier="pro", arguments={}
)


def deny(**members: Any) -> Rule:
    return Rule(name="no", effect=Effect.DENY, **members)


def allow(**members: Any) -> Rule:
    return Rule(name="yes", effect=Effect.ALLOW, **members)


def decided(
    *rules: Rule, wanted: AccessRequest = ANN, tool_filter: Filter | None = None, default: Effect = Effect.ALLOW
) -> Decision:
    return decide(rules, wanted, tool_filter=tool_filter or Filter(), default=default)


NO, YES = Decision(allowed=False, rule="no"), Decision(allowed=True, rule="yes")
NOT_MATCHED = Decision(allowed=False, rule="yes")
BY_DEFAULT = Decision(allowed=True, rule="default")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], BY_DEFAULT),
        ([deny()], NO),
        ([allow()], YES),
        ([allow(), deny()], NO),
        ([deny(tools=("files_*",))], NO),
        ([deny(tools=("write",))], BY_DEFAULT),
        ([deny(upstreams=("files",))], NO),
        ([deny(upstreams=("other",))], BY_DEFAULT),
        ([deny(principals=("a*",))], NO),
        ([deny(roles=("viewer", "editor"))], NO),
        ([deny(roles=("",))], BY_DEFAULT),
        ([deny(tiers=("core",))], BY_DEFAULT),
        ([deny(tiers=("p?o",))], NO),
        ([allow(tools=("files_*",), roles=("admin",))], NOT_MATCHED),
        ([allow(tools=("other",), roles=("admin",))], BY_DEFAULT),
        ([allow(roles=("admin",)), allow(roles=("editor",))], YES),
    ],
)
def test_the_first_step_that_matches_decides(rules: list[Rule], expected: Decision) -> None:
    assert decided(*rules) == expected


@pytest.mark.parametrize(
    ("pattern", "arguments", "denied", "allowed"),
    [
        ({"/path": "/etc/*"}, {"path": "/etc/passwd"}, True, True),
        ({"/path": "/etc/*"}, {"path": "/srv/x"}, False, False),
        ({"/path": "/etc/*"}, {}, False, False),
        ({"/path": "/etc/*"}, {"path": None}, False, False),
        ({"/paths": "/srv/*"}, {"paths": ["/srv/a", "/etc/b"]}, True, False),
        ({"/paths": "/srv/*"}, {"paths": ["/srv/a", "/srv/b"]}, True, True),
        ({"/paths": "/srv/*"}, {"paths": []}, False, False),
        ({"/options/path": "/etc/*"}, {"options": {"path": "/etc/x"}}, True, True),
        ({"/options/path": "/etc/*"}, {"options/path": "/srv/x", "options": {"path": "/etc/x"}}, True, True),
        ({"/options/path": "/etc/*"}, {"options.path": "/srv/x", "options": {"path": "/etc/x"}}, True, True),
        ({"/options/path": "/etc/*"}, {"options.path": "/etc/x"}, False, False),
        ({"/options/path": "/etc/*"}, {"options": "/etc/x"}, False, False),
        ({"/options": "/etc/*"}, {"options": {"deep": [{"path": "/etc/x"}]}}, True, True),
        ({"/force": "true"}, {"force": True}, True, True),
        ({"/force": True}, {"force": True}, True, True),
        ({"/count": "1?"}, {"count": 12}, True, True),
        ({"/port": "22"}, {"port": 22.0}, True, True),
        ({"/a": "x", "/b": "y"}, {"a": "x", "b": "y"}, True, True),
        ({"/a": "x", "/b": "y"}, {"a": "x", "b": "z"}, False, False),
    ],
)
def test_a_deny_rule_needs_one_matching_value_and_an_allow_rule_all(
    pattern: dict[str, Scalar], arguments: dict[str, Any], denied: bool, allowed: bool
) -> None:
    wanted, conditions = replace(ANN, arguments=arguments), conditions_of(pattern)

    assert decided(deny(arguments=conditions), wanted=wanted).allowed is not denied
    assert decided(allow(arguments=conditions), wanted=wanted).allowed is allowed


def test_arguments_that_cannot_be_decided_are_denied() -> None:
    wanted = replace(ANN, arguments={"a": ["x"] * (MAX_COMPARED + 1)})

    assert not decided(deny(arguments=conditions_of({"/a": "y"})), wanted=wanted).allowed
    assert not decided(allow(arguments=conditions_of({"/a": "x"})), wanted=wanted).allowed


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        (deny(), ["tool", "prompt", "resource"]),
        (deny(tools=("*",)), ["tool"]),
        (deny(prompts=("*",), resources=("*",)), ["prompt", "resource"]),
        (deny(arguments=conditions_of({"/a": "*"})), ["tool", "prompt"]),
    ],
)
def test_a_rule_is_about_what_it_names_or_about_everything(rule: Rule, kinds: list[str]) -> None:
    wanted = [replace(ANN, kind=kind, arguments={"a": 1}) for kind in (Kind.TOOL, Kind.PROMPT, Kind.RESOURCE)]

    assert [each.kind.value for each in wanted if not decided(rule, wanted=each).allowed] == kinds


@pytest.mark.parametrize(
    ("uri", "denied", "allowed"),
    [
        ("file:///etc/passwd", True, True),
        ("FILE:///etc/passwd", True, False),
        ("file:///%65tc/passwd", True, False),
        ("file:///srv/../etc/passwd", True, False),
        ("file:///etc/../srv/x", True, False),
        ("file:///srv/x", False, False),
    ],
)
def test_a_uri_is_also_judged_as_servers_understand_it(uri: str, denied: bool, allowed: bool) -> None:
    wanted = replace(ANN, kind=Kind.RESOURCE, target=uri)

    assert decided(deny(resources=("file:///etc/*",)), wanted=wanted).allowed is not denied
    assert decided(allow(resources=("file:///etc/*",)), wanted=wanted, default=Effect.DENY).allowed is allowed


def test_without_arguments_only_tools_that_can_never_be_called_are_denied() -> None:
    unknown = replace(ANN, arguments=None)

    assert decided(deny(arguments=conditions_of({"/path": "*"})), wanted=unknown).allowed
    assert decided(allow(arguments=conditions_of({"/path": "*"})), wanted=unknown).allowed
    assert not decided(deny(), wanted=unknown).allowed


@pytest.mark.parametrize(
    ("tool_filter", "expected"),
    [
        (Filter(), True),
        (Filter(allow=("write",)), True),
        (Filter(allow=("files_write",)), False),
        (Filter(deny=("w*",)), False),
        (Filter(allow=("*",), deny=("write",)), False),
    ],
)
def test_the_filter_uses_the_upstreams_names_and_overrides_every_rule(tool_filter: Filter, expected: bool) -> None:
    assert decided(allow(), tool_filter=tool_filter).allowed is expected


def test_the_default_applies_to_tools_without_a_rule() -> None:
    assert decided(default=Effect.DENY) == Decision(allowed=False, rule="default")
    assert decided(allow(tools=("files_*",)), default=Effect.DENY) == YES


@pytest.mark.parametrize(
    ("rule", "personal"),
    [
        (deny(tools=("x",)), False),
        (deny(arguments=conditions_of({"/a": "b"})), False),
        (deny(roles=("x",)), True),
        (allow(tiers=("x",)), True),
    ],
)
def test_rules_are_known_to_depend_on_the_caller(rule: Rule, personal: bool) -> None:
    assert depends_on_caller([rule]) is personal


words = st.sampled_from(["a", "ab", "b", "ba", ""])
patterns = st.lists(st.sampled_from(["*", "a", "a*", "?", "[ab]", "ab"]), min_size=1, max_size=2).map(tuple)
arguments = st.dictionaries(words, st.one_of(words, st.lists(words, max_size=2), st.integers(0, 3), st.none()), max_size=2)
rules = st.lists(
    st.builds(
        Rule,
        name=words,
        effect=st.sampled_from(Effect),
        tools=patterns | st.just(()),
        prompts=patterns | st.just(()),
        resources=patterns | st.just(()),
        upstreams=patterns,
        principals=patterns,
        roles=patterns,
        tiers=patterns,
        arguments=st.dictionaries(words.map("/{}".format), st.sampled_from(["*", "a", "?*"]), max_size=1).map(conditions_of),
    ),
    max_size=5,
)
filters = st.builds(Filter, allow=patterns | st.just(()), deny=patterns | st.just(()))
subjects = st.builds(
    AccessRequest,
    kind=st.sampled_from([Kind.TOOL, Kind.PROMPT, Kind.RESOURCE]),
    target=words,
    own_name=words,
    upstream=words,
    principal=words,
    role=words | st.none(),
    tier=words,
    arguments=arguments,
)
defaults = st.sampled_from(Effect)


@pytest.mark.slow
@given(rules, subjects, filters, defaults, st.randoms(use_true_random=False))
def test_the_order_of_rules_never_matters(
    table: list[Rule], wanted: AccessRequest, tool_filter: Filter, default: Effect, random: Any
) -> None:
    shuffled = list(table)
    random.shuffle(shuffled)

    assert (
        decide(table, wanted, tool_filter=tool_filter, default=default).allowed
        == decide(shuffled, wanted, tool_filter=tool_filter, default=default).allowed
    )


@pytest.mark.slow
@given(rules, rules, subjects, filters, defaults)
def test_adding_a_deny_rule_never_allows_a_call(
    table: list[Rule], more: list[Rule], wanted: AccessRequest, tool_filter: Filter, default: Effect
) -> None:
    denials = [replace(rule, effect=Effect.DENY) for rule in more]
    before = decide(table, wanted, tool_filter=tool_filter, default=default).allowed

    assert decide([*table, *denials], wanted, tool_filter=tool_filter, default=default).allowed <= before


@given(rules, subjects, filters, defaults)
def test_a_hidden_tool_cannot_be_called_with_any_arguments(
    table: list[Rule], wanted: AccessRequest, tool_filter: Filter, default: Effect
) -> None:
    shown = decide(table, replace(wanted, arguments=None), tool_filter=tool_filter, default=default).allowed

    assert decide(table, wanted, tool_filter=tool_filter, default=default).allowed <= shown


@given(rules, subjects, filters)
def test_a_stricter_default_never_allows_more(table: list[Rule], wanted: AccessRequest, tool_filter: Filter) -> None:
    strict, loose = (
        decide(table, wanted, tool_filter=tool_filter, default=default).allowed for default in (Effect.DENY, Effect.ALLOW)
    )

    assert strict <= loose
