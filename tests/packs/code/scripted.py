"""A language server that does what a scenario says: answers, crashes, hangs, floods, talks nonsense. A real process.

    python scripted.py SCENARIO.json

The scenario maps a method to what happens when it arrives: a list of acts, done in order.

    {"reply": value}  {"error": code}  {"notify": [method, params]}  {"stderr": "line"}  {"wait_for": "file"}
    {"raw": "bytes on stdout"}  {"crash": exit code}  {"hang": true}  {"flood": true}  {"spawn": true}  {"eat": bytes}
    {"ask": [method, params]}

Every message that arrives is written to the log beside the scenario. `{"once": act}` is done in the first life alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Acts = Mapping[str, list[dict[str, Any]]]

CAPABILITIES = {
    "definitionProvider": True,
    "referencesProvider": True,
    "hoverProvider": True,
    "documentSymbolProvider": True,
    "workspaceSymbolProvider": True,
}


class ScriptedEngine:
    """Writes a scenario and reads back what the server was sent."""

    def __init__(self, folder: Path, acts: Acts | None = None, **capabilities: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._scenario = folder / "scenario.json"
        self._log = folder / "log.jsonl"
        self._log.touch()
        self._capabilities = CAPABILITIES | capabilities
        self.play(acts or {})

    def play(self, acts: Acts) -> None:
        """Set what happens from now on; a running server sees it with its next message."""
        fresh = self._scenario.with_suffix(".new")
        fresh.write_text(json.dumps({"capabilities": self._capabilities, "acts": acts}))
        fresh.rename(self._scenario)

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, __file__, str(self._scenario))

    def messages(self, method: str | None = None) -> list[dict[str, Any]]:
        """Every message the server was sent, in all its lives."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [line for line in lines if method is None or line.get("method") == method]

    def methods(self) -> list[str]:
        return [message["method"] for message in self.messages() if "method" in message]

    def lives(self) -> int:
        return len(self.messages("initialize"))


def _send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def _read() -> dict[str, Any] | None:
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not length:
        return None
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


Act = Callable[[Any, dict[str, Any], Path], None]


def _once(value: Any, message: dict[str, Any], folder: Path) -> None:
    mark = folder / "once"
    if not mark.exists():
        mark.touch()
        _do(value, message, folder)


def _raw(value: Any, _message: dict[str, Any], _folder: Path) -> None:
    sys.stdout.buffer.write(value.encode())
    sys.stdout.buffer.flush()


def _wait_for(value: Any, _message: dict[str, Any], _folder: Path) -> None:
    while not Path(value).exists():
        time.sleep(0.005)


def _flood(_value: Any, _message: dict[str, Any], _folder: Path) -> None:
    while True:
        _send({"method": "window/logMessage", "params": {"type": 3, "message": "x" * 100_000}})


def _spawn(_value: Any, _message: dict[str, Any], _folder: Path) -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)


def _eat(value: Any, _message: dict[str, Any], _folder: Path) -> None:
    hold = bytearray(b"x") * value
    time.sleep(3600 + len(hold) % 2)


ACTS: dict[str, Act] = {
    "once": _once,
    "reply": lambda value, message, _: _send({"id": message["id"], "result": value}),
    "error": lambda value, message, _: _send({"id": message["id"], "error": {"code": value, "message": "secret text"}}),
    "notify": lambda value, *_: _send({"method": value[0], "params": value[1]}),
    "ask": lambda value, *_: _send({"id": "ours", "method": value[0], "params": value[1]}),
    "stderr": lambda value, *_: print(value, file=sys.stderr, flush=True),
    "wait_for": _wait_for,
    "raw": _raw,
    "crash": lambda value, *_: os._exit(value),
    "hang": lambda *_: time.sleep(3600),
    "flood": _flood,
    "spawn": _spawn,
    "eat": _eat,
}


def _do(act: dict[str, Any], message: dict[str, Any], folder: Path) -> None:
    ((kind, value),) = act.items()
    ACTS[kind](value, message, folder)


def main(path: Path) -> None:
    log = path.with_name("log.jsonl").open("a", buffering=1)
    while (message := _read()) is not None:
        print(json.dumps(message), file=log)
        scenario = json.loads(path.read_text())
        method = message.get("method", "")
        if method == "exit":
            return
        usual: dict[str, Any] = {"initialize": {"capabilities": scenario["capabilities"]}}
        default = [{"reply": usual.get(method)}] if "id" in message and method else []
        for act in scenario["acts"].get(method, default):
            _do(act, message, path.parent)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
