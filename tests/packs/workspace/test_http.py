"""Over HTTP the principal is the owner of the token, and only that principal can use the session."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """Start a server with two tokens, `secret-ada` and `secret-bob`, and yield its port."""
    root = folder / "work"
    root.mkdir()
    tokens = "".join(
        f'[[server.tokens]]\nsha256 = "{hashlib.sha256(f"secret-{name}".encode()).hexdigest()}"\nprincipal = "{name}"\n'
        for name in ("ada", "bob")
    )
    roles = '[packs.workspace.roles]\nANTIGRAVITY = ["ada"]\nWINDSURF = ["bob"]\n'
    config = folder / "strictwire.toml"
    config.write_text(f'{tokens}[packs.workspace]\nroots = ["{root}"]\n{roles}[log]\nlevel = "error"\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--pack", "workspace", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, "--config", str(config)],
        stderr=subprocess.PIPE,
        env=os.environ | {"XDG_STATE_HOME": str(folder / "xdg")},
    )
    try:
        assert process.stderr is not None
        yield int(process.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])
    finally:
        process.terminate()
        process.communicate(timeout=20)


def call(port: int, owner: str, tool: str, /, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        "Authorization": f"Bearer secret-{owner}",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/mcp", body, headers)
        return json.loads(connection.getresponse().read())["result"]["structuredContent"]


@pytest.mark.slow
@pytest.mark.clause("S10", "S12")
def test_roles_and_sessions_belong_to_the_owner_of_the_token(tmp_path: Path) -> None:
    root = str(tmp_path / "work")
    with served(tmp_path) as port:
        ada = call(port, "ada", "begin_session", workspace_root=root, role="ANTIGRAVITY")
        bob = call(port, "bob", "begin_session", workspace_root=root, role="ANTIGRAVITY")
        taken = call(port, "bob", "session_status", session_id=ada["session_id"])
        seen = call(port, "ada", "read_audit_log", session_id=ada["session_id"])

    assert (ada["role"], bob["error_code"]) == ("ANTIGRAVITY", "INSUFFICIENT_PERMISSIONS")
    assert taken["error_code"] == "SESSION_NOT_INITIALIZED"
    assert {each["principal"] for each in seen["items"]} == {"ada"}
