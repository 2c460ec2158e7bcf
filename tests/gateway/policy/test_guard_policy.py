"""The policy through a guard: filter, rules, limits, modes, and the dry run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.options import Mode
from strictwire.gateway.policy.argument_paths import conditions_of
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.gateway.policy.rates import RateLimit
from strictwire.gateway.policy.rules import Effect, Filter, Rule
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Inbound, Silent
from strictwire.server.guarded import Guarded
from strictwire.transport.memory import ask_endpoint
from tests.fixtures.live import INITIALIZED, initialize, legacy, modern
from tests.gateway.driver import SHORT, Client, fake, outcome
from tests.gateway.many.fleet import Talker, fleet, one


@pytest.mark.parametrize(
    ("allow", "deny", "permitted"),
    [
        ((), (), ["read", "write", "delete_all"]),
        (("read",), (), ["read"]),
        ((), ("delete_*",), ["read", "write"]),
        (("*",), ("*e",), ["read", "delete_all"]),
        (("READ",), (), []),
    ],
)
def test_deny_overrides_allow_and_names_are_case_sensitive(
    allow: tuple[str, ...], deny: tuple[str, ...], permitted: list[str]
) -> None:
    policy = Filter(allow=allow, deny=deny)

    assert [name for name in ("read", "write", "delete_all") if policy.permits(name)] == permitted


def test_the_version_of_a_policy_is_a_digest_of_its_rules() -> None:
    policy = PolicyRules()
    versions = {policy.version([Filter(allow=("a",))]), policy.version([Filter(deny=("a",))]), policy.version([])}

    assert len(versions) == 3
    assert policy.version([Filter(allow=("a",))]) == policy.version([Filter(allow=("a",))])


def test_a_denied_tool_is_neither_listed_nor_called() -> None:
    async def run() -> tuple[list[str], list[object]]:
        async with fleet(replace(fake_of("two_tools"), tool_filter=Filter(deny=("al*",)))) as client:
            return await names(client), [outcome(await call(client, name)) for name in ("act", "also")]

    assert asyncio.run(run()) == (["act"], [{"y": 1}, "PERMISSION_DENIED"])


def fake_of(name: str, **options: Any) -> Guarded:
    return Guarded(target=fake(name), options=replace(SHORT, **options))


async def names(client: Client, who: Caller | None = None) -> list[str]:
    return [tool["name"] for tool in (await send(client, modern(1, "tools/list"), who))["result"]["tools"]]


async def call(client: Client, name: str, who: Caller | None = None, x: object = 1) -> dict[str, Any]:
    return await send(client, modern(name, "tools/call", {"name": name, "arguments": {"x": x}}), who)


async def send(client: Client, raw: bytes, who: Caller | None) -> dict[str, Any]:
    reply = await ask_endpoint(client.endpoint, Inbound(body=raw, transport="memory", caller=who or Caller()), Silent())
    assert reply.body is not None
    return parse_object(reply.body)


NOBODY = Rule(name="r", effect=Effect.DENY, tools=("act",), roles=("nobody",))
EDITOR = Caller(principal="ann", role="editor", tier="pro")


@pytest.mark.parametrize(
    ("rule", "options", "shown"),
    [
        (Rule(name="r", effect=Effect.ALLOW, tools=("also",), roles=("editor",)), {}, [["act"], ["act", "also"]]),
        (Rule(name="r", effect=Effect.DENY, tools=("also",), tiers=("core",)), {}, [["act"], ["act", "also"]]),
        (NOBODY, {"tier": "pro"}, [[], ["act", "also"]]),
        (
            Rule(name="r", effect=Effect.DENY, tools=("act",), roles=("nobody",)),
            {"roles": frozenset({"editor"})},
            [[], ["act", "also"]],
        ),
    ],
)
def test_a_caller_sees_only_tools_that_it_may_call(rule: Rule, options: dict[str, Any], shown: list[list[str]]) -> None:
    async def run() -> list[list[str]]:
        async with fleet(fake_of("two_tools", **options), policy=PolicyRules(rules=(rule,))) as client:
            seen = [await names(client, who) for who in (None, EDITOR)]
            called = [outcome(await call(client, "also", who)) for who in (None, EDITOR)]

            assert called == ["PERMISSION_DENIED", {"y": 1}]
            return seen

    assert asyncio.run(run()) == shown


def test_a_list_that_depends_on_the_caller_is_private() -> None:
    async def run(policy: PolicyRules) -> str:
        async with fleet(one("a", scope="public"), policy=policy) as client:
            listed = await send(client, modern(1, "tools/list"), None)
            return str(listed["result"]["cacheScope"])

    personal = PolicyRules(rules=(Rule(name="r", effect=Effect.DENY, roles=("x",)),))
    common = PolicyRules(rules=(Rule(name="r", effect=Effect.DENY, arguments=conditions_of({"/x": "9"})),))

    assert [asyncio.run(run(each)) for each in (personal, common)] == ["private", "public"]


def test_rules_about_arguments_decide_each_call() -> None:
    async def run() -> tuple[list[str], list[object]]:
        rule = Rule(name="no nines", effect=Effect.DENY, tools=("act",), arguments=conditions_of({"/x": "9*"}))
        async with fleet(fake_of("good"), policy=PolicyRules(rules=(rule,))) as client:
            return await names(client), [outcome(await call(client, "act", x=x)) for x in (1, 99)]

    assert asyncio.run(run()) == (["act"], [{"y": 1}, "PERMISSION_DENIED"])


LIMITED = PolicyRules(limits=(RateLimit(name="few", calls=1, seconds=3600, burst=1),))


def test_a_rate_limited_call_names_the_time_to_wait() -> None:
    """To clients the code is that of overload, as the table of failures has it; the record has the exact one beside it."""

    async def run() -> tuple[dict[str, Any], object, object]:
        async with fleet(fake_of("good"), policy=LIMITED) as client:
            await call(client, "act")
            limited = await call(client, "act")
            record = parse_object(client.recorder.lines[-1])
            recorded = record["error_code"], record["failure_code"], record["upstream"]
            return limited, recorded, outcome(await call(client, "act", EDITOR))

    limited, recorded, other = asyncio.run(run())
    error = limited["result"]["structuredContent"]["error"]

    assert (error["code"], error["retryable"], recorded) == ("OVERLOADED", True, ("OVERLOADED", "RATE_LIMITED", "upstream"))
    assert 3_500_000 < error["details"]["retryAfterMs"] <= 3_600_000
    assert other == {"y": 1}


def test_limits_count_over_all_upstreams() -> None:
    async def run() -> list[object]:
        async with fleet(one("a", prefix="a_"), one("b", prefix="b_"), policy=LIMITED) as client:
            talker = Talker(client, "modern")
            answers = [await talker.reply("tools/call", name=name, arguments={}) for name in ("a_who", "b_who")]
            return ["isError" in answer["result"] for answer in answers]

    assert asyncio.run(run()) == [False, True]


def test_the_denying_rule_is_in_the_record_and_not_in_the_answer() -> None:
    async def run() -> tuple[Any, bool]:
        rule = Rule(name="secret rule", effect=Effect.DENY)
        async with fleet(fake_of("good"), policy=PolicyRules(rules=(rule,))) as client:
            answer = await call(client, "act")
            body = parse_object(client.recorder.lines[-1])
            return (body["kind"], body["error_code"], body["cause"]), "secret rule" in str(answer)

    assert asyncio.run(run()) == (
        ("refusal", "PERMISSION_DENIED", {"name": "policy", "rule": "secret rule"}),
        False,
    )


@pytest.mark.parametrize(
    ("upstream", "policy", "code"),
    [
        (Guarded(target=fake("good"), tool_filter=Filter(deny=("*",))), PolicyRules(), "PERMISSION_DENIED"),
        (fake_of("good"), PolicyRules(rules=(Rule(name="r", effect=Effect.DENY),)), "PERMISSION_DENIED"),
        (fake_of("good"), PolicyRules(default=Effect.DENY), "PERMISSION_DENIED"),
        (fake_of("good", tier="enterprise"), PolicyRules(), "PERMISSION_DENIED"),
        (fake_of("good"), replace(LIMITED, limits=(RateLimit(name="l", calls=1, seconds=3600, burst=1),)), "RATE_LIMITED"),
    ],
)
def test_a_dry_run_logs_and_records_denials_and_denies_nothing(
    upstream: Guarded, policy: PolicyRules, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> tuple[list[str], list[object], list[Any]]:
        async with fleet(upstream, policy=replace(policy, dry_run=True)) as client:
            shown = await names(client)
            answers = [outcome(await call(client, "act")) for _ in range(2)]
            return shown, answers, [parse_object(line) for line in client.recorder.lines]

    shown, answers, bodies = asyncio.run(run())
    last = [(body["kind"], body.get("error_code")) for body in bodies[-3:]]

    assert shown == ["act"]
    assert answers == [{"y": 1}, {"y": 1}]
    assert last == [("refusal", code), ("intent", None), ("outcome", None)]
    assert f"dry run: act of local would be {code}" in caplog.text


def test_records_of_a_dry_run_name_the_policy_as_a_dry_run() -> None:
    policy = PolicyRules(default=Effect.DENY)

    assert replace(policy, dry_run=True).version([]) == "dry-run:" + policy.version([])


WRONG = {"y": "secret value"}


@pytest.mark.parametrize(
    ("upstream", "tool", "expected"),
    [
        (Mode.ENFORCE, Mode.OBSERVE, WRONG),
        (Mode.ENFORCE, Mode.WARN, WRONG),
        (Mode.OBSERVE, Mode.ENFORCE, "OUTPUT_INVALID"),
    ],
)
def test_a_tool_may_have_another_mode_than_its_upstream(upstream: Mode, tool: Mode, expected: object) -> None:
    options = replace(SHORT, mode=upstream)

    async def run() -> object:
        held = replace(options, tools={"act": replace(options, mode=tool)})
        async with fleet(Guarded(target=fake("wrong_structured"), options=held)) as client:
            return outcome(await call(client, "act"))

    assert asyncio.run(run()) == expected


def test_upstreams_may_have_different_modes() -> None:
    async def run() -> list[object]:
        modes = {"a_": Mode.ENFORCE, "b_": Mode.WARN}
        upstreams = [
            Guarded(
                target=replace(fake("wrong_structured"), name=prefix),
                options=replace(SHORT, mode=mode),
                naming=Naming(prefix=prefix),
            )
            for prefix, mode in modes.items()
        ]
        async with fleet(*upstreams) as client:
            return [outcome(await call(client, f"{prefix}act")) for prefix in modes]

    assert asyncio.run(run()) == ["OUTPUT_INVALID", WRONG]


def test_a_tool_may_have_limits_of_its_own() -> None:
    async def run() -> list[object]:
        tight = replace(SHORT, response_bytes=20)
        async with fleet(Guarded(target=fake("two_tools"), options=replace(SHORT, tools={"act": tight}))) as client:
            return [outcome(await call(client, name)) for name in ("act", "also")]

    assert asyncio.run(run()) == ["CAP_EXCEEDED", {"y": 1}]


@pytest.mark.slow
def test_the_concurrency_limit_of_a_tool_covers_all_sessions() -> None:
    async def run() -> list[str]:
        alone = replace(SHORT, concurrency=1)
        upstream = Guarded(target=fake("never_answers"), options=replace(SHORT, tools={"act": alone}))
        async with fleet(upstream) as client:
            clients = [await _in_session(client, number) for number in range(2)]
            answers = await asyncio.gather(*(each() for each in clients))
            return sorted(str(outcome(answer)) for answer in answers)

    assert asyncio.run(run()) == ["OVERLOADED", "TIMEOUT"]


async def _in_session(client: Client, number: int) -> Callable[[], Awaitable[dict[str, Any]]]:
    opened = await client.send(initialize(), {})
    headers = {"mcp-protocol-version": "2025-11-25", "mcp-session-id": dict(opened.headers)["Mcp-Session-Id"]}
    await client.send(INITIALIZED, headers)
    raw = legacy(number, "tools/call", {"name": "act", "arguments": {"x": 1}})

    async def act() -> dict[str, Any]:
        return parse_object((await client.send(raw, headers)).body or b"")

    return act
