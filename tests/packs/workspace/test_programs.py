"""Plans that can run: which programs are allowed and found, and that a command starts before a plan is written."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import PLANNER, ToolRefused, open_harness, plan_arguments, run
from tests.packs.workspace.sandbox import needs_sandbox

from strictwire.packs.workspace.grants import GrantsRefused, read_grants
from strictwire.packs.workspace.plans.plan_markdown import body_hash
from strictwire.packs.workspace.programs import Programs

PYTHON = Path(sys.executable).resolve()


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_programs_are_found_in_the_environment_of_the_workspace_first(tmp_path: Path) -> None:
    own = program(tmp_path / ".venv/bin/tool")
    program(tmp_path / "bin/tool")
    (tmp_path / "bin/data").write_text("")
    programs = Programs(names=frozenset({"tool"}), path=("bin", "/usr/bin"), virtual_environment=".venv")
    root = str(tmp_path)

    assert programs.search_path(root) == f"{root}/.venv/bin:{root}/bin:/usr/bin"
    assert programs.maybe_find("tool", root) == str(own)
    assert programs.maybe_find("bin/tool", root) == f"{root}/bin/tool"
    assert programs.maybe_find(str(own), root) == str(own)
    assert programs.maybe_find("bin/data", root) is None
    assert programs.maybe_find("absent", root) is None
    variables = programs.environment(root, "/home/x")
    assert variables == {
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": programs.search_path(root),
        "HOME": "/home/x",
        "TMPDIR": "/home/x",
        "VIRTUAL_ENV": f"{root}/.venv",
    }


def test_a_program_that_cannot_start_is_explained() -> None:
    programs = Programs(names=frozenset({"pytest", "cargo"}), path=("/nowhere",))

    assert programs.find_problem("rm", "/w") == (
        "not_allowed",
        (
            "The program 'rm' is not in the setting `commands`; allowed: cargo, pytest. "
            "Use one of them, or ask the operator to add it"
        ),
    )
    assert programs.find_problem("pytest", "/w") == (
        "not_found",
        "The program 'pytest' is allowed, but was not found in /nowhere. Install it, or set `path` or `virtual_environment`",
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"path": ["a:b"]},
        {"path": ["../bin"]},
        {"path": "/bin"},
        {"virtual_environment": "../venv"},
        {"virtual_environment": 1},
        {"environment": {"PATH": "/x"}},
        {"environment": {"LD_PRELOAD": "/x"}},
        {"environment": {"A=B": "x"}},
        {"environment": {"A": 1}},
        {"environment": ["A"]},
    ],
)
def test_settings_that_leave_the_workspace_or_the_form_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(GrantsRefused):
        read_grants({"roots": ["/srv"], **settings})


@needs_sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["rm", "-rf", "."], "not_allowed"),
        (["absent"], "not_found"),
        (["broken"], "not_started"),
        ([PYTHON.name, "-m", "no_such_module"], "module_missing"),
    ],
)
def test_a_plan_with_a_command_that_cannot_start_is_not_created(tmp_path: Path, command: list[str], reason: str) -> None:
    async def use() -> None:
        settings = {"commands": ["absent", "broken", PYTHON.name], "path": ["bin", str(PYTHON.parent), "/usr/bin"]}
        async with open_harness(tmp_path, **settings) as harness:
            program(harness.root / "bin/broken", "no program")
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            with pytest.raises(ToolRefused) as caught:
                await harness.plan(planner, phase={"verification_commands": [command]})
            assert (caught.value.code, caught.value.cause["reason"]) == ("PLAN_ENFORCEMENT_FAILED", reason)
            assert caught.value.cause["command"] == command
            assert "output" not in caught.value.cause
            assert not list(harness.root.glob("docs/plans/*"))
            assert (await harness.call(PLANNER, "session_status", session_id=planner))["locked"] is False

    run(use())


@needs_sandbox
@pytest.mark.slow
def test_the_arguments_of_a_command_are_not_used_before_someone_has_approved_them(tmp_path: Path) -> None:
    """Otherwise a planner could run code, and learn from the refusal what it has read."""
    line = "touch planted; cat /etc/passwd; exit 126"

    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            made = await harness.plan(planner, verification_gates=[["sh", "-c", line], ["false"], ["sleep", "30"]])
            assert not (harness.root / "planted").exists()
            linted = await harness.call(PLANNER, "lint_plan", session_id=planner, plan_hash=made)
            assert (linted["passed"], linted["findings"]) == (True, [])

    run(use())


@needs_sandbox
@pytest.mark.slow
def test_a_program_that_is_tried_cannot_change_the_workspace_and_is_stopped_in_time(tmp_path: Path) -> None:
    text = f"#!/bin/sh\necho $STAGE > {tmp_path}/work/planted\necho $STAGE > $HOME/own || exit 126\nexec sleep 60\n"

    async def use() -> None:
        settings = {"commands": ["tools/check"], "environment": {"STAGE": "trial"}}
        async with open_harness(tmp_path, **settings) as harness:
            program(harness.root / "tools/check", text)
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            assert await harness.plan(planner, verification_gates=[["tools/check"]])
            assert not (harness.root / "planted").exists()

    run(use())


@needs_sandbox
@pytest.mark.slow
def test_only_a_python_interpreter_is_tried_with_its_module(tmp_path: Path) -> None:
    text = '#!/bin/sh\necho "No module named secret"\n[ "$*" = --version ] && exit 1\nexit 126\n'

    async def use() -> None:
        async with open_harness(tmp_path, commands=["tools/check", "tools/python3.13"]) as harness:
            for name in ("check", "python3.13"):
                program(harness.root / "tools" / name, text)
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            assert await harness.plan(planner, verification_gates=[["tools/check", "-m", "secret"]])
            with pytest.raises(ToolRefused) as caught:
                await harness.plan(planner, verification_gates=[["tools/python3.13", "-m", "secret"]])
            assert caught.value.cause["reason"] == "module_missing"

    run(use())


@needs_sandbox
def test_lint_plan_names_the_commands_that_cannot_run(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            made = await harness.call(PLANNER, "create_plan", session_id=planner, **plan_arguments())
            text = re.sub(r"(# Verification Gates\n+)- none", r'\1- ["rm", "x"]', made["content"])
            body = text.partition("\n")[2]
            draft = f"PLAN_HASH: {body_hash(body)}\n{body}"
            linted = await harness.call(PLANNER, "lint_plan", session_id=planner, content=draft)
            assert linted["passed"] is False
            assert [each["code"] for each in linted["findings"]] == ["PLAN_NOT_ENFORCEABLE"]
            assert "'rm' is not in the setting `commands`" in linted["findings"][0]["message"]

    run(use())


def test_a_symbolic_link_to_an_interpreter_is_a_program(tmp_path: Path) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(PYTHON)
    programs = Programs(names=frozenset({".venv/bin/python"}))

    assert programs.find_problem(".venv/bin/python", str(tmp_path)) is None
    assert os.access(programs.maybe_find(".venv/bin/python", str(tmp_path)) or "", os.X_OK)
