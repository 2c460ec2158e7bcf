"""Damaged and planted files in the state folder: commands and servers report them, and neither hang nor crash."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
from tests.packs.workspace.agent import COMMAND
from tests.packs.workspace.harness import plan_arguments
from tests.packs.workspace.server_process import ServerProcess

pytestmark = pytest.mark.slow

COMMANDS = (("plan", "list"), ("plan", "approve"), ("workspace", "status"), ("workspace", "doctor"), ("workspace", "report"))


def plant(name: str, text: str) -> Callable[[Path], None]:
    """Return what writes a file in the state folder of the pack."""

    def write(state: Path) -> None:
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(text)

    return write


def plant_pipe(kind: str) -> Callable[[Path], None]:
    """Return what replaces the first file of a kind by a pipe."""

    def write(state: Path) -> None:
        found = next(state.glob(kind))
        found.unlink()
        os.mkfifo(found, 0o600)

    return write


LOCK = '{"owner": {"principal": 1, "role": 2, "root": 3, "identity": [1, 2]}, "lock": {"code": 1}}'

PLANTED: Final[Mapping[str, tuple[Callable[[Path], None], str | None]]] = MappingProxyType(
    {
        "stop": (plant("stops/x.json", '{"root": 5, "by": 1, "at": [], "reason": {}}'), "SESSION_LOCKED"),
        "lock": (plant("session-locks/x/x.json", LOCK), None),
        "journal": (plant("journals/x.json", "[]"), None),
        "journal of another folder": (
            plant("journals/x.json", '{"root": "/etc", "identity": [1, 2], "steps": []}'),
            "PLAN_NOT_APPROVED",
        ),
        "creation": (plant_pipe("creations/*/*.json"), "PLAN_NOT_APPROVED"),
        "key": (plant_pipe("keys/approval.key"), None),
    }
)
"""What is planted, and the code of a change afterwards; None if the server does not start."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_file_is_reported_and_never_hangs_or_crashes(tmp_path: Path, name: str) -> None:
    write, code = PLANTED[name]
    with ServerProcess(tmp_path) as process:
        made = process.call("create_plan", session_id=process.begin("ANTIGRAVITY"), **plan_arguments())
        assert made is not None
    plan_hash, state = made["structuredContent"]["plan_hash"], process.state / "packs/workspace"
    write(state)
    for command in COMMANDS:
        done = run(tmp_path, *command)
        assert (done.returncode in (0, 1, 100), "Traceback" in done.stderr) == (True, False), (command, done.stderr)
    with ServerProcess(tmp_path) as process:
        begun = process.call("begin_session", workspace_root=str(process.root), role="WINDSURF")
        if code is None:
            assert begun is None
            return
        assert begun is not None
        change: dict[str, Any] = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": "src/a", "content": "x"}
        told = process.call("write_file", session_id=begun["structuredContent"]["session_id"], **change)
        assert told is not None
        assert told["structuredContent"]["error_code"] == code


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    config = ["--config", str(folder / "strictwire.toml")] if command[0] == "workspace" else []
    return subprocess.run(
        [*COMMAND, *command, "--root", str(folder / "work"), *config],
        env=os.environ | {"XDG_STATE_HOME": str(folder / "xdg")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        start_new_session=True,
    )


def test_a_server_that_does_not_start_names_the_damaged_file(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as process:
        process.begin("WINDSURF")
    plant("journals/x.json", "[]")(process.state / "packs/workspace")
    done = subprocess.run(
        [*COMMAND, "serve", "--stdio", "--pack", "workspace", "--config", str(tmp_path / "strictwire.toml")],
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "xdg")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 1
    assert "journals/x.json is damaged; read it, then remove it" in done.stderr
    assert "Traceback" not in done.stderr
