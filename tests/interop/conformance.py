"""Runs the official conformance suite against our server, the guard before another one, or our client, and counts passes.

A scenario that is not scored but named in `ALSO` must pass as well. Exit code 0 only if everything passed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.fixtures.guards import SDK_STDIO, guard_http, serve_sdk_http  # noqa: E402
from tests.fixtures.live import serve_http  # noqa: E402 - found through the line above

NODE: Final = Path(sys.executable).parent / "node"
SUITE: Final = HERE / "node" / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

SCORED: Final[Mapping[str, int]] = {"2025-11-25": 30, "2026-07-28": 37}
"""Scenarios that each revision requires; the lists are frozen in the suite."""

ALSO: Final[Mapping[str, frozenset[str]]] = {
    "2025-11-25": frozenset({"json-schema-2020-12", "server-session-lifecycle", "server-sse-polling"}),
    "2026-07-28": frozenset({"json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"}),
}
"""Scenarios that the suite runs without scoring them, and that we pass all the same."""

TASKS: Final = frozenset(
    f"tasks-{name}"
    for name in (
        "lifecycle",
        "capability-negotiation",
        "wire-fields",
        "request-state-removal",
        "mrtr-input",
        "request-headers",
        "dispatch-and-envelope",
        "status-notifications",
        "required-task-error",
        "mrtr-composition",
    )
)
"""The scenarios of the tasks extension. The server passes them; the SDK behind the guard has no tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the suite said of one revision."""

    revision: str
    passed: frozenset[str]
    failed: frozenset[str]
    unscored: frozenset[str]

    @property
    def line(self) -> str:
        """`2025-11-25: 30/30`."""
        scored = (self.passed | self.failed) - self.unscored
        return f"{self.revision}: {len(scored & self.passed)}/{max(len(scored), SCORED[self.revision])}"

    @property
    def missing(self) -> list[str]:
        """What was to pass and did not."""
        also = ALSO[self.revision] - self.passed
        count = len(self.passed - self.unscored)
        short = [] if count >= SCORED[self.revision] else [f"only {count} scored scenarios passed"]
        return sorted((self.failed - self.unscored) | also) + short


def find_missing(target: str, verdict: Verdict) -> list[str]:
    """What was to pass and did not, for one target."""
    has_tasks = target == "self" and verdict.revision == "2026-07-28"
    return verdict.missing + sorted(TASKS - verdict.passed if has_tasks else ())


_LINE: Final = re.compile(r"^([✓✗])\s+(\S+): \d+ passed, \d+ failed", re.MULTILINE)
_UNSCORED: Final = re.compile(r"^\s+[✓✗]\s+(\S+) \(", re.MULTILINE)


def read_verdict(revision: str, output: str) -> Verdict:
    """Read the summary that the suite prints."""
    summary = output.partition("=== SUMMARY ===")[2]
    found = _LINE.findall(summary)
    return Verdict(
        revision=revision,
        passed=frozenset(name for mark, name in found if mark == "✓"),
        failed=frozenset(name for mark, name in found if mark == "✗"),
        unscored=frozenset(_UNSCORED.findall(summary.partition("Not scored")[2])),
    )


def judge(url: str, revision: str) -> tuple[Verdict, str]:
    """Run the suite for one revision; also its whole output, for whoever has to mend something."""
    command = [str(NODE), str(SUITE), "server", "--url", url, "--requirements", revision]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=SUITE.parent)
    return read_verdict(revision, done.stdout), done.stdout + done.stderr


CLIENT_SCENARIOS: Final[Mapping[str, tuple[str, ...]]] = {
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
"""The scenarios of the suite for clients, except those of `auth/`: the client has no authorization flow."""


def judge_client(scenario: str, revision: str) -> tuple[bool, str]:
    """Run one scenario against our client. Whether it passed, and the output of the suite."""
    client = f"{sys.executable} {HERE / 'conformance_client.py'}"
    command = [str(NODE), str(SUITE), "client", "--command", client, "--scenario", scenario, "--spec-version", revision]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=SUITE.parent)
    output = done.stdout + done.stderr
    return done.returncode == 0 and "OVERALL: PASSED" in output, output


def _judge_client() -> int:
    """Judge the client in every revision. Returns the exit code."""
    broken = False
    for revision, scenarios in CLIENT_SCENARIOS.items():
        verdicts = {scenario: judge_client(scenario, revision) for scenario in scenarios}
        failed = {scenario: output for scenario, (passed, output) in verdicts.items() if not passed}
        print(f"{revision}: {len(verdicts) - len(failed)}/{len(verdicts)}", flush=True)
        for scenario, output in failed.items():
            broken = True
            print(f"{output}\n{revision}: not passed: {scenario}", file=sys.stderr)
    return 1 if broken else 0


@contextmanager
def _self() -> Iterator[str]:
    with serve_http("everything:server") as server:
        yield server.url


@contextmanager
def _guard_http() -> Iterator[str]:
    with serve_sdk_http() as upstream, guard_http("--upstream-http", upstream) as url:
        yield url


@contextmanager
def _guard_stdio() -> Iterator[str]:
    with guard_http("--", *SDK_STDIO) as url:
        yield url


@contextmanager
def _bridge() -> Iterator[str]:
    with guard_http("--", *SDK_STDIO, "sessionless") as url:
        yield url


@contextmanager
def _guard_many() -> Iterator[str]:
    """The same server as one of two: everything passes through the switch."""
    other = [
        sys.executable,
        str(HERE.parent / "fixtures" / "crowd_upstream.py"),
        "other",
        '{"prompts": ["p"], "resources": ["o:1"]}',
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "strictwire.toml"
        tables = (("sdk", list(SDK_STDIO), ""), ("other", other, "other_"))
        file.write_text(
            "".join(
                f"[guard.upstreams.{name}]\ncommand = {command!r}\nprefix = {prefix!r}\n" for name, command, prefix in tables
            )
        )
        with guard_http("--config", str(file)) as url:
            yield url


TARGETS: Final[Mapping[str, Callable[[], AbstractContextManager[str]]]] = {
    "self": _self,
    "guard-http": _guard_http,
    "guard-stdio": _guard_stdio,
    "guard-bridge": _bridge,
    "guard-many": _guard_many,
}
"""What can be judged: a name, and how to bring it up at a URL. Behind the bridge is a server that has no sessions."""


def main(arguments: Sequence[str]) -> int:
    """Judge one target in every revision."""
    name = arguments[0] if arguments else "self"
    if name == "client":
        return _judge_client()
    if name not in TARGETS:
        print(f"conformance: unknown target {name!r}; targets: client, {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    broken = False
    with TARGETS[name]() as url:
        for revision in SCORED:
            verdict, output = judge(url, revision)
            print(verdict.line, flush=True)
            missing = find_missing(name, verdict)
            if missing:
                broken = True
                print(f"{output}\n{revision}: not passed: {', '.join(missing)}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
