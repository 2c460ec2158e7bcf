"""What reading a file of 1 KB through the workspace pack costs, beside the smallest call of the basics pack.

    python -m benchmarks.workspace [--records N]

One server offers both packs over stdio and keeps its audit trail. Calls of both kinds alternate in short runs, so that
whatever else the machine does meets both; medians of CPU time and of latency are compared. Then strace counts the system
calls of `read_file`, once with an empty trail and once with a trail of a million records. Exit code 1: the ratio of CPU time
is above 3, or the counts differ by more than the timers of the interpreter make them.
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
from benchmarks.fixture import Question
from benchmarks.process import Running, run
from benchmarks.talk import Talk, Wire
from strictwire.audit.event import render_body
from strictwire.stores.files.config import TrailConfig, open_writer

RECORDS: Final = 1_000_000
TURNS: Final = 15
CALLS: Final = 1_000
"""Calls of one run; CPU time is counted in ticks of 10 ms, so a run has to last."""

MODES: Final = ("batched", "off")
"""How the audit trail is kept: as it is by default, and not at all, where what a handler costs weighs most."""

TRACED: Final = 200
BOUND: Final = 3.0
DRIFT: Final = 0.05
"""How far two counts of one kind of call may be apart: threads that meet at a lock sometimes wait in the kernel."""

TEXT: Final = "".join(f"line {number:03} of a file that agents read\n" for number in range(25))[:1000].ljust(1024, ".")
SMALL: Final[dict[str, dict[str, Any]]] = {"text_measure": {"text": ""}, "json_canonicalize": {"document": "0"}}
"""The calls of the basics pack that do least; json_validate asks another process."""


@dataclass(slots=True, kw_only=True)
class Desk:
    """A server with both packs, and the questions it is asked."""

    pipes: Pipes
    running: Running
    questions: dict[str, Question]


def write_trail(root: Path, records: int) -> TrailConfig:
    """A trail with so many records, signed as the server signs."""
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
def serving(root: Path, *, mode: str = "batched") -> Iterator[Desk]:
    """Both packs over stdio; the trail is the one in the folder."""
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
        pipes = Pipes(running, Wire.MODERN, patience=300.0)
        begun = _ask(running, "begin_session", {"workspace_root": str(work), "role": "ANTIGRAVITY"})
        asked = {**SMALL, "read_file": {"session_id": begun["session_id"], "path": "src/file.txt"}}
        questions = {
            tool: Question(tool=tool, arguments=arguments, expected=_ask(running, tool, arguments))
            for tool, arguments in asked.items()
        }
        yield Desk(pipes=pipes, running=running, questions=questions)


def _ask(running: Running, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """One call outside of the load; its structured answer."""
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
                raise TimeoutError(running.complaint()) from None
            time.sleep(0.001)
    result: dict[str, Any] = json.loads(line)["result"]["structuredContent"]
    return result


def compare(root: Path, mode: str) -> float:
    """CPU time of read_file over that of the smallest call."""
    with serving(root, mode=mode) as desk:
        talks = {name: Talk([question], Wire.MODERN) for name, question in desk.questions.items()}
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in talks}
        for turn in range(TURNS + 1):
            for name, talk in talks.items():
                measured = desk.pipes.drive(talk, Load(in_flight=1, seconds=600, calls=CALLS))
                if turn:
                    runs[name].append((measured.cpu_a_call * 1e6, measured.p50 * 1e6))
    print(f"audit {mode}:")
    medians = {name: [statistics.median(side) for side in zip(*found, strict=True)] for name, found in runs.items()}
    for name, (cpu, wall) in medians.items():
        print(f"  {name:18} {cpu:7.0f} us CPU a call, {wall:7.0f} us median latency")
    smallest = min(SMALL, key=lambda name: medians[name][0])
    pairs = list(zip(runs["read_file"], runs[smallest], strict=True))
    ratios = [statistics.median(read[side] / small[side] for read, small in pairs) for side in (0, 1)]
    print(
        f"  read_file of 1 KB takes {ratios[0]:.2f} times the CPU time and {ratios[1]:.2f} times the latency of {smallest}"
    )
    return ratios[0]


def count_calls(root: Path) -> Counter[str]:
    """System calls of one read_file after the other, from when the server is warm."""
    with serving(root) as desk:
        talk = Talk([desk.questions["read_file"]], Wire.MODERN)
        desk.pipes.drive(talk, Load(in_flight=1, seconds=600, calls=TRACED))
        out, tracer_path = root / "strace", shutil.which("strace") or "strace"
        tracer = subprocess.Popen(
            [tracer_path, "-f", "-qq", "-o", str(out), "-p", str(desk.running.process.pid)], stderr=subprocess.PIPE
        )
        _wait_until_traced(desk.running.process.pid)
        desk.pipes.drive(talk, Load(in_flight=1, seconds=600, calls=TRACED))
        tracer.terminate()
        tracer.communicate(timeout=30)
    # The thread that syncs does so by the clock, not by the call: how often depends on how long the tracing takes.
    lines = out.read_text().splitlines()
    by_clock = {line.split()[0] for line in lines if re.search(r"\bf(?:data)?sync\(", line)}
    text = "\n".join(line for line in lines if line.split()[0] not in by_clock)
    names = re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", text, re.MULTILINE)
    unfinished = Counter(re.findall(r"^\d+ +(\w+)\(.*<unfinished \.\.\.>$", text, re.MULTILINE))
    return Counter(names) - unfinished


def _wait_until_traced(pid: int) -> None:
    """Every thread has a tracer."""
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
"""Calls whose number depends on who is faster: waits, and the syncs that a batch of records shares."""


def compare_calls(root: Path, records: int) -> bool:
    """Whether a long trail changes what one call asks of the system."""
    (root / "empty").mkdir()
    (root / "long").mkdir()
    started = time.perf_counter()
    write_trail(root / "long", records)
    print(f"a trail of {records:,} records written in {time.perf_counter() - started:.0f} s")
    short, long = count_calls(root / "empty"), count_calls(root / "long")
    print(f"system calls of {TRACED} read_file calls: empty trail, trail of {records:,} records")
    good = True
    for name in sorted(short.keys() | long.keys(), key=lambda name: -short[name]):
        apart = abs(short[name] - long[name]) / TRACED
        good = good and (name in WAITING or apart <= DRIFT)
        note = " (waits)" if name in WAITING else ""
        print(f"  {name:16} {short[name] / TRACED:8.2f} {long[name] / TRACED:8.2f} a call{note}")
    total = [sum(count for name, count in side.items() if name not in WAITING) / TRACED for side in (short, long)]
    print(f"  all but waits    {total[0]:8.2f} {total[1]:8.2f} a call")
    return good


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; see the module."""
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
        print(f"largest ratio of CPU time: {ratio:.2f} (at most {BOUND:g})")
        if shutil.which("strace") is None:
            print("system calls: not counted, there is no strace on this machine")
            return int(ratio > BOUND)
        same = compare_calls(root, given.records)
    return int(ratio > BOUND or not same)


if __name__ == "__main__":
    sys.exit(main())
