"""read_prompt, and what it opens where the settings ask for it first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, PLANNER, open_desk, plan_arguments, report, run, sha256

from strictwire.packs.workspace.grants import GrantsRefused, read_grants
from strictwire.packs.workspace.prompts import PROMPTS
from strictwire.packs.workspace.roles import RULES, Role


@pytest.mark.clause("S10")
def test_each_role_reads_its_own_prompt_or_the_one_that_the_settings_put_in_its_place(tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("Do as we say.\n")

    async def use() -> None:
        async with open_desk(tmp_path, prompts={"WINDSURF": str(own)}) as desk:
            planner, builder = await desk.begin(PLANNER, "ANTIGRAVITY"), await desk.begin(BUILDER, "WINDSURF")
            text = PROMPTS[Role.ANTIGRAVITY]
            told = await desk.call(PLANNER, "read_prompt", session_id=planner)
            assert told == {"name": "ANTIGRAVITY_CANONICAL", "sha256": sha256(text.encode()), "content": text}
            mine = await desk.call(BUILDER, "read_prompt", session_id=builder, name="WINDSURF_CANONICAL")
            assert mine["content"] == "Do as we say.\n"
            asked = {"session_id": builder, "name": "ANTIGRAVITY_CANONICAL"}
            assert await desk.code(BUILDER, "read_prompt", **asked) == ("UNAUTHORIZED_ACTION", "role")
            unknown = await desk.code(BUILDER, "read_prompt", session_id=builder, name="OTHER")
            assert unknown[0] == "INVALID_INPUT_VALUE"

    run(use())


@pytest.mark.clause("S11")
def test_where_the_prompt_is_required_nothing_is_planned_or_changed_before_it_and_a_report_always_can_be(
    tmp_path: Path,
) -> None:
    async def use() -> None:
        async with open_desk(tmp_path, require_prompt=True) as desk:
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            refused = await desk.code(PLANNER, "create_plan", session_id=planner, **plan_arguments())
            assert refused == ("UNAUTHORIZED_ACTION", "prompt")
            assert (await desk.code(PLANNER, "read_file", session_id=planner, path="../x"))[0] == "PATH_TRAVERSAL_BLOCKED"
            text = report(planner, "PATH_TRAVERSAL_BLOCKED")
            await desk.call(PLANNER, "write_file", session_id=planner, path="docs/reports/a.md", content=text)
            await desk.call(PLANNER, "read_prompt", session_id=planner)
            await desk.call(PLANNER, "create_plan", session_id=planner, **plan_arguments())

    run(use())


def test_a_prompt_names_tools_that_there_are() -> None:
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


def test_local_stands_for_everyone_who_needs_no_token() -> None:
    local = frozenset({"local", "ada"})
    default = read_grants({"roots": ["/"]}, local=local)
    named = read_grants(
        {"roots": ["/"], "roles": {"WINDSURF": ["ada"], "ANTIGRAVITY": ["local", "bob"]}, "auditors": ["local"]}, local=local
    )

    assert default.roles == {Role.ANTIGRAVITY: local, Role.WINDSURF: local}
    assert named.roles == {Role.ANTIGRAVITY: local | {"bob"}, Role.WINDSURF: frozenset({"ada"})}
    assert (named.auditors, named.approvers) == (local, frozenset())
