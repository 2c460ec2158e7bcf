"""read_prompt, and what it permits if the settings require it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, open_harness, plan_arguments, report, run, sha256

from strictwire.packs.workspace.grants import GrantsRefused, read_grants
from strictwire.packs.workspace.prompts import INSTRUCTIONS, PROMPTS
from strictwire.packs.workspace.roles import RULES, Role


@pytest.mark.clause("S10")
def test_each_role_reads_its_own_prompt_or_the_one_from_the_settings(tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("Do as we say.\n")

    async def use() -> None:
        async with open_harness(tmp_path, prompts={"WINDSURF": str(own)}) as harness:
            planner, builder = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(BUILDER, "WINDSURF")
            text = PROMPTS[Role.ANTIGRAVITY]
            told = await harness.call(PLANNER, "read_prompt", session_id=planner)
            assert told == {"name": "ANTIGRAVITY_CANONICAL", "sha256": sha256(text.encode()), "content": text}
            mine = await harness.call(BUILDER, "read_prompt", session_id=builder, name="WINDSURF_CANONICAL")
            assert mine["content"] == "Do as we say.\n"
            asked = {"session_id": builder, "name": "ANTIGRAVITY_CANONICAL"}
            assert await harness.code(BUILDER, "read_prompt", **asked) == ("UNAUTHORIZED_ACTION", "role")
            unknown = await harness.code(BUILDER, "read_prompt", session_id=builder, name="OTHER")
            assert unknown[0] == "INVALID_INPUT_VALUE"

    run(use())


@pytest.mark.clause("S11")
def test_a_required_prompt_must_be_read_before_plans_and_changes_but_not_before_reports(
    tmp_path: Path,
) -> None:
    async def use() -> None:
        async with open_harness(tmp_path, require_prompt=True) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            refused = await harness.code(PLANNER, "create_plan", session_id=planner, **plan_arguments())
            assert refused == ("UNAUTHORIZED_ACTION", "prompt")
            text = report(planner, "PATH_TRAVERSAL_BLOCKED")
            await harness.call(PLANNER, "write_file", session_id=planner, path="docs/reports/a.md", content=text)
            await harness.call(PLANNER, "read_prompt", session_id=planner)
            await harness.call(PLANNER, "create_plan", session_id=planner, **plan_arguments())

    run(use())


def test_the_instructions_of_the_server_name_only_existing_tools() -> None:
    named = set(re.findall(r"\b[a-z]+_[a-z]+\b", INSTRUCTIONS)) - {"plan_hash", "phase_id"}

    assert named <= RULES.keys() | {"begin_session"}


def test_a_prompt_names_only_existing_tools() -> None:
    for text in PROMPTS.values():
        named = {word.strip("`.,") for word in text.split() if word.startswith("`") and "_" in word and word.islower()}
        tools = {name for name in named if name.strip("`").isidentifier()} - {"plan_hash", "phase_id", "error_code"}
        assert tools <= RULES.keys()


@pytest.mark.parametrize(
    "settings",
    [
        {"require_prompt": "yes"},
        {"prompts": {"OTHER": "/x"}},
        {"prompts": {"WINDSURF": "/nonexistent/x"}},
        {"prompts": {"WINDSURF": "/dev/null"}},
        {"history_bytes": -1},
        {"history_bytes": True},
        {"auditors": "reviewer"},
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(GrantsRefused):
        read_grants({"roots": ["/"], **settings})


def test_local_stands_for_every_principal_without_a_token() -> None:
    local = frozenset({"local", "ada"})
    default = read_grants({"roots": ["/"]}, local=local)
    named = read_grants(
        {"roots": ["/"], "roles": {"WINDSURF": ["ada"], "ANTIGRAVITY": ["local", "bob"]}, "auditors": ["local"]}, local=local
    )

    assert default.roles == {Role.ANTIGRAVITY: local, Role.WINDSURF: local}
    assert named.roles == {Role.ANTIGRAVITY: local | {"bob"}, Role.WINDSURF: frozenset({"ada"})}
    assert (named.auditors, named.approvers) == (local, frozenset())
