"""Names that a client or an upstream chose, in all that a person reads: no control, bidirectional or line character."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.guards import STRICTWIRE, GuardStdioProcess
from tests.fixtures.live import PATIENCE, StdioProcess, environment, modern, run

from strictwire.canon.json import parse_object

pytestmark = pytest.mark.slow

UPSTREAM = str(Path(__file__).parent.parent / "fixtures" / "hostile_upstream.py")
SERVER = f"{sys.executable} {UPSTREAM}"
HOSTILE = "x\x1b[2J\x9b2J\u202e\nforged\u2028](evil)|<b>`"
"""The name of a tool of that upstream."""


def hidden_in(text: bytes) -> set[str]:
    """Characters that change what a person sees; line breaks separate the lines of an output."""
    return {each for each in text.decode() if not each.isprintable()} - {"\n"}


def is_forged(text: bytes) -> bool:
    """Whether a line begins with what the name has after its line break."""
    return any(line.lstrip(" -*|").startswith("forged") for line in text.decode().splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "--stdio", SERVER],
        ["lint", "--stdio", SERVER, "--format", "markdown"],
        ["lint", "--stdio", SERVER, "--format", "github"],
        *(["lint", "--stdio", SERVER, "--format", each] for each in ("json", "sarif", "codeclimate", "junit")),
        ["inspect", SERVER],
        ["inspect", SERVER, "--format", "json"],
        ["docs", "--stdio", SERVER],
        ["docs", "--stdio", SERVER, "--format", "html"],
        ["pin", "--check", "--stdio", SERVER, "--lock", "{lock}"],
        ["pin", "--check", "--stdio", SERVER, "--lock", "{lock}", "--format", "markdown"],
        ["guard", "--check", "--", sys.executable, UPSTREAM],
    ],
    ids=lambda arguments: " ".join(arguments).replace(SERVER, "SERVER").replace(UPSTREAM, "SERVER")[:60],
)
def test_the_names_of_an_upstream_are_escaped(arguments: list[str], tmp_path: Path) -> None:
    lock = tmp_path / "strictwire.lock"
    if "{lock}" in arguments:
        assert run([STRICTWIRE, "pin", "--stdio", f"{sys.executable} {UPSTREAM} few", "--lock", str(lock)]).returncode == 0
    done = run([STRICTWIRE, *(each.replace("{lock}", str(lock)) for each in arguments)])

    assert done.returncode in (0, 100), done.stderr
    assert hidden_in(done.stdout + done.stderr) == set()
    assert not is_forged(done.stdout + done.stderr)


def test_the_log_of_a_guard_escapes_the_names_of_an_upstream(tmp_path: Path) -> None:
    """A tool without a pin is quarantined, and its name is logged."""
    lock, settings = tmp_path / "tools.lock", tmp_path / "settings.toml"
    assert run([STRICTWIRE, "pin", "--stdio", f"{SERVER} few", "--lock", str(lock)]).returncode == 0
    settings.write_text(f'[guard.upstreams.a]\ncommand = ["{sys.executable}", "{UPSTREAM}"]\nlock = "{lock}"\n')
    with GuardStdioProcess("", "--config", str(settings)) as guard:
        guard.send(modern(1, "tools/list"), modern(2, "tools/call", {"name": HOSTILE, "arguments": {}}))
        guard.end_input()
        guard.rest()

    log = b"".join(guard.errors)

    assert b"2J" in log
    assert hidden_in(log) == set()
    assert not is_forged(log)


def test_a_result_is_escaped_for_a_terminal_only() -> None:
    command = [STRICTWIRE, "call", SERVER, "shout"]
    terminal, other_end = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        done = subprocess.run(command, env=environment(), stdout=other_end, timeout=PATIENCE, check=False)
        os.close(other_end)
        shown = screen.read(1000)

    assert done.returncode == 0
    assert shown.replace(b"\r\n", b"\n") == b"a       b\n\\u001b[2J\\u009b2J\\u202ec\n"
    assert run(command).stdout.decode() == "a\tb\n\x1b[2J\x9b2J\u202ec\n"


def test_a_list_of_names_in_a_refusal_is_escaped() -> None:
    refused = run([STRICTWIRE, "call", SERVER, "no such tool at all"])

    assert refused.returncode == 2
    assert hidden_in(refused.stderr) == set()
    assert not is_forged(refused.stderr)


def test_the_contents_of_a_reference_page_have_no_link_of_an_upstream() -> None:
    page = run([STRICTWIRE, "docs", "--stdio", SERVER]).stdout.decode()

    assert "](evil)" not in page.replace("\\](evil)", "")
    assert "<b>" not in page


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of a trail with a refused call whose name is hostile, and one whose name is long."""
    folder = tmp_path_factory.mktemp("trail")
    settings = {"STRICTWIRE_AUDIT_MODE": "sync", "STRICTWIRE_AUDIT_FOLDER": str(folder), "STRICTWIRE_LOG_LEVEL": "debug"}
    with StdioProcess("hard:server", env=settings) as process:
        for name in (HOSTILE, "n" * 3_000_000):
            process.ask(modern(1, "tools/call", {"name": name, "arguments": {"plan_hash": name[:100_000]}}))
        process.ask(modern(2, HOSTILE))
        process.end_input()
        process.rest()
        assert process.process.wait(20) == 0
    assert hidden_in(b"".join(process.errors)) == set()
    return settings


@pytest.mark.parametrize("verb", ["stats", "show"])
def test_the_names_in_a_trail_are_escaped(trail: dict[str, str], verb: str) -> None:
    done = run([STRICTWIRE, "audit", verb], env=trail)

    assert done.returncode == 0, done.stderr
    assert b"2J" in done.stdout
    assert hidden_in(done.stdout) == set()
    assert not is_forged(done.stdout)


def test_a_shown_record_keeps_its_value(trail: dict[str, str]) -> None:
    shown = run([STRICTWIRE, "audit", "show"], env=trail).stdout.splitlines()

    assert HOSTILE in [parse_object(line)["tool_name"] for line in shown if parse_object(line)["kind"] == "refusal"]


def test_a_name_of_three_megabytes_makes_a_small_record(trail: dict[str, str]) -> None:
    shown = run([STRICTWIRE, "audit", "show"], env=trail).stdout.splitlines()

    assert len(shown) >= 3
    assert max(map(len, shown)) < 8192
