"""The cost of reading a 1 KB file through the workspace pack, relative to the smallest call of the basics pack.

    python -m benchmarks.workspace [--records N]

One server serves both packs over stdio with its audit trail. Both kinds of calls alternate in short runs, so that other
work on the machine affects both; medians of CPU time and latency are compared. Then strace counts the system calls of
`read_file` with an empty trail and with a trail of a million records. The exit code is 1 if the ratio of CPU time exceeds
3, or if the counts differ by more than timers of the interpreter explain.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.audit import event
from benchmarks.drive import Load, Pipes
from benchmarks.fixture import ExpectedCall
from benchmarks.messages import CallStream, Revision
from benchmarks.process import Running, run
from strictwire.audit.event import render_body
from strictwire.stores.files.config import TrailConfig, open_writer

RECORDS: Final = 1_000_000
TURNS: Final = 15
CALLS: Final = 1_000
"""Calls of one run. The kernel counts CPU time in ticks of 10 ms, so a run must be long enough."""

MODES: Final = ("batched", "off")
"""The audit modes: `batched`, and `off`, in which the cost of a handler has the largest share."""

TRACED: Final = 200
BOUND: Final = 3.0
DRIFT: Final = 0.05
"""Maximum difference per call between two counts: contention on a lock sometimes adds a system call."""

TEXT: Final = "".join(f"line {number:03} of a file that agents read\n" for number in range(25))[:1000].ljust(1024, ".")
SMALL: Final[dict[str, dict[str, Any]]] = {"text_measure": {"text": ""}, "json_canonicalize": {"document": "0"}}
"""The cheapest calls of the basics pack; json_validate uses another process."""


@dataclass(slots=True, kw_only=True)
class BenchServer:
    """A server with both packs, and the calls to make."""

    pipes: Pipes
    running: Running
    expected_calls: dict[str, ExpectedCall]


def write_trail(root: Path, records: int) -> TrailConfig:
    """Write a trail with this many records, signed as often as the server signs."""
    trail = TrailConfig(folder=root / "audit", key_path=root / "audit.key")
    log = open_writer(trail)
    block = [render_body(event())] * 1_000
    for _ in range(records // 1_000):
        log.append_unsynced(block)
        if log.unsigned >= trail.schedule.checkpoint_records:
            log.sign()
    log.sign()
    log.close()
    return trail


@contextmanager
def serving(root: Path, *, mode: str = "batched") -> Iterator[BenchServer]:
    """Start a server with both packs over stdio and the trail in the folder."""
    work = root / "work"
    (work / "src").mkdir(parents=True, exist_ok=True)
    (work / "src" / "file.txt").write_text(TEXT)
    config = root / "strictwire.toml"
    config.write_text(f'[packs.workspace]\nroots = ["{work}"]\n[log]\nlevel = "error"\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "workspace", "--pack", "basics"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRICTWIRE_")}
    audit = {"STRICTWIRE_AUDIT_FOLDER": str(root / "audit"), "STRICTWIRE_AUDIT_KEY": str(root / "audit.key")}
    env = kept | audit | {"XDG_STATE_HOME": str(root / "state"), "STRICTWIRE_AUDIT_MODE": mode}
    with run([*command, "--config", str(config)], env=env) as running:
        pipes = Pipes(running, Revision.MODERN, stall_seconds=300.0)
        session = _ask(running, "begin_session", {"workspace_root": str(work), "role": "ANTIGRAVITY"})
        arguments_by_tool = {**SMALL, "read_file": {"session_id": session["session_id"], "path": "src/file.txt"}}
        expected_calls = {
            tool: ExpectedCall(tool=tool, arguments=arguments, expected=_ask(running, tool, arguments))
            for tool, arguments in arguments_by_tool.items()
        }
        yield BenchServer(pipes=pipes, running=running, expected_calls=expected_calls)


def _ask(running: Running, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make one call outside the load and return its structured content."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    source, sink = running.pipes
    os.write(sink, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n")
    line = b""
    deadline = time.monotonic() + 300
    while not line.endswith(b"\n"):
        try:
            line += os.read(source, 1 << 16)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(running.stderr_tail()) from None
            time.sleep(0.001)
    result: dict[str, Any] = json.loads(line)["result"]["structuredContent"]
    return result


def compare(root: Path, mode: str) -> float:
    """The CPU time of read_file relative to that of the cheapest call."""
    with serving(root, mode=mode) as server:
        streams = {name: CallStream([call], Revision.MODERN) for name, call in server.expected_calls.items()}
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in streams}
        for turn in range(TURNS + 1):
            for name, stream in streams.items():
                measured = server.pipes.drive(stream, Load(in_flight=1, seconds=600, calls=CALLS))
                if turn:
                    runs[name].append((measured.cpu_a_call * 1e6, measured.p50 * 1e6))
    print(f"audit {mode}:")
    medians = {name: [statistics.median(side) for side in zip(*found, strict=True)] for name, found in runs.items()}
    for name, (cpu, wall) in medians.items():
        print(f"  {name:18} {cpu:7.0f} us CPU per call, {wall:7.0f} us median latency")
    smallest = min(SMALL, key=lambda name: medians[name][0])
    pairs = list(zip(runs["read_file"], runs[smallest], strict=True))
    ratios = [statistics.median(read[side] / small[side] for read, small in pairs) for side in (0, 1)]
    print(
        f"  read_file of 1 KB takes {ratios[0]:.2f} times the CPU time and {ratios[1]:.2f} times the latency of {smallest}"
    )
    return ratios[0]


def count_calls(root: Path) -> Counter[str]:
    """Count the system calls of read_file on a warm server."""
    with serving(root) as server:
        stream = CallStream([server.expected_calls["read_file"]], Revision.MODERN)
        server.pipes.drive(stream, Load(in_flight=1, seconds=600, calls=TRACED))
        out, tracer_path = root / "strace", shutil.which("strace") or "strace"
        tracer = subprocess.Popen(
            [tracer_path, "-f", "-qq", "-o", str(out), "-p", str(server.running.process.pid)], stderr=subprocess.PIPE
        )
        _wait_until_traced(server.running.process.pid)
        server.pipes.drive(stream, Load(in_flight=1, seconds=600, calls=TRACED))
        tracer.terminate()
        tracer.communicate(timeout=30)
    # The sync thread runs by the clock and not per call, so its count depends on how slow tracing is. Ignore it.
    lines = out.read_text().splitlines()
    by_clock = {line.split()[0] for line in lines if re.search(r"\bf(?:data)?sync\(", line)}
    text = "\n".join(line for line in lines if line.split()[0] not in by_clock)
    names = re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", text, re.MULTILINE)
    unfinished = Counter(re.findall(r"^\d+ +(\w+)\(.*<unfinished \.\.\.>$", text, re.MULTILINE))
    return Counter(names) - unfinished


def _wait_until_traced(pid: int) -> None:
    """Wait until strace is attached to every thread."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        if all("TracerPid:\t0" not in (task / "status").read_text() for task in tasks):
            return
        time.sleep(0.01)
    raise TimeoutError("strace did not attach")


WAITING: Final = frozenset(
    {"futex", "restart_syscall", "epoll_wait", "sched_yield", "clock_nanosleep", "fsync", "fdatasync"}
)
"""System calls whose number depends on timing: waits, and the syncs that a batch of records shares."""


def compare_calls(root: Path, records: int) -> bool:
    """Whether one call makes the same system calls with a long trail as with an empty one."""
    (root / "empty").mkdir()
    (root / "long").mkdir()
    started = time.perf_counter()
    write_trail(root / "long", records)
    print(f"wrote a trail of {records:,} records in {time.perf_counter() - started:.0f} s")
    short, long = count_calls(root / "empty"), count_calls(root / "long")
    print(f"system calls of {TRACED} read_file calls: empty trail, trail of {records:,} records")
    good = True
    for name in sorted(short.keys() | long.keys(), key=lambda name: -short[name]):
        apart = abs(short[name] - long[name]) / TRACED
        good = good and (name in WAITING or apart <= DRIFT)
        note = " (waits)" if name in WAITING else ""
        print(f"  {name:16} {short[name] / TRACED:8.2f} {long[name] / TRACED:8.2f} per call{note}")
    total = [sum(count for name, count in side.items() if name not in WAITING) / TRACED for side in (short, long)]
    print(f"  all but waits    {total[0]:8.2f} {total[1]:8.2f} per call")
    return good


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark. Returns 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=RECORDS)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as folder:
        root = Path(folder)
        ratios = {}
        for mode in MODES:
            (root / mode).mkdir()
            ratios[mode] = compare(root / mode, mode)
        ratio = max(ratios.values())
        print(f"largest ratio of CPU time: {ratio:.2f} (goal: at most {BOUND:g})")
        if shutil.which("strace") is None:
            print("system calls: not counted, strace is not installed")
            return int(ratio > BOUND)
        same = compare_calls(root, given.records)
    return int(ratio > BOUND or not same)


if __name__ == "__main__":
    sys.exit(main())
