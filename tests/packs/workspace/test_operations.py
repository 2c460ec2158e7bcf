"""Setting up, examining, reporting on, stopping and resuming a workspace."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.agent import COMMAND, at_terminal
from tests.packs.workspace.harness import BUILDER, START, ToolRefused, report, run
from tests.packs.workspace.project import Project, open_project
from tests.packs.workspace.sandbox import needs_sandbox

from strictwire.cli.person import ALPHABET, SECONDS, ask
from strictwire.packs.workspace.grants import read_grants
from strictwire.packs.workspace.operations import run_doctor, run_report, run_resume, run_stop
from strictwire.packs.workspace.pack import STOPS
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.setup import Team, detect_programs, render_settings
from strictwire.packs.workspace.stops import Stop, Stops
from strictwire.packs.workspace.verbs import FINDINGS, CommandContext
from strictwire.stores.files.view import FileTrailView


def context_of(project: Project) -> CommandContext:
    state = project.root.parent / "state"
    return CommandContext(root=project.root, state=state, now=lambda: START, trail=FileTrailView(project.trail))


def strictwire(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], env=environment(folder), capture_output=True, text=True, check=False, timeout=120
    )


def environment(folder: Path) -> dict[str, str]:
    return dict(os.environ) | {"XDG_STATE_HOME": str(folder / "state")}


# --- init


@pytest.mark.parametrize(
    ("files", "commands", "virtual_environment"),
    [
        ((), (), None),
        (("pyproject.toml",), ("python3",), None),
        (("pyproject.toml", ".venv/pyvenv.cfg", ".venv/bin/pytest"), ("python3", "pytest"), ".venv"),
        (("package.json", "Makefile"), ("node", "npm", "make"), None),
        (("Cargo.toml", "go.mod"), ("cargo", "go"), None),
    ],
)
def test_the_programs_of_a_project_are_found(
    tmp_path: Path, files: tuple[str, ...], commands: tuple[str, ...], virtual_environment: str | None
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    assert detect_programs(tmp_path) == (commands, virtual_environment)


def test_the_settings_of_a_team_separate_planning_executing_and_approving(tmp_path: Path) -> None:
    root = tmp_path / 'a "quoted" folder'
    team = Team(planners=("ada",), builders=("bob", "ada"), approvers=("eve",))
    secrets = {name: f"secret-{name}" for name in team.members}
    text = render_settings(root, commands=["make"], environment=".venv", team=team, secrets=secrets)
    found = tomllib.loads(text)
    grants = read_grants(found["packs"]["workspace"])

    assert grants.roles == {Role.ANTIGRAVITY: frozenset({"ada", "eve"}), Role.WINDSURF: frozenset({"bob", "ada"})}
    assert (grants.approvers, grants.roots) == (frozenset({"eve"}), (str(root),))
    assert grants.programs.virtual_environment == ".venv"
    assert [each["principal"] for each in found["server"]["tokens"]] == ["ada", "bob", "eve"]
    assert "secret-" not in text


@pytest.mark.parametrize(
    "team",
    [
        Team(planners=("ada",)),
        Team(planners=("ada",), builders=("bob",), approvers=("ada",)),
        Team(planners=("a b",), builders=("bob",), approvers=("eve",)),
    ],
)
def test_a_team_that_could_never_change_anything_is_refused(team: Team) -> None:
    assert team.find_problem() is not None
    assert Team().find_problem() is None


@pytest.mark.slow
def test_init_writes_a_file_once_and_says_what_comes_next(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    first = strictwire(tmp_path, "workspace", "init", "--root", str(root), "--command", "true")
    again = strictwire(tmp_path, "workspace", "init", "--root", str(root))
    printed = strictwire(tmp_path, "workspace", "init", "--root", str(root), "--print")
    wrong = strictwire(tmp_path, "workspace", "init", "--root", str(root), "--planner", "ada")

    assert first.returncode == 0, first.stderr
    assert "strictwire plan approve" in first.stdout
    assert tomllib.loads((root / "strictwire.toml").read_text())["packs"]["workspace"]["commands"] == ["true"]
    assert (again.returncode, "exists" in again.stderr) == (1, True)
    assert tomllib.loads(printed.stdout)["server"]["packs"] == ["workspace"]
    assert (wrong.returncode, "--builder" in wrong.stderr) == (2, True)


# --- doctor


@needs_sandbox
def test_the_doctor_names_every_problem_and_what_to_change(tmp_path: Path) -> None:
    async def use() -> None:
        plan = {"verification_gates": [["true"]]}
        async with open_project(tmp_path, plan=plan) as project:
            context, local = context_of(project), frozenset({"local"})
            settings = project.harness.settings
            (project.root / ".git").mkdir()
            fine = run_doctor(context, settings=settings, local=local)
            assert fine.exit_code == 0, fine.stdout
            assert f"{project.plan_hash[:12]} is approved, and its commands start" in fine.stdout
            (project.root / ".git").rmdir()
            run_stop(context, by="ada", reason="halt")
            lacking = run_doctor(context, settings=settings | {"commands": ["absent"]}, local=local)
            problems = [line.split()[1] for line in lacking.stdout.splitlines() if line.startswith("PROBLEM")]
            assert (lacking.exit_code, problems) == (FINDINGS, ["settings", "program", "commit", "stopped", "plan"])
            elsewhere = run_doctor(context, settings=settings | {"roots": ["/srv"]}, local=local)
            assert "no session can be opened in it" in elsewhere.stdout
            unset = run_doctor(context, settings={}, local=local)
            assert (unset.exit_code, "strictwire workspace init" in unset.stdout) == (FINDINGS, True)

    run(use())


def test_the_doctor_escapes_the_reason_of_a_stop(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            context = context_of(project)
            run_stop(context, by="ada", reason="halt\x1b[2J\nok      root")
            told = run_doctor(context, settings={"roots": [str(project.root)]}, local=frozenset({"local"})).stdout
            assert [line for line in told.splitlines() if not line.isprintable()] == []
            assert r"halt\u001b[2J\u000aok      root" in told

    run(use())


# --- stop and resume


@pytest.mark.clause("S11")
def test_a_stop_refuses_every_change_at_once_and_only_a_person_lifts_it(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            context = context_of(project)
            run_stop(context, by="terminal:ada", reason="wrong branch")
            with pytest.raises(ToolRefused) as caught:
                await project.build("write_file", path="src/a", content="x")
            told = caught.value.envelope
            assert (told["error_code"], told["cause"]["reason"]) == ("SESSION_LOCKED", "stopped")
            assert "terminal:ada stopped all changes at 2026-01-01T00:00:00Z: wrong branch" in told["human_message"]
            assert not (project.root / "src/a").exists()
            await project.ask("list_files")
            text = report(project.builder, "SESSION_LOCKED")
            await project.ask("write_file", path="docs/reports/a.md", content=text)
            assert (
                await project.harness.code(
                    BUILDER,
                    "commit_phase",
                    session_id=project.builder,
                    message="x",
                    plan_hash=project.plan_hash,
                    phase_id="PHASE_1",
                )
            ) == ("SESSION_LOCKED", "stopped")
            (project.root / ".strictwire-left").write_text("half")

            resumed = run_resume(context)

            assert resumed.stdout.splitlines() == [
                "left     .strictwire-left (compare it and remove it)",
                f"resumed  {project.root}",
            ]
            await project.build("write_file", path="src/a", content="x")
            assert "was not stopped" in run_resume(context).stdout

    run(use())


def test_a_stop_covers_folders_below_and_a_damaged_one_covers_everything(tmp_path: Path) -> None:
    stops = Stops(tmp_path)
    stop = Stop(root="/w/a", by="ada", at="2026-01-01T00:00:00Z", reason="halt")
    stops.add(stop)

    assert stops.maybe_find("/w/a") == stops.maybe_find("/w/a/src") == stop
    assert stops.maybe_find("/w/ab") is stops.maybe_find("/w") is None
    (tmp_path / "x.json").write_text("{")
    found = stops.maybe_find("/w")
    assert found is not None
    assert "damaged" in found.reason


@pytest.mark.slow
def test_stop_and_resume_are_recorded_and_resuming_needs_the_code(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    place = ["--root", str(root)]
    stopped = strictwire(tmp_path, "workspace", "stop", *place, "--reason", "halt")
    without = subprocess.run(
        [*COMMAND, "workspace", "resume", *place], env=environment(tmp_path), capture_output=True, text=True,
        check=False, start_new_session=True, stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip
    wrong = at_terminal(["workspace", "resume", *place], environment(tmp_path), typed="yes")
    held = list((tmp_path / "state/strictwire/packs" / STOPS).glob("*.json"))
    right = at_terminal(["workspace", "resume", *place], environment(tmp_path))
    shown = strictwire(tmp_path, "audit", "show")

    assert (stopped.returncode, without.returncode, wrong[0], right[0]) == (0, 1, 1, 0), (stopped.stderr, right[1])
    assert (len(held), "needs a person at a terminal" in without.stderr) == (1, True)
    assert "workspace.stop" in shown.stdout
    assert "workspace.resume" in shown.stdout


# --- report


def test_the_report_says_who_changed_what_under_which_plan_and_proves_it(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            context = context_of(project)
            found = run_report(context, plan_hash=project.plan_hash, is_json=True)
            assert found.exit_code == 0, found.stdout
            (plan,) = json.loads(found.stdout)["plans"]
            assert (plan["author"], plan["approver"], plan["verdict"]) == ("planner", "reviewer", "PASS")
            changed = [each for each in plan["steps"] if each["files"]]
            assert {each["principal"] for each in changed} == {"builder"}
            assert [each["tool"] for each in changed] == [
                "write_file", "write_file", "move_file", "apply_changes", "delete_file",
            ]  # fmt: skip
            assert plan["proof"]["records"] == len(plan["steps"])
            assert project.plan_hash in run_report(context, plan_hash=None, is_json=False).stdout
            lines = project.log.read_bytes().splitlines(keepends=True)
            project.log.write_bytes(b"".join(line.replace(b"builder", b"mallory") for line in lines))
            altered = run_report(context, plan_hash=project.plan_hash, is_json=False)
            assert (altered.exit_code, "FAIL" in altered.stdout) == (FINDINGS, True)
            nothing = replace(context, trail=None)
            with pytest.raises(Exception, match="AUDIT_LOG_FAILED"):
                run_report(nothing, plan_hash=None, is_json=False)

    run(use())


# --- presence


class Terminal:
    """Both ends of a terminal in memory: shows what was written, and types an answer."""

    def __init__(self, answer: Any) -> None:
        self.shown = b""
        self._answer = answer
        self._typed: list[bytes] | None = None

    def write(self, data: bytes) -> int:
        self.shown += data
        return len(data)

    def read(self, _count: int) -> bytes:
        if self._typed is None:
            self._typed = [bytes([each]) for each in self._answer(self.shown.decode())]
        return self._typed.pop(0) if self._typed else b""


def code_in(shown: str) -> str:
    return shown.partition("Code: ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("answer", "seconds", "expected"),
    [
        (lambda shown: f"{code_in(shown)}\n".encode(), 1.0, True),
        (lambda shown: code_in(shown).lower().replace(" ", "").encode() + b"\n", 1.0, True),
        (lambda shown: f"{code_in(shown)}\n".encode(), SECONDS + 1, False),
        (lambda _shown: b"yes\n", 1.0, False),
        (lambda _shown: b"\n", 1.0, False),
        (lambda _shown: b"", 1.0, False),
    ],
)
def test_presence_is_proved_by_the_code_in_time(answer: Any, seconds: float, expected: bool) -> None:
    times = iter((0.0, seconds))
    terminal: Any = Terminal(answer)

    assert ask(terminal, "Approve?", show="the plan", clock=lambda: next(times)) is expected
    assert terminal.shown.startswith(b"the plan\nApprove?\n")
    assert set(code_in(terminal.shown.decode()).replace(" ", "")) <= set(ALPHABET)
