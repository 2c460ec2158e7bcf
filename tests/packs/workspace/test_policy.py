"""The policy: every rule finds what it is for and leaves what stands beside it; a change is judged by what it adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, PLANNER, open_desk, run, sha256
from tests.packs.workspace.policy_cases import BAD, GOOD

from strictwire.fault.failure import Refused
from strictwire.packs.workspace.grants import GrantsRefused, read_grants
from strictwire.packs.workspace.policy.judge import MAX_JUDGED, Policy
from strictwire.packs.workspace.policy.languages import COMMENTS, LANGUAGES, find_hits, find_missing, maybe_language, parse
from strictwire.packs.workspace.policy.rule import Finding, InCode, Severity
from strictwire.packs.workspace.policy.rules import RULES

EVERYTHING = Policy(severities={rule.id: Severity.ERROR for rule in RULES})
BAD_CASES = [(rule, path, text) for rule, cases in BAD.items() for path, text in cases]
GOOD_CASES = [(rule, path, text) for rule, cases in GOOD.items() for path, text in cases]


def rules_broken(policy: Policy, path: str, text: str) -> set[str]:
    return {finding.rule for finding in policy.findings(path, text.encode())}


def test_every_rule_has_examples_of_both_kinds_and_says_what_it_checks() -> None:
    assert set(BAD) == set(GOOD) == {rule.id for rule in RULES}
    assert all(rule.purpose.startswith("Checks that ") and rule.fix for rule in RULES)
    assert find_missing() is None


def test_every_query_can_be_asked_in_its_language() -> None:
    for language in LANGUAGES:
        assert find_hits(language, parse(language, b""), COMMENTS[language]) == []
    for rule in RULES:
        for language, query in rule.look.queries.items() if isinstance(rule.look, InCode) else ():
            assert find_hits(language, parse(language, b""), query) == [], rule.id


@pytest.mark.parametrize(("rule", "path", "text"), BAD_CASES)
def test_a_rule_finds_what_it_is_for(rule: str, path: str, text: str) -> None:
    assert rule in rules_broken(EVERYTHING, path, text)


@pytest.mark.parametrize(("rule", "path", "text"), GOOD_CASES)
def test_a_rule_leaves_what_stands_beside_it(rule: str, path: str, text: str) -> None:
    assert rule not in rules_broken(EVERYTHING, path, text)


def test_what_was_there_before_is_not_charged_to_a_change() -> None:
    old = b"try:\n    f()\nexcept:\n    pass\n"
    policy = Policy()

    assert policy.check("a.py", old=old, new=b"x = 1\n" + old) == []
    with pytest.raises(Refused) as caught:
        policy.check("a.py", old=old, new=old + old)
    assert (caught.value.failure.code, caught.value.failure.details) == (
        "POLICY_VIOLATION",
        {"reason": "SWALLOWED_ERROR", "line": 7},
    )


def test_severities_are_the_workspace_s() -> None:
    text = b"# TODO: faster\nbreakpoint()\n"
    lenient = Policy(severities={"DEBUGGER_LEFT": Severity.WARNING, "TODO_COMMENT": Severity.WARNING})

    assert lenient.check("a.py", old=None, new=text) == [
        Finding(rule="DEBUGGER_LEFT", line=2, text="breakpoint()"),
        Finding(rule="TODO_COMMENT", line=1, text="# TODO: faster"),
    ]


def test_what_is_too_large_to_be_judged_is_refused_and_what_is_not_text_is_not_code() -> None:
    with pytest.raises(Refused):
        Policy().check("a.py", old=None, new=b"x" * (MAX_JUDGED + 1))
    assert Policy().check("a.py", old=None, new=b"\xff\x00") == []
    assert [maybe_language(name) for name in ("a.py", "d.d/a", "x.unknown", ".py")] == ["python", None, None, "python"]


@pytest.mark.parametrize("rules", [{"NO_SUCH": "off"}, {"TODO_COMMENT": "loud"}, []])
def test_settings_that_name_no_rule_or_no_severity_are_refused(rules: Any) -> None:
    with pytest.raises(GrantsRefused, match="rules"):
        read_grants({"roots": ["/"], "rules": rules})


@pytest.mark.clause("S12")
def test_content_that_breaks_the_policy_is_refused_over_the_wire_and_nothing_is_written(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path, rules={"TODO_COMMENT": "warning"}) as desk:
            (desk.root / "src").mkdir()
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            base: dict[str, Any] = {"plan_hash": await desk.approved(planner), "phase_id": "PHASE_1"}
            base |= {"session_id": await desk.begin(BUILDER, "WINDSURF")}
            got = await desk.code(BUILDER, "write_file", **base, path="src/a.py", content="breakpoint()\n")
            assert got == ("POLICY_VIOLATION", "DEBUGGER_LEFT")
            got = await desk.code(BUILDER, "write_file", **base, path="src/a.rs", content="fn f() { todo!() }\n")
            assert got == ("RUST_POLICY_VIOLATION", "RUST_UNFINISHED")
            assert list((desk.root / "src").iterdir()) == []
            done = await desk.call(BUILDER, "write_file", **base, path="src/a.py", content="# TODO: faster\n")
            assert done["warnings"] == [{"rule": "TODO_COMMENT", "line": 1}]
            patch = "@@ -1 +1,2 @@\n # TODO: faster\n+breakpoint()\n"
            seen = sha256(b"# TODO: faster\n")
            got = await desk.code(BUILDER, "write_file", **base, path="src/a.py", patch=patch, previousHash=seen)
            assert got == ("POLICY_VIOLATION", "DEBUGGER_LEFT")

    run(use())
