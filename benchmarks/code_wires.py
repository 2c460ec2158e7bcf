"""A language server and an MCP server, as seen by a client that waits for each answer: the same for every contender."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from benchmarks.process import STOP_SECONDS

PATIENCE: Final = 300.0
"""Seconds that one answer may take."""


class Failed(Exception):
    """A server answered with an error, or ended."""


class _Process:
    """A child with pipes, and memory that can be measured."""

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.sink, self.source = self._process.stdin, self._process.stdout
        self._number = 0

    def next_id(self) -> int:
        """A number for a request."""
        self._number += 1
        return self._number

    def resident_mb(self) -> dict[str, float]:
        """Name of a program to the memory of its processes: this one and everything below it."""
        found: dict[str, float] = {}
        pids = [self._process.pid]
        for pid in pids:
            for thread in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += map(int, thread.read_text().split())
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            found[name] = found.get(name, 0.0) + pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        return found

    def stop(self) -> None:
        """Close its input, then kill what is left of its process group: cclsp and its engines outlive their input."""
        self.sink.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(STOP_SECONDS)
        self.source.close()


class Lsp(_Process):
    """A language server, bare."""

    def begin(self, root: Path, options: Mapping[str, Any]) -> None:
        """Initialise it for a root."""
        folder = {"uri": root.as_uri(), "name": root.name}
        capabilities = {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}},
        }
        params = {"processId": os.getpid(), "rootUri": root.as_uri(), "workspaceFolders": [folder]}
        self.ask("initialize", {**params, "capabilities": capabilities, "initializationOptions": dict(options)})
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises Failed."""
        number = self.next_id()
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._read()
            if "method" in message and "id" in message:
                items = (message.get("params") or {}).get("items", [])
                self._send({"id": message["id"], "result": [None] * len(items) if items else None})
            elif message.get("id") == number:
                if "error" in message:
                    raise Failed(method)
                return message.get("result")

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        self.sink.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.sink.flush()

    def _read(self) -> dict[str, Any]:
        length = 0
        while (line := self.source.readline()) != b"\r\n":
            if not line:
                raise Failed("ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.source.read(length))
        return message


class Mcp(_Process):
    """An MCP server over stdio."""

    def begin(self) -> None:
        """Initialise it."""
        info = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        self._send({"method": "notifications/initialized"})

    def tools(self) -> list[dict[str, Any]]:
        """The tools as listed."""
        found: list[dict[str, Any]] = self.ask("tools/list", {})["tools"]
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool call. Raises Failed."""
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})
        return result

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises Failed."""
        number = self.next_id()
        self._send({"id": number, "method": method, "params": params})
        while True:
            line = self.source.readline()
            if not line:
                raise Failed("ended")
            message = json.loads(line) if line.startswith(b"{") else {}
            if message.get("id") == number:
                if "error" in message:
                    raise Failed(f"{method}: {str(message['error'])[:300]}")
                return message["result"]

    def _send(self, message: Mapping[str, Any]) -> None:
        self.sink.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")
        self.sink.flush()


def text_of(result: Mapping[str, Any]) -> str:
    """The text content of a result."""
    return "".join(item.get("text", "") for item in result["content"])


@contextmanager
def stopwatch(times: list[float]) -> Iterator[None]:
    """Adds the milliseconds that the block took."""
    started = time.perf_counter()
    yield
    times.append((time.perf_counter() - started) * 1e3)
