"""A guard in a process of its own, started as a user starts it, with real upstream processes behind it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strictwire.canon.json import parse_object
from tests.fixtures.guards import PYTHON, GuardHttpProcess, GuardStdioProcess
from tests.fixtures.live import INITIALIZED, initialize, legacy, modern

CROWD = Path(__file__).parents[1] / "fixtures" / "crowd_upstream.py"
ERAS = ("modern", "legacy")


def upstream(name: str, keys: str = "", **offer: Any) -> str:
    """The table of one upstream with these offers; `keys` are further lines of the table."""
    command = json.dumps([PYTHON, "-S", str(CROWD), name, json.dumps(offer)])
    return f"[guard.upstreams.{name}]\ncommand = {command}\n{keys}\n"


def token(principal: str) -> str:
    """The table of a bearer token; the token is the principal's name."""
    digest = hashlib.sha256(principal.encode()).hexdigest()
    return f'[[server.tokens]]\nsha256 = "{digest}"\nprincipal = "{principal}"\n'


def write_settings(folder: Path, *tables: str) -> str:
    """The path of a settings file with these tables."""
    file = folder / "settings.toml"
    file.write_text("\n".join(tables))
    return str(file)


class GuardClient:
    """A client of a guard over stdio, in one era."""

    def __init__(self, process: GuardStdioProcess, era: str) -> None:
        self.process = process
        self._make = modern if era == "modern" else legacy
        self._count = 0
        if era == "legacy":
            process.ask(initialize())
            process.send(INITIALIZED)

    def reply(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a request; notifications are skipped."""
        self._count += 1
        self.process.send(self._make(self._count, method, params))
        while (message := self.process.receive()).get("id") != self._count:
            pass
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request, which must be one."""
        answer = self.reply(method, **params)
        assert "result" in answer, answer
        return answer["result"]  # type: ignore[no-any-return]

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool of the fixture answers; or the code of the failure."""
        answer = self.reply("tools/call", name=tool, arguments=arguments)
        if "error" in answer:
            return code_of(answer)
        text = answer["result"]["content"][0]["text"]
        if not answer["result"].get("isError"):
            return parse_object(text.encode())
        envelope = answer["result"].get("structuredContent") or parse_object(text.encode())
        return envelope["error"]["code"]

    def keys(self, method: str) -> list[str]:
        """The keys of a list."""
        result = self.ask(method)
        entries = next(value for value in result.values() if isinstance(value, list))
        return [entry.get("uri") or entry.get("uriTemplate") or entry["name"] for entry in entries]


def code_of(answer: dict[str, Any]) -> object:
    """The code of an error: the guard's own, or the number of the upstream's."""
    data = answer["error"].get("data")
    return data["code"] if isinstance(data, dict) and "code" in data else answer["error"]["code"]


@contextmanager
def guard(settings: str, era: str = "modern", **env: str) -> Iterator[GuardClient]:
    """A client of a guard over stdio."""
    with GuardStdioProcess("", "--config", settings, env=env) as process:
        yield GuardClient(process, era)


@contextmanager
def guard_over_http(settings: str) -> Iterator[GuardHttpProcess]:
    """A guard over HTTP."""
    process = GuardHttpProcess("", "--config", settings)
    try:
        yield process
    finally:
        process.close()


def bearer(principal: str) -> dict[str, str]:
    """The header of a principal's token."""
    return {"Authorization": f"Bearer {principal}"}
