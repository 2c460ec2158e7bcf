"""Refusals that teach: which change, path and argument, and what would work; session facts in every envelope."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, ToolRefused, open_harness, run, sha256
from tests.packs.workspace.project import Project, open_project

from strictwire.canon.json import render
from strictwire.fault.violations import Violation
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.schema_advice import explain
from strictwire.packs.workspace.texts import TEXTS
from strictwire.server.packs import read_contracts


async def refused(project: Project, tool: str, /, **arguments: Any) -> Mapping[str, Any]:
    """Return the envelope of a call by the builder under the plan."""
    with pytest.raises(ToolRefused) as caught:
        await project.build(tool, **arguments)
    return caught.value.envelope


@pytest.mark.clause("S9", "S12")
def test_a_schema_failure_inside_a_session_has_its_facts_and_names_every_argument(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            with pytest.raises(ToolRefused) as caught:
                await project.harness.call(PLANNER, "create_plan", session_id=project.planner, title="x")
            told = caught.value.envelope
            assert told["error_code"] == "MISSING_REQUIRED_FIELD"
            assert told["human_message"] == "paths, phases, rollback and scope are required"
            facts = (told["session_id"], told["role"], told["workspace_root"])
            assert facts == (project.planner, "ANTIGRAVITY", str(project.root))
            change = {"operation": "burn", "path": "src/a", "previoushash": "0" * 64}
            told = await refused(project, "apply_changes", changes=[change])
            assert told["human_message"] == (
                "changes/0/operation must be one of create, modify, move, delete; "
                "changes/0/previoushash is not a known argument (did you mean previousHash?)"
            )
            assert [each["path"] for each in told["cause"]["violations"]] == [
                "/changes/0/operation",
                "/changes/0/previoushash",
            ]
            assert (told["session_id"], told["role"]) == (project.builder, "WINDSURF")
            record = (await project.ask("read_audit_log"))["items"][0]
            assert (record["error_code"], record["session_id"]) == ("INVALID_INPUT_VALUE", project.builder)

    run(use())


@pytest.mark.clause("S9", "S12")
def test_without_a_handle_a_call_is_refused_for_that_reason_whatever_else_is_wrong(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            for arguments in ({}, {"path": 7}, {"path": "x", "unknown": 1}):
                with pytest.raises(ToolRefused) as caught:
                    await harness.call(BUILDER, "read_file", **arguments)
                told = caught.value.envelope
                assert (told["error_code"], told["invariant_id"]) == ("SESSION_NOT_INITIALIZED", "MANDATORY_DIAGNOSTICS")
                assert "begin_session" in told["human_message"]
                assert (told["session_id"], told["role"], told["workspace_root"]) == (None, None, None)

    run(use())


@pytest.mark.clause("S11", "S12")
def test_a_change_without_its_hash_in_a_phase_that_only_modifies_names_the_hash_and_does_not_lock(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path, plan={"phase": {"allowed_operations": ["modify"]}}) as project:
            (project.root / "src/old").write_bytes(b"old")
            (project.root / "other").write_bytes(b"old")
            write = {"path": "src/old", "content": "new"}
            for told in (
                await refused(project, "write_file", **write),
                await refused(project, "apply_changes", changes=[{"operation": "create", **write}]),
            ):
                assert told["error_code"] == "FILE_ALREADY_EXISTS"
                assert "pass its sha256 as previousHash" in told["human_message"]
                assert (told["cause"]["reason"], told["cause"]["path"]) == ("hash_missing", "src/old")
            await project.build("write_file", previousHash=sha256(b"old"), **write)
            assert (project.root / "src/old").read_bytes() == b"new"
            told = await refused(project, "write_file", path="src/absent", content="x")
            assert (told["error_code"], told["cause"]["reason"]) == ("PLAN_SCOPE_VIOLATION", "operation_not_allowed")
            told = await refused(project, "write_file", previousHash=sha256(b"new"), **write)
            assert told["error_code"] == "SESSION_LOCKED"

    run(use())


@pytest.mark.clause("S12")
def test_every_refusal_of_a_change_set_names_the_change_and_what_would_work(tmp_path: Path) -> None:
    good = {"operation": "create", "path": "src/good", "content": "x"}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"operation": "create", "path": "src/new/a", "content": "x"}, "PATH_NOT_FOUND", "make_folders"),
        ({"operation": "create", "path": "src/old", "content": "x"}, "FILE_ALREADY_EXISTS", "previousHash"),
        ({"operation": "modify", "path": "src/old", "content": "x"}, "MISSING_REQUIRED_FIELD", "previousHash"),
        ({"operation": "modify", "path": "src/none", "content": "x", "previousHash": "0" * 64}, "FILE_NOT_FOUND", "list"),
        ({"operation": "delete", "path": "src/old", "previousHash": "0" * 64}, "HASH_MISMATCH", "read it again"),
        ({"operation": "create", "path": "docs/a", "content": "x"}, "PLAN_SCOPE_VIOLATION", "cause.allowed"),
    ]

    async def use() -> None:
        async with open_project(tmp_path) as project:
            (project.root / "src/old").write_bytes(b"old")
            for change, code, advice in cases:
                told = await refused(project, "apply_changes", changes=[good, change])
                assert told["error_code"] == code
                assert told["human_message"].startswith("changes/1: "), told
                assert advice in told["human_message"]
                assert (told["cause"]["change"], told["cause"]["path"]) == (1, change["path"])
                assert not (project.root / "src/good").exists()
            assert told["cause"]["allowed"] == ["src/**"]
            assert sha256((project.root / "src/old").read_bytes()) == sha256(b"old")

    run(use())


@pytest.mark.clause("S12")
def test_a_refusal_of_a_single_change_names_its_path_and_the_way_on(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            told = await refused(project, "write_file", path="src/deep/a", content="x")
            assert (told["error_code"], told["cause"]["path"]) == ("PATH_NOT_FOUND", "src/deep/a")
            assert "make_folders" in told["human_message"]
            told = await refused(project, "write_file", path="src/a", content="x", phase_id="PHASE_9")
            assert (told["cause"]["reason"], told["cause"]["phases"]) == ("phase_unknown", ["PHASE_1"])

    run(use())


def test_a_violation_says_what_the_schema_allows() -> None:
    schema = {"properties": {"a": {"type": "integer", "maximum": 9}, "b": {"enum": ["x", "y"]}}}
    found = (
        Violation(path="/a", keyword="maximum"),
        Violation(path="/b", keyword="enum"),
        Violation(path="/zz", keyword="additionalProperties"),
        Violation(path="/a", keyword="type", expected="integer", actual="string"),
    )

    assert explain(found, schema) == (
        "a must be integer, not string; a must have maximum 9; b must be one of x, y; "
        "zz is not a known argument (known: a, b)"
    )


def test_every_tool_has_a_text_and_requires_its_session() -> None:
    contracts = read_contracts(WorkspacePack())

    assert set(TEXTS) == set(WorkspacePack.tools)
    without = [each.name for each in contracts if "session_id" not in each.input_schema["required"]]
    assert without == ["begin_session"]
    assert [each.name for each in contracts if each.text_json] == []


@pytest.mark.clause("G12")
def test_the_text_of_an_answer_is_compact_and_enough_to_act_on(tmp_path: Path) -> None:
    async def text(project: Project, tool: str, **arguments: Any) -> str:
        base = {"session_id": project.builder, **arguments}
        result = await project.harness.connections[BUILDER].call_tool(tool, base)
        return str(result["content"][0]["text"])

    async def use() -> None:
        async with open_project(tmp_path) as project:
            plan = {"plan_hash": project.plan_hash, "phase_id": "PHASE_1"}
            made = await text(project, "write_file", path="src/a.py", content="one = 1\n", **plan)
            digest = sha256(b"one = 1\n")
            assert made == f"create src/a.py, sha256 {digest}"
            read = await text(project, "read_file", path="src/a.py")
            assert read == f"src/a.py: bytes 0 to 8 of 8, utf-8, sha256 {digest}\none = 1\n"
            assert await text(project, "search_text", query="one = ") == "src/a.py:0: one = 1"
            assert await text(project, "list_files", glob="*.py") == "src/a.py 8"
            assert (
                (await text(project, "list_plans")).splitlines()[1].startswith(f"{project.plan_hash} approved, for WINDSURF")
            )
            moved = await text(project, "move_file", path="src/a.py", new_path="src/b.py", previousHash=digest, **plan)
            assert moved == f"move src/a.py to src/b.py, sha256 {digest}"
            status = await text(project, "session_status")
            assert "programs: false, sh, sleep, true" in status.splitlines()

    run(use())


def test_listing_the_tools_costs_a_model_at_most_3500_tokens() -> None:
    """Name, description and input schema are what clients pass to the model."""
    bpe_openai = pytest.importorskip("bpe_openai")
    shown = [
        {"name": each.name, "description": each.description, "inputSchema": each.input_schema}
        for each in read_contracts(WorkspacePack())
    ]
    tokens = bpe_openai.get_encoding("o200k_base").encode(render(shown).decode())

    assert len(tokens) <= 3500
