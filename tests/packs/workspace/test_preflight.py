"""Verification commands: bounded and confined; a change that they do not verify is undone byte for byte."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import run, sha256
from tests.packs.workspace.sandbox import needs_sandbox
from tests.packs.workspace.test_writing import open_builder, snapshot

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.preflight import LIMITS, Preflight
from strictwire.packs.workspace.programs import Programs
from strictwire.packs.workspace.protection import Protection

PYTHON = Path(sys.executable).resolve()


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A workspace without a session."""

    root: str
    identity: tuple[int, int]
    own: Jail
    protection: Protection


@contextmanager
def workspace(folder: Path) -> Iterator[Workspace]:
    with Jail(folder) as jail:
        yield Workspace(root=str(folder), identity=jail.stat(".").identity, own=jail, protection=Protection(str(folder)))


def preflight(**changes: Any) -> Preflight:
    return Preflight(**({"programs": allowing("sh", PYTHON.name)} | changes))


def allowing(*names: str, **changes: Any) -> Programs:
    return Programs(**({"names": frozenset(names), "path": (str(PYTHON.parent), "/usr/bin", "/bin")} | changes))


def fails(command: list[str], folder: Path, **changes: Any) -> dict[str, Any]:
    """Return the details of the failure."""
    with workspace(folder) as opened, pytest.raises(Refused) as caught:
        preflight(**changes).check((tuple(command),), folder=opened)
    assert caught.value.failure.code == "PREFLIGHT_FAILED"
    return dict(caught.value.failure.details)


def succeeds(command: list[str], folder: Path, **changes: Any) -> None:
    with workspace(folder) as opened:
        assert preflight(**changes).check((tuple(command),), folder=opened) == [{"command": command, "exit_code": 0}]


def shell(line: str) -> list[str]:
    return ["sh", "-c", line]


def script(text: str) -> list[str]:
    return [PYTHON.name, "-c", text]


@needs_sandbox
def test_a_failure_has_the_exit_code_and_the_end_of_the_output(tmp_path: Path) -> None:
    told = fails(shell("echo one; echo two >&2; exit 3"), tmp_path)

    expected = {"reason": "exit_code", "command": shell("echo one; echo two >&2; exit 3"), "exit_code": 3}
    assert told == expected | {"output": "one\ntwo\n"}
    assert fails(shell("kill -9 $$"), tmp_path)["exit_code"] == 128 + 9


@needs_sandbox
def test_a_program_that_is_not_allowed_or_not_installed_is_not_started(tmp_path: Path) -> None:
    assert fails(["touch", "x"], tmp_path)["reason"] == "not_allowed"
    assert fails(["absent"], tmp_path, programs=allowing("absent"))["reason"] == "not_found"
    (tmp_path / "broken").write_text("no program")
    (tmp_path / "broken").chmod(0o755)
    assert fails(["broken"], tmp_path, programs=allowing("broken", path=(".",)))["exit_code"] == 126


@needs_sandbox
def test_a_command_gets_a_minimal_environment_and_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    text = "import os, sys; sys.exit(sys.stdin.read() != '' or bool({'SECRET', 'PYTHONPATH'} & os.environ.keys()))"

    succeeds(script(text), tmp_path)


@needs_sandbox
def test_the_workspace_cannot_change_how_a_command_is_started(tmp_path: Path) -> None:
    for name in ("json.py", "ctypes.py", "resource.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit(7)")

    succeeds(shell("true"), tmp_path)


@needs_sandbox
@pytest.mark.slow
def test_a_command_over_its_time_limit_is_killed_with_its_children(tmp_path: Path) -> None:
    told = fails(shell("(sleep 60 & echo $!); sleep 60"), tmp_path, seconds=1.0)

    assert (told["reason"], told["exit_code"]) == ("timeout", None)


@needs_sandbox
def test_a_process_that_leaves_its_group_is_killed_too(tmp_path: Path) -> None:
    text = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        while True:\n"
        "            open('alive', 'a').write('x')\n"
        "            time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('alive'): time.sleep(0.01)\n"
    )
    succeeds(script(text), tmp_path)

    size = (tmp_path / "alive").stat().st_size
    succeeds(script("import time; time.sleep(0.2)"), tmp_path)
    assert (tmp_path / "alive").stat().st_size == size


@needs_sandbox
def test_other_processes_cannot_be_seen(tmp_path: Path) -> None:
    succeeds(shell(f"test ! -e /proc/{os.getpid()}/cmdline || ! grep -q pytest /proc/{os.getpid()}/cmdline"), tmp_path)


@needs_sandbox
@pytest.mark.slow
def test_output_and_memory_are_bounded(tmp_path: Path) -> None:
    limits = dict(LIMITS) | {"FSIZE": 1 << 20, "DATA": 256 << 20}

    assert fails(shell("head -c 2000000 /dev/zero > big"), tmp_path, limits=limits)["reason"] == "exit_code"
    assert (tmp_path / "big").stat().st_size <= 1 << 20
    assert fails(shell("head -c 2000000 /dev/zero"), tmp_path, limits=limits)["reason"] == "exit_code"
    assert "MemoryError" in fails(script("x = bytearray(1 << 30)"), tmp_path, limits=limits)["output"]
    succeeds(script("x = bytearray(1 << 20)"), tmp_path, limits=limits)


@needs_sandbox
@pytest.mark.slow
def test_nothing_outside_the_workspace_can_be_changed(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (work / "link").symlink_to(outside)
    at = str(outside)
    lines = (
        f"echo x > {at}/new;echo x > {at}/kept;rm {at}/kept;mv {at}/kept .;mkdir link/new;echo x > link/kept;ln link/kept h"
    )
    lines += f";truncate -s 0 {at}/kept;ln -s x {at}/l;mkfifo {at}/f"
    for line in lines.split(";"):
        assert fails(shell(line), work)["reason"] == "exit_code", line
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"kept": "kept"}

    succeeds(shell(f'cat {outside}/kept && mkdir made && mv made here && echo x > "$HOME/x" && echo x > /dev/null'), work)


@needs_sandbox
@pytest.mark.slow
def test_keys_and_logs_of_the_server_cannot_be_read(tmp_path: Path) -> None:
    work, state = tmp_path / "work", tmp_path / "state/keys"
    work.mkdir()
    state.mkdir(parents=True)
    (state / "approval.key").write_text("SECRET")
    (work / "key").symlink_to(state / "approval.key")
    for line in (f"cat {state}/approval.key", "cat key", f"ls {state}", f"cat /proc/self/root{state}/approval.key"):
        told = fails(shell(line), work, hidden=(str(tmp_path / "state"),))
        assert "SECRET" not in told["output"], line


@needs_sandbox
@pytest.mark.slow
def test_plans_reports_and_the_git_folder_cannot_be_changed(tmp_path: Path) -> None:
    for name in (".git/hooks", "docs/plans", "docs/reports", ".strictwire"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        assert fails(shell(f"echo x > {name}/x"), tmp_path)["reason"] == "exit_code", name
    assert fails(shell("mv docs/plans docs/other"), tmp_path)["reason"] == "exit_code"
    assert fails(shell("umount docs/plans; echo x > docs/plans/x"), tmp_path)["reason"] == "exit_code"
    assert fails(shell("rm -rf .git"), tmp_path)["reason"] == "exit_code"
    assert (tmp_path / ".git/hooks").is_dir()


@needs_sandbox
@pytest.mark.slow
def test_no_host_and_no_unix_socket_can_be_reached(tmp_path: Path) -> None:
    for text in (
        "import socket; s = socket.socket(); s.settimeout(5); s.connect(('192.0.2.1', 80))",
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53))",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import socket; socket.socket(40)",
    ):
        output = fails(script(text), tmp_path)["output"]
        assert "OSError" in output or "PermissionError" in output, text


@needs_sandbox
def test_a_command_can_connect_to_itself(tmp_path: Path) -> None:
    text = (
        "import socket; here = socket.create_server(('127.0.0.1', 0)); socket.create_connection(here.getsockname()); "
        "socket.socketpair()"
    )
    succeeds(script(text), tmp_path)


@needs_sandbox
def test_a_command_has_no_capabilities_and_cannot_gain_any(tmp_path: Path) -> None:
    succeeds(
        shell("grep -q 'CapEff:.0000000000000000' /proc/self/status && grep -q 'NoNewPrivs:.1' /proc/self/status"), tmp_path
    )


@pytest.mark.slow
@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    "line",
    [
        "exit 1",
        "echo spoiled > src/a",
        "rm src/a; exit 1",
        "echo spoiled > src/new; rm src/a; exit 1",
        "kill -9 $$",
        "chmod 000 src/a; exit 1",
    ],
)
def test_the_file_is_restored_whatever_a_failing_command_did_to_it(tmp_path: Path, line: str) -> None:
    old = bytes(range(256)) * 40

    async def use() -> None:
        commands = [["sh", "-c", f"{line}; exit 1"]]
        async with open_builder(tmp_path, phase={"verification_commands": commands}) as builder:
            file = builder.root / "src/a"
            file.write_bytes(old)
            file.chmod(0o640)
            wrote = {"path": "src/a", "content": "new", "previousHash": sha256(old)}
            assert (await builder.fails("write_file", **wrote))[0] == "PREFLIGHT_FAILED"
            assert file.read_bytes() == old

    run(use())


def test_an_unverified_new_file_is_removed_with_its_folders(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, phase={"verification_commands": [["false"]]}) as builder:
            before = snapshot(builder.root)
            made = {"path": "src/deep/er/b", "content": "new", "make_folders": True}
            assert (await builder.fails("write_file", **made))[0] == "PREFLIGHT_FAILED"
            assert snapshot(builder.root) == before

    run(use())
