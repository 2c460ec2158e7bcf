"""Everything works where the module in C could not be made: the same tests, and a real server, without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
WITHOUT = "import sys; sys.modules['strictwire.native._speed'] = None; "
SECONDS = 300


def _python(program: str, *, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", WITHOUT + program]
    return subprocess.run(command, cwd=ROOT, input=given, capture_output=True, timeout=SECONDS, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "paths",
    [
        ("tests/profiles/test_mcp_lane.py", "tests/profiles/test_mcp_lane_large.py"),
        ("tests/canon", "tests/audit", "tests/contract/test_conform.py", "tests/stores/files/test_trail.py"),
    ],
)
def test_the_same_tests_pass(paths: tuple[str, ...]) -> None:
    options = [*paths, "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    found = _python(f"import pytest; sys.exit(pytest.main({options!r}))")

    assert found.returncode == 0, found.stdout.decode()[-2000:]


def test_a_server_answers_over_stdio(tmp_path: Path) -> None:
    source = tmp_path / "adder.py"
    source.write_text(
        "from strictwire import Server\n"
        "from strictwire.native import speed\n"
        "assert speed is None\n"
        "server = Server('adder', version='1.0.0')\n"
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        "    '''Adds two numbers.'''\n"
        "    return a + b\n"
    )
    settings = f"[audit]\nfolder = '{tmp_path}/audit'\nkey = '{tmp_path}/audit.key'\nmode = 'sync'\n"
    (tmp_path / "strictwire.toml").write_text(settings)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    calls = [({"a": 1, "b": 2}, 1), ({"a": "1", "b": 2}, 2)]
    given = b"".join(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": "add", "arguments": arguments, "_meta": meta},
            }
        ).encode()
        + b"\n"
        for arguments, number in calls
    )
    program = f"sys.path.insert(0, {str(tmp_path)!r}); import os; os.chdir({str(tmp_path)!r}); "
    found = _python(program + "import adder; sys.argv = ['adder', '--stdio']; adder.server.run()", given=given)

    answers = {each["id"]: each["result"] for each in map(json.loads, found.stdout.splitlines())}
    assert found.returncode == 0, found.stderr.decode()
    assert (answers[1].get("isError", False), answers[1]["structuredContent"]) == (False, {"result": 3})
    assert answers[2]["isError"] is True
    assert len((tmp_path / "audit" / "audit-log.jsonl").read_text().splitlines()) == 2
