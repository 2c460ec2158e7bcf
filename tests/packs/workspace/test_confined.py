"""Confined programs: what they cannot do, and that none runs where the kernel lacks a measure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.sandbox import needs_sandbox
from tests.packs.workspace.server_process import ServerProcess, approve

from strictwire.packs.workspace.confine import order as confine_order
from strictwire.packs.workspace.confine.order import Order, folder_at, read_order
from strictwire.packs.workspace.confine.seccomp import NO_METADATA, NO_NEW_PRIVILEGES, NO_SETUID, NUMBERS, assemble
from strictwire.packs.workspace.confined import Ended, find_missing_measure, remedy, run_confined

PACKAGE = Path(confine_order.__file__).parent
PYTHON = Path(sys.executable).resolve()

WITHOUT: dict[str, str] = {
    "namespaces": "namespaces.LIBC = type('L', (), {'unshare': staticmethod(lambda flags: -1)})",
    "mounts": "namespaces.checked = lambda result: (_ for _ in ()).throw(PermissionError(1, ''))",
    "landlock": "landlock.LIBC = type('L', (), {'syscall': staticmethod(lambda *a: -1)})",
    "seccomp": "seccomp._MACHINES = {}",
}
"""Measure to the line that takes it away from the confining program."""


def order_of(folder: Path, text: str, **changes: Any) -> Order:
    base: dict[str, Any] = {"processes": 64, "memory": 1 << 30, "writable": (folder_at(str(folder)),)}
    return Order(program=(str(PYTHON), "-I", "-S", "-c", text), **(base | changes))


def run_patched(order: Order, line: str, seconds: float = 120) -> tuple[int, bytes]:
    """Run the confining program with one line executed before it, as if this system were another. Returns exit code and
    status."""
    code = (
        "import sys, os; from types import ModuleType\n"
        "name = 'strictwire.packs.workspace.confine'; package = ModuleType(name)\n"
        f"package.__path__ = [{str(PACKAGE)!r}]; sys.modules |= {{name: package, 'strictwire': ModuleType('strictwire')}}\n"
        "from strictwire.packs.workspace.confine import landlock, limits, namespaces, seccomp\n"
        "from strictwire.packs.workspace.confine.__main__ import main, read_order\n"
        f"{line}\n"
        "sys.exit(main(read_order(sys.stdin.buffer.read()), int(sys.argv[1])))\n"
    )
    reader, writer = os.pipe()
    ended = subprocess.run(
        [PYTHON, "-I", "-S", "-c", code, str(writer)],
        input=order.render(),
        pass_fds=(writer,),
        timeout=seconds,
        capture_output=True,
        check=False,
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as status:
        return ended.returncode, status.read()


@pytest.mark.parametrize("measure", WITHOUT)
def test_without_a_measure_the_program_is_not_started_and_the_measure_is_named(tmp_path: Path, measure: str) -> None:
    code, status = run_patched(order_of(tmp_path, "open('ran', 'w')"), WITHOUT[measure])

    assert code == 125
    missing = json.loads(status)
    assert missing["reason"] == "unconfined"
    # Where another measure is missing as well, that one may be reported.
    assert missing["missing"] == (measure if find_missing_measure() is None else missing["missing"])
    assert remedy(missing["missing"])
    assert list(tmp_path.iterdir()) == []


NO_NAMESPACES = f"""
import ctypes, os, sys
user, group = os.getuid(), os.getgid()
if {find_missing_measure() is None}:
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    for name, text in (("setgroups", "deny"), ("uid_map", f"{{user}} {{user}} 1"), ("gid_map", f"{{group}} {{group}} 1")):
        open(f"/proc/self/{{name}}", "w").write(text)
    open("/proc/sys/user/max_user_namespaces", "w").write("0")
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Starts a program where no user namespace can be created, as in many containers."""


@pytest.mark.slow
def test_in_a_container_without_namespaces_changes_with_commands_are_refused_with_a_remedy(tmp_path: Path) -> None:
    verified = approve(tmp_path, phase={"verification_commands": [["true"]]})
    plain = approve(tmp_path)
    with ServerProcess(tmp_path, prefix=(sys.executable, "-c", NO_NAMESPACES)) as process:
        under = {"session_id": process.begin("WINDSURF"), "phase_id": "PHASE_1", "content": "x"}
        made = process.call("write_file", plan_hash=plain, path="src/plain", **under)
        refused = process.call("write_file", plan_hash=verified, path="src/verified", **under)

    assert made is not None
    assert made["structuredContent"]["path"] == "src/plain"
    assert refused is not None
    envelope = refused["structuredContent"]
    assert envelope["error_code"] == "PREFLIGHT_FAILED"
    assert envelope["cause"]["reason"] == "unconfined"
    assert remedy(envelope["cause"]["missing"]) in envelope["human_message"]
    assert sorted(path.name for path in (process.root / "src").iterdir()) == ["plain"]


@needs_sandbox
@pytest.mark.parametrize("line", ["pass", "limits._OWN_PID_MAX = limits._OWN_COUNT = (99, 0)"])
def test_a_fork_bomb_is_stopped_whether_or_not_the_kernel_limits_processes(tmp_path: Path, line: str) -> None:
    text = "import os\nwhile True:\n try:\n  if os.fork() == 0: pass\n except OSError: raise SystemExit(3)"
    code, status = run_patched(order_of(tmp_path, text, memory=1 << 34), line)

    assert (code, json.loads(status or b"{}")) in ((3, {}), (125, {"reason": "processes"}))


@needs_sandbox
@pytest.mark.parametrize(
    "text",
    [
        "import os; os.chmod(outside, 0o666)",
        "import os; os.chown(outside, os.getuid(), os.getgid())",
        "import os; os.utime(outside, (1, 1))",
        "import os; os.setxattr(outside, 'user.x', b'x')",
        "import os; os.fchmod(os.open(outside, os.O_RDONLY), 0o666)",
        "import os; os.chmod('/proc/self/root' + outside, 0o666)",
        "open(outside, 'r+')",
        "import os; os.rename(outside, 'here')",
        "import os; os.link(outside, 'here')",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x20000) == 0",
        "import ctypes; assert ctypes.CDLL(None).mount(None, b'/', None, 4096 | 32, None) == 0",
        "import ctypes; assert ctypes.CDLL(None).syscall(425, 1, 0) >= 0",
        "import ctypes; assert ctypes.CDLL(None).umount2(b'/proc', 2) == 0",
        "import os; os.close(os.open('s', os.O_CREAT)); os.chmod('s', 0o4755)",
        "import os; os.fchmod(os.open('s', os.O_CREAT), 0o2755)",
        "import os; os.open('s', os.O_CREAT | os.O_WRONLY, 0o4755)",
        "import os, stat; os.mknod('s', stat.S_IFREG | 0o4755)",
    ],
)
def test_nothing_outside_changes_and_no_privilege_is_gained_or_left(tmp_path: Path, text: str) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.write_text("kept")
    outside.chmod(0o600)
    before = outside.stat()
    with tempfile.TemporaryFile() as output:
        ended = run_confined(
            order_of(work, f"outside = {str(outside)!r}\n{text}"), environment={}, output=output, seconds=120
        )

    assert (ended.exit_code, ended.stopped) == (1, None)
    after = outside.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (before.st_mode, before.st_mtime_ns, before.st_ctime_ns)
    assert os.listxattr(outside) == []
    assert [path for path in work.iterdir() if path.stat().st_mode & 0o6000] == []


@needs_sandbox
def test_shared_memory_and_the_temporary_folder_are_private(tmp_path: Path) -> None:
    text = "open('/dev/shm/strictwire-test', 'w').write('x'); open('inside', 'w')"
    with tempfile.TemporaryFile() as output:
        ended = run_confined(order_of(tmp_path, text), environment={}, output=output, seconds=120)

    assert ended == Ended(exit_code=0)
    assert not Path("/dev/shm/strictwire-test").exists()
    assert (tmp_path / "inside").exists()


@needs_sandbox
def test_a_folder_that_was_swapped_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    order = order_of(tmp_path / "work", "open('ran', 'w')")
    (tmp_path / "work").rename(tmp_path / "old")
    (tmp_path / "work").mkdir()
    with tempfile.TemporaryFile() as output:
        ended = run_confined(order, environment={}, output=output, seconds=120)

    assert (ended.exit_code, ended.stopped) == (125, {"reason": "root_changed"})
    assert [each.name for each in tmp_path.rglob("ran")] == []


def test_an_order_survives_its_way_to_the_program(tmp_path: Path) -> None:
    order = order_of(tmp_path, "pass", hidden=("/x\udcff",), pinned=("a/\udc80",), limits={"CORE": 0})

    assert read_order(order.render()) == Order(
        program=list(order.program),
        writable=order.writable,
        hidden=["/x\udcff"],
        pinned=["a/\udc80"],
        limits={"CORE": 0},
        processes=64,
        memory=1 << 30,
    )


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_a_filter_stays_inside_it(machine: str) -> None:
    program = assemble((*NO_NEW_PRIVILEGES, *NO_SETUID, *NO_METADATA), machine)

    assert all(place + 1 + max(yes, no) < len(program) for place, (_, yes, no, _) in enumerate(program[:-1]))
    assert program[-1] == (0x06, 0, 0, 0x7FFF0000)
    column = {"x86_64": 0, "aarch64": 1}[machine]
    numbers = [each[column] for each in NUMBERS.values() if each[column] is not None]
    assert len(numbers) == len(set(numbers))
