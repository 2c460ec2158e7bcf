"""The Markdown form of plans: round trip, hash, lint, scope. Pure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.workspace.plans.lint import lint
from strictwire.packs.workspace.plans.model import Ban, Operation, Phase, Plan
from strictwire.packs.workspace.plans.plan_markdown import SECTIONS, body_hash, read_plan, render_plan, split_hash
from strictwire.packs.workspace.plans.scope import Action, Outside, find_outside, find_pattern_problem, matches

PHASE = Phase(
    title="Build",
    id="PHASE_1",
    objective="Write the module",
    allowed=(Operation.CREATE, Operation.MODIFY),
    forbidden=(Operation.DELETE,),
    artifacts=("docs/intent.md",),
    commands=(("pytest", "-q"), ("ruff", "check", "a b")),
    outcomes="The module is there",
    stops="A test fails",
)
PLAN = Plan(
    title="A module",
    role="WINDSURF",
    author="planner",
    workspace="0" * 64,
    created="2026-01-01T00:00:00Z",
    expires="2026-01-08T00:00:00Z",
    scope="The folder src alone\nNothing else",
    phases=(PHASE, replace(PHASE, id="PHASE_2", commands=(), artifacts=(), forbidden=())),
    paths=("src/**", "README.md"),
    gates=(("true",),),
    bans=(Ban(operation=Operation.DELETE), Ban(operation=Operation.MODIFY, pattern="src/keep/**")),
    rollback="Restore the file",
)
TEXT = render_plan(PLAN)


def codes(text: str) -> list[str]:
    """Return the codes of all findings except the hash, which any change breaks."""
    return [finding.code for finding in lint(rehash(text)).findings]


def rehash(text: str) -> str:
    body = split_hash(text)[1]
    return f"PLAN_HASH: {body_hash(body)}\n{body}"


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def test_a_plan_is_parsed_back_from_its_text() -> None:
    assert read_plan(TEXT) == (PLAN, ())
    assert lint(TEXT).findings == ()
    assert [line[2:] for line in TEXT.split("\n") if line.startswith("# ")] == list(SECTIONS)


LINE = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40)


@given(title=LINE, scope=LINE, objective=LINE, path=LINE)
def test_any_plan_is_parsed_back_or_detected_as_different(title: str, scope: str, objective: str, path: str) -> None:
    plan = replace(PLAN, title=title, scope=scope, paths=(path,), phases=(replace(PHASE, objective=objective),))

    read, findings = read_plan(render_plan(plan))

    assert (read is None) == bool(findings)
    assert (
        read is None
        or replace(read, **{name: getattr(plan, name) for name in ("title", "scope", "paths", "phases")}) == plan
    )


@given(at=st.integers(0, len(TEXT) - 1), with_=st.characters(blacklist_categories=("Cs",)))
def test_every_changed_character_of_a_plan_is_detected(at: int, with_: str) -> None:
    tampered = TEXT[:at] + with_ + TEXT[at + 1 :]

    assert tampered == TEXT or "PLAN_HASH_MISMATCH" in [each.code for each in lint(tampered).findings]


def test_equal_texts_have_the_same_hash_and_a_different_expected_hash_is_reported() -> None:
    assert lint(TEXT).hash == lint(TEXT).hash == split_hash(TEXT)[0]
    assert [each.code for each in lint(TEXT, expected_hash="f" * 64).findings] == ["PLAN_HASH_MISMATCH"]
    assert [each.code for each in lint("").findings][-1] == "PLAN_HASH_MISMATCH"


@pytest.mark.parametrize("section", SECTIONS)
def test_a_missing_section_is_reported(section: str) -> None:
    assert "PLAN_MISSING_SECTION" in codes(changed(f"# {section}\n", ""))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("# Verification Gates", "# Forbidden Actions", "PLAN_INVALID_STRUCTURE"),
        ("# Path Allowlist", "# Something Else\n\n# Path Allowlist", "PLAN_INVALID_STRUCTURE"),
        ("Title: A module\n", "", "PLAN_MISSING_FIELD"),
        ("Title: A module\n", "Title: \n", "PLAN_INVALID_STRUCTURE"),
        ("Title: A module\n", "Title: A\nTitle: B\n", "PLAN_INVALID_STRUCTURE"),
        ("Objective: Write the module\n", "", "PLAN_MISSING_FIELD"),
        ("Restore the file\n", "", "PLAN_MISSING_FIELD"),
        ("Role: WINDSURF", "Role: ADMIN", "PLAN_INVALID_STRUCTURE"),
        ("Expires: 2026-01-08", "Expires: 2025-01-08", "PLAN_INVALID_STRUCTURE"),
        ("Expires: 2026-01-08T00:00:00Z", "Expires: never", "PLAN_INVALID_STRUCTURE"),
        ("Phase ID: PHASE_2", "Phase ID: PHASE_1", "PLAN_INVALID_PHASE_ID"),
        ("Phase ID: PHASE_2", "Phase ID: phase two", "PLAN_INVALID_PHASE_ID"),
        ("- src/**\n", "- ../src/**\n", "PLAN_PATH_ESCAPE"),
        ("- src/**\n", "- /etc\n", "PLAN_PATH_ESCAPE"),
        ("- src/**\n", "- ${HOME}/x\n", "PLAN_INVALID_PATH"),
        ("- src/**\n", "- src//x\n", "PLAN_INVALID_PATH"),
        ("- src/**\n- README.md\n", "- none\n", "PLAN_NOT_ENFORCEABLE"),
        ("- src/**\n", "src/**\n", "PLAN_INVALID_STRUCTURE"),
        ("create, modify", "create, destroy", "PLAN_NOT_ENFORCEABLE"),
        ("create, modify", "create, delete", "PLAN_NOT_ENFORCEABLE"),
        ('[["pytest","-q"],["ruff","check","a b"]]', "pytest -q && rm -rf /", "PLAN_NOT_ENFORCEABLE"),
        ('- ["true"]', "- true", "PLAN_NOT_ENFORCEABLE"),
        ("- delete\n", "- be careless\n", "PLAN_NOT_ENFORCEABLE"),
        ("Write the module", "The module should be written", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("A test fails", "Use best judgment", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("Write the module", "Write `x = 1`", "PLAN_NOT_AUDITABLE"),
        ("Write the module", "Write <div> and more", "PLAN_NOT_AUDITABLE"),
        ("Write the module", "const answer = 42", "PLAN_NOT_AUDITABLE"),
        ("Write the module\n", "Write the module\r\n", "PLAN_INVALID_STRUCTURE"),
    ],
)  # fmt: skip
def test_each_error_in_a_plan_has_its_code(old: str, new: str, code: str) -> None:
    assert code in codes(changed(old, new))


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/**", "src/a", True),
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/**", "srcs/a", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("**/x.py", "x.py", True),
        ("**", "a/b", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/a.py", "src/aXpy", False),
        ("src/a.py", "SRC/A.PY", False),
        ("a*b*c", "abc", True),
    ],
)
def test_patterns_match_whole_paths_by_segment(pattern: str, path: str, fits: bool) -> None:
    assert matches(pattern, path) is fits
    assert find_pattern_problem(pattern) is None


@pytest.mark.parametrize(
    ("phase", "operation", "path", "expected"),
    [
        ("PHASE_1", Operation.CREATE, "src/a", None),
        ("PHASE_1", Operation.CREATE, "README.md", None),
        ("PHASE_9", Operation.CREATE, "src/a", Outside.PHASE),
        ("PHASE_1", Operation.MOVE, "src/a", Outside.OPERATION),
        ("PHASE_1", Operation.MODIFY, "src/keep/a", Outside.FORBIDDEN),
        ("PHASE_1", Operation.CREATE, "docs/a", Outside.PATH),
    ],
)
def test_each_reason_to_be_outside_a_plan_is_distinct(
    phase: str, operation: Operation, path: str, expected: Outside | None
) -> None:
    assert find_outside(PLAN, Action(phase_id=phase, operation=operation, path=path)) is expected


def test_no_pattern_is_slow() -> None:
    assert not matches("*a" * 2000 + "b", "a" * 4000)
    assert not matches("**/a/" * 200 + "b", "a/" * 2000 + "c")
