"""A server process with the workspace pack on stdio, and a client that tolerates its death."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.packs.workspace.harness import plan_arguments

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.packs.workspace.verbs import CommandContext, run_approve


class ServerProcess:
    """Use in a `with` block; the process is killed at its end."""

    def __init__(self, folder: Path, *, prefix: Sequence[str] = (), **environment: str) -> None:
        """`prefix` is a command that starts the server."""
        self.root = folder / "work"
        self.state = folder / "xdg" / "strictwire"
        (self.root / "src").mkdir(parents=True, exist_ok=True)
        config = folder / "strictwire.toml"
        config.write_text(f'[packs.workspace]\nroots = ["{self.root}"]\ncommands = ["true"]\n[log]\nlevel = "error"\n')
        command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "workspace"]
        self.process = subprocess.Popen(
            [*prefix, *command, "--config", str(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"XDG_STATE_HOME": str(folder / "xdg")} | environment,
        )
        self._ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def call(self, tool: str, **arguments: Any) -> JsonObject | None:
        """Return the result of a tool; None if the process died before it answered."""
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = render({"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params})
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(body + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return parse_object(line)["result"] if line.endswith(b"\n") else None

    def begin(self, role: str) -> str:
        """Begin a session of the local user."""
        answer = self.call("begin_session", workspace_root=str(self.root), role=role)
        assert answer is not None
        return str(answer["structuredContent"]["session_id"])


def approve(folder: Path, **changes: Any) -> str:
    """Create a plan and approve it as a person at the terminal does."""
    with ServerProcess(folder) as process:
        made = process.call("create_plan", session_id=process.begin("ANTIGRAVITY"), **plan_arguments(**changes))
        assert made is not None
        plan_hash = str(made["structuredContent"]["plan_hash"])
        context = CommandContext(root=process.root, state=process.state / "packs", now=time.time)
        assert run_approve(context, plan_hash=plan_hash, approver="terminal:test").exit_code == 0
    return plan_hash
