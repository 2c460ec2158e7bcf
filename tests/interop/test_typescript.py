"""The official TypeScript clients: the one of the legacy era, and the one of 2026 in both eras; stdio and HTTP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from tests.fixtures.live import HERE, HttpProcess, command, environment
from tests.interop.expected import expected

NODE = Path(sys.executable).parent / "node"
SCRIPTS = Path(__file__).parent / "node"

CLIENTS = [("v1", "legacy", -32002), ("v2", "legacy", -32602), ("v2", "modern", -32602)]
"""Script, era, and how the client shows a missing resource: v2 puts the code of its own era in place of -32002."""

clients = pytest.mark.parametrize(("client", "era", "unread"), CLIENTS)
pytestmark = pytest.mark.slow


def drive(client: str, era: str, *target: str) -> dict[str, Any]:
    """Run the story and return what the client saw."""
    assert (SCRIPTS / "node_modules").is_dir(), "run ./scripts/npm"
    done = subprocess.run(
        [str(NODE), str(SCRIPTS / f"{client}.mjs"), era, *target],
        cwd=HERE, env=environment(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return parse_object(done.stdout.strip())


@clients
def test_over_stdio(client: str, era: str, unread: int) -> None:
    told = drive(client, era, "stdio", *command("hard:server", "--stdio"))

    assert told == expected(modern=era == "modern", unread=unread)


@clients
def test_over_http(client: str, era: str, unread: int, http: HttpProcess) -> None:
    told = drive(client, era, "http", http.url)

    assert told == expected(modern=era == "modern", unread=unread)
