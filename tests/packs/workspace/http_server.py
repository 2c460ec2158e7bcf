"""A server process with the workspace pack over HTTP, with one token for each principal."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A running server. Principals are the owners of tokens."""

    port: int
    pid: int
    state: Path

    def call(self, owner: str, tool: str, /, **arguments: Any) -> Any:
        """Return the structured answer of a tool; for a failure that is the envelope."""
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
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request("POST", "/mcp", body, headers)
            return json.loads(connection.getresponse().read())["result"]["structuredContent"]

    def begin(self, owner: str, role: str, root: Path) -> str:
        """Begin a session."""
        return str(self.call(owner, "begin_session", workspace_root=str(root), role=role)["session_id"])


@contextmanager
def serve_http(
    folder: Path,
    root: Path,
    *,
    owners: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    more: str = "",
    **settings: Sequence[str],
) -> Iterator[HttpServer]:
    """Start a server whose sessions may be opened in `root`, with its settings and state in `folder`. `more` is TOML."""
    tokens = "".join(
        f'[[server.tokens]]\nsha256 = "{hashlib.sha256(f"secret-{name}".encode()).hexdigest()}"\nprincipal = "{name}"\n'
        for name in owners
    )
    members = "".join(f"{name} = {json.dumps(list(value))}\n" for name, value in {"roots": [str(root)], **settings}.items())
    granted = "".join(f"{role} = {json.dumps(list(names))}\n" for role, names in roles.items())
    config = folder / "strictwire.toml"
    config.write_text(
        f'{tokens}[packs.workspace]\n{members}[packs.workspace.roles]\n{granted}[log]\nlevel = "error"\n{more}',
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--pack", "workspace", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, "--config", str(config)],
        stderr=subprocess.PIPE,
        env=os.environ | {"XDG_STATE_HOME": str(folder / "xdg")},
    )
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])
        yield HttpServer(port=port, pid=process.pid, state=folder / "xdg" / "strictwire" / "packs")
    finally:
        process.terminate()
        process.communicate(timeout=60)
