"""A scripted agent that knows nothing about the server: it follows tools/list, descriptions and the actions of failures.

It makes the mistakes that agents make (absolute paths, missing arguments, programs that are not allowed, a write before the
approval, a path outside the plan) and corrects each by what the refusal says. A refusal that it cannot act on is a dead end.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
COMMAND = [sys.executable, "-m", "strictwire.cli.main"]


class DeadEnd(AssertionError):
    """A refusal does not say what would work."""


class Connection(Protocol):
    """A connection to the server as one principal."""

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result."""


class StdioConnection:
    """A server process on stdio, spoken to in the legacy era: the first three messages are written at once."""

    def __init__(self, config: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, "serve", "--stdio", "--config", str(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
        )
        self._ids = itertools.count(1)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        opening = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": -1, "method": "tools/list"},
        ]
        self._write(*opening)
        answered = {message["id"]: message for message in (self._read(), self._read())}
        self.opening = answered[0]["result"], answered[-1]["result"]

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        number = next(self._ids)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self._read()
        assert answer["id"] == number
        return answer["result"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)

    def _write(self, *messages: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(json.dumps(each) + "\n" for each in messages).encode())
        self._process.stdin.flush()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConnection:
    """A client over HTTP with a token."""

    port: int
    token: str

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": META}})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            "Authorization": f"Bearer {self.token}",
        } | ({"Mcp-Name": params["name"]} if "name" in params else {})
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request("POST", "/mcp", body, headers)
            return json.loads(connection.getresponse().read())["result"]


@dataclass(slots=True, kw_only=True)
class Agent:
    """See the module docstring. `approve` asks someone else for an approval."""

    connection: Connection
    root: Path
    approve: Callable[[str], None]
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Tool and result of every call: `ok`, or the error code."""
    session: str = ""

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool until it succeeds, correcting the call by what each refusal says."""
        given = ({"session_id": self.session} if self.session else {}) | arguments
        for _ in range(6):
            result = self.connection.ask("tools/call", {"name": tool, "arguments": given})
            text = result["content"][0]["text"]
            if not result.get("isError"):
                self.calls.append((tool, "ok"))
                return result["structuredContent"]
            envelope = json.loads(text)
            self.calls.append((tool, envelope["error_code"]))
            given = self._corrected(tool, given, envelope)
        raise DeadEnd(envelope)

    def begin(self, role: str) -> None:
        """Find the tool to start with by its description, and begin a session."""
        tools = self.connection.ask("tools/list", {})["tools"]
        first = next(each for each in tools if each["description"].startswith("Start here"))
        assert role in first["inputSchema"]["properties"]["role"]["enum"]
        self.session = ""
        self.session = self.call(first["name"], workspace_root=str(self.root), role=role)["session_id"]

    def _corrected(self, tool: str, given: dict[str, Any], envelope: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the next attempt. Raises DeadEnd if the refusal says nothing that helps."""
        message, cause = envelope["human_message"], envelope["cause"] or {}
        match envelope["error_code"]:
            case "MISSING_REQUIRED_FIELD":
                names = [each["path"].removeprefix("/") for each in cause["violations"] if each["keyword"] == "required"]
                return given | {name: KNOWN[name] for name in names}
            case "PLAN_ENFORCEMENT_FAILED" if "allowed" in cause:
                gates = [[cause["allowed"][0], *gate[1:]] for gate in given["verification_gates"]]
                return given | {"verification_gates": gates}
            case "PLAN_NOT_APPROVED" if "plan approve" in message:
                self.approve(given["plan_hash"])
                return given
            case "PATH_NOT_FOUND" if "make_folders" in message:
                return given | {"make_folders": True}
            case "FILE_ALREADY_EXISTS" if "previousHash" in message:
                return given | {"previousHash": self.call("read_file", path=given["path"])["sha256"]}
            case "PLAN_SCOPE_VIOLATION" if "allowed" in cause:
                folder = cause["allowed"][0].split("*")[0]
                return given | {"path": folder + given["path"].rpartition("/")[2]}
            case "SESSION_LOCKED":
                self.call("write_file", path="docs/reports/one.md", content=report_from(message))
                return given
        raise DeadEnd(envelope)


KNOWN: dict[str, Any] = {
    "scope": "One module and nothing else",
    "rollback": "Restore the file",
    "paths": ["src/**"],
    "phases": [
        {
            "title": "Write",
            "phase_id": "PHASE_1",
            "objective": "Add a module that greets",
            "allowed_operations": ["create", "modify"],
            "expected_outcomes": "The module compiles",
            "failure_stop_conditions": "A command fails",
        }
    ],
}
"""What the agent knows about its task, by the names of arguments."""


def report_from(message: str) -> str:
    """Build a failure report from the lines and sections that the message of the lock quotes."""
    quoted = re.findall(r"'((?:#|Session:|Error code:)[^']*)'", message)
    if not quoted:
        raise DeadEnd(message)
    return "\n".join(line + ("\nThe path was outside the plan." if line.startswith("## ") else "") for line in quoted)


def at_terminal(
    arguments: list[str],
    environment: Mapping[str, str],
    *,
    typed: str | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[int, str]:
    """Run a command on a pseudo-terminal and type the code that it shows, or another text. `meanwhile` runs before that.

    Returns the exit code and what the terminal showed.
    """
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(COMMAND[0], [*COMMAND, *arguments], dict(environment))
    shown = b""
    try:
        while b"Type the code: " not in shown:
            shown += os.read(terminal, 4096)
        code = re.search(rb"Code: (\w+ \w+)", shown)
        assert code is not None
        meanwhile()
        os.write(terminal, (code[1].decode() if typed is None else typed).encode() + b"\n")
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:
        # Linux reports the end of a pseudo-terminal as EIO.
        pass
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()
