"""Who answers questions about code: ty by itself, strictwire, serena and cclsp, all three on the same ty.

Each contender offers the questions that it can answer; the peers are installed into `.bench` with exact versions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from benchmarks.code_wires import Lsp, Mcp, text_of
from benchmarks.peers import BENCH

SERENA: Final = "serena-agent==2.1.0"
CCLSP: Final = "cclsp@0.7.0"
TY: Final = str(Path(sys.executable).parent / "ty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A name in a file, zero-based."""

    path: str
    line: int
    character: int
    name: str


class Contender(Protocol):
    """Answers questions; each returns the size of the answer's text and how many results it holds, as far as it tells."""

    name: str

    def definition(self, place: Place) -> tuple[int, int]: ...
    def hover(self, place: Place) -> tuple[int, int]: ...
    def references(self, place: Place) -> tuple[int, int]: ...
    def symbols(self, query: str) -> tuple[int, int]: ...
    def tools_bytes(self) -> int: ...
    def memory(self) -> dict[str, float]: ...


class Bare:
    """ty without anything around it."""

    name = "ty, bare"

    def __init__(self, root: Path, _scratch: Path) -> None:
        self._root = root
        self._wire = Lsp([TY, "server"], root, os.environ)
        self._wire.begin(root, {"diagnosticMode": "workspace"})

    def definition(self, place: Place) -> tuple[int, int]:
        return self._at("textDocument/definition", place)

    def hover(self, place: Place) -> tuple[int, int]:
        return self._at("textDocument/hover", place)

    def references(self, place: Place) -> tuple[int, int]:
        return self._at("textDocument/references", place, context={"includeDeclaration": True})

    def symbols(self, query: str) -> tuple[int, int]:
        return 0, len(self._wire.ask("workspace/symbol", {"query": query}) or [])

    def tools_bytes(self) -> int:
        return 0

    def memory(self) -> dict[str, float]:
        return self._wire.resident_mb()

    def stop(self) -> None:
        self._wire.stop()

    def _at(self, method: str, place: Place, **more: Any) -> tuple[int, int]:
        document = {"uri": (self._root / place.path).as_uri()}
        position = {"line": place.line, "character": place.character}
        found = self._wire.ask(method, {"textDocument": document, "position": position, **more})
        return 0, len(found) if isinstance(found, list) else 1


class Ours:
    """strictwire's code pack. The audit trail is written at once and synced a moment later, as in the other benchmarks."""

    name = "strictwire"
    audit = "batched"

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        config = scratch / "strictwire.toml"
        config.write_text(f'[packs.code]\nroots = ["{root}"]\n[log]\nlevel = "error"\n')
        kept = {name: value for name, value in os.environ.items() if not name.startswith("STRICTWIRE_")}
        audit = {
            "STRICTWIRE_AUDIT_FOLDER": str(scratch / "audit"),
            "STRICTWIRE_AUDIT_KEY": str(scratch / "audit.key"),
            "STRICTWIRE_AUDIT_MODE": self.audit,
        }
        command = [
            sys.executable,
            "-m",
            "strictwire.cli.main",
            "serve",
            "--stdio",
            "--pack",
            "code",
            "--config",
            str(config),
        ]
        self._wire = Mcp(command, root, kept | audit | {"XDG_STATE_HOME": str(scratch / "state")})
        self._wire.begin()

    def definition(self, place: Place) -> tuple[int, int]:
        return self._size(self._wire.call("code_definition", self._at(place)), "locations")

    def hover(self, place: Place) -> tuple[int, int]:
        return self._size(self._wire.call("code_hover", self._at(place)), "contents")

    def references(self, place: Place) -> tuple[int, int]:
        arguments = {**self._at(place), "includeDeclaration": True, "pageSize": 200}
        return self._size(self._wire.call("code_references", arguments), "items")

    def symbols(self, query: str) -> tuple[int, int]:
        return self._size(self._wire.call("code_workspaceSymbols", {"query": query}), "items")

    def tools_bytes(self) -> int:
        return len(json.dumps(self._wire.tools(), separators=(",", ":"), ensure_ascii=False).encode())

    def memory(self) -> dict[str, float]:
        return self._wire.resident_mb()

    def stop(self) -> None:
        self._wire.stop()

    def _at(self, place: Place) -> dict[str, Any]:
        position = {"line": place.line, "character": place.character}
        return {"uri": (self._root / place.path).as_uri(), "position": position}

    @staticmethod
    def _size(result: dict[str, Any], items: str) -> tuple[int, int]:
        return len(text_of(result).encode()), len(result["structuredContent"][items])


class OursSynced(Ours):
    """The same, with a sync of the disk in every call: what the audit trail costs by default."""

    audit = "sync"


class Serena:
    """serena with the same ty. It looks symbols up by name and has no hover."""

    name = "serena"

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        program = str(BENCH / "serena" / "bin" / "serena")
        env = {**os.environ, "HOME": str(scratch)}
        subprocess.run(
            [program, "project", "create", "--ls", "python_ty", str(root)], env=env, capture_output=True, check=True
        )
        for settings in (root / ".serena" / "project.yml", scratch / ".serena" / "serena_config.yml"):
            settings.write_text(
                settings.read_text().replace(
                    "ls_specific_settings: {}", f"ls_specific_settings: {{python_ty: {{ls_path: {TY}}}}}"
                )
            )
        quiet = ["--enable-web-dashboard", "false", "--log-level", "ERROR"]
        self._wire = Mcp(
            [program, "start-mcp-server", "--project", str(root), "--agent-interface", "tools", *quiet], root, env
        )
        self._wire.begin()

    def definition(self, place: Place) -> tuple[int, int]:
        result = self._wire.call("find_symbol", {"name_path_pattern": place.name, "relative_path": place.path})
        return _text_size(result, r'"name_path"')

    def hover(self, place: Place) -> tuple[int, int]:
        raise NotImplementedError

    def references(self, place: Place) -> tuple[int, int]:
        arguments = {"name_path": place.name, "relative_path": place.path}
        return _text_size(self._wire.call("find_referencing_symbols", arguments), r'"content_around_reference"')

    def symbols(self, query: str) -> tuple[int, int]:
        return _text_size(self._wire.call("find_symbol", {"name_path_pattern": query}), r'"name_path"')

    def tools_bytes(self) -> int:
        return len(json.dumps(self._wire.tools(), separators=(",", ":"), ensure_ascii=False).encode())

    def memory(self) -> dict[str, float]:
        return self._wire.resident_mb()

    def stop(self) -> None:
        self._wire.stop()


class Cclsp:
    """cclsp with the same ty."""

    name = "cclsp"

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        config = scratch / "cclsp.json"
        config.write_text(json.dumps({"servers": [{"extensions": ["py"], "command": [TY, "server"], "rootDir": str(root)}]}))
        program = BENCH / "cclsp" / "node_modules" / "cclsp" / "dist" / "index.js"
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._wire = Mcp(["node", str(program)], root, {**os.environ, "PATH": path, "CCLSP_CONFIG_PATH": str(config)})
        self._wire.begin()

    def definition(self, place: Place) -> tuple[int, int]:
        return _text_size(self._wire.call("find_definition", self._named(place)), r":\d+:\d+")

    def hover(self, place: Place) -> tuple[int, int]:
        at = {"line": place.line + 1, "character": place.character + 1}
        return _text_size(self._wire.call("get_hover", {"file_path": place.path, **at}), r"```")

    def references(self, place: Place) -> tuple[int, int]:
        return _text_size(self._wire.call("find_references", self._named(place)), r":\d+:\d+")

    def symbols(self, query: str) -> tuple[int, int]:
        return _text_size(self._wire.call("find_workspace_symbols", {"query": query}), r":\d+:\d+")

    def tools_bytes(self) -> int:
        return len(json.dumps(self._wire.tools(), separators=(",", ":"), ensure_ascii=False).encode())

    def memory(self) -> dict[str, float]:
        return self._wire.resident_mb()

    def stop(self) -> None:
        self._wire.stop()

    def _named(self, place: Place) -> dict[str, Any]:
        return {"file_path": str(self._root / place.path), "symbol_name": place.name}


def _text_size(result: dict[str, Any], item: str) -> tuple[int, int]:
    text = text_of(result)
    return len(text.encode()), len(re.findall(item, text))


@contextmanager
def running(kind: Any, root: Path, scratch: Path) -> Iterator[Any]:
    """A contender for as long as the block runs, with a folder of its own."""
    folder = scratch / kind.__name__
    folder.mkdir(parents=True, exist_ok=True)
    contender = kind(root, folder)
    try:
        yield contender
    finally:
        contender.stop()


def install_peers() -> None:
    """Put serena and cclsp into `.bench`. Safe to run again."""
    BENCH.mkdir(exist_ok=True)
    serena, cclsp = BENCH / "serena", BENCH / "cclsp"
    if not _is_done(serena, SERENA):
        venv.create(serena, with_pip=True)
        subprocess.run([serena / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", SERENA], check=True)
        (serena / ".done").write_text(SERENA)
    if not _is_done(cclsp, CCLSP):
        cclsp.mkdir(exist_ok=True)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", CCLSP]
        subprocess.run(npm, cwd=cclsp, env={**os.environ, "PATH": path}, check=True)
        (cclsp / ".done").write_text(CCLSP)


def _is_done(folder: Path, wanted: str) -> bool:
    done = folder / ".done"
    return done.exists() and done.read_text() == wanted
