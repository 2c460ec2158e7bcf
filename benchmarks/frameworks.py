"""How a bare server on each framework responds to the probes: writes src/strictwire/probe/frameworks.json.

Run: python -m benchmarks.frameworks FOLDER [NAME...]. FOLDER keeps the environments, one for each framework. With names,
only these frameworks are measured again.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from strictwire.probe import ProbeOptions, ProbeReport, Status, run_with

ROOT: Final = Path(__file__).parents[1]
SERVERS: Final = ROOT / "benchmarks" / "servers" / "frameworks"
DATA: Final = ROOT / "src" / "strictwire" / "probe" / "frameworks.json"
START_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A framework, and the server that shows its behaviour."""

    name: str
    package: str
    version: str
    script: str
    http: bool = True
    also: tuple[str, ...] = ("zod@3.25.76",)
    """Further npm packages that the script imports."""


CONTENDERS: Final = (
    Contender(name="Python SDK 2", package="mcp", version="2.3.0", script="python_sdk_2.py"),
    Contender(name="Python SDK 2, low level", package="mcp", version="2.3.0", script="python_sdk_2_low.py"),
    Contender(name="Python SDK 1", package="mcp", version="1.30.0", script="python_sdk_1.py"),
    Contender(name="Python SDK 1, low level", package="mcp", version="1.30.0", script="python_sdk_1_low.py", http=False),
    Contender(name="FastMCP 4", package="fastmcp", version="4.1.2", script="fastmcp_any.py"),
    Contender(name="FastMCP 3", package="fastmcp", version="3.4.10", script="fastmcp_any.py"),
    Contender(name="FastMCP 2", package="fastmcp", version="2.14.7", script="fastmcp_any.py"),
    Contender(
        name="TypeScript SDK 2",
        package="@modelcontextprotocol/server",
        version="2.4.0",
        script="typescript_sdk_2.mjs",
        also=("@modelcontextprotocol/node@2.1.2",),
    ),
    Contender(
        name="TypeScript SDK 2.0",
        package="@modelcontextprotocol/server",
        version="2.0.0",
        script="typescript_sdk_2.mjs",
        also=("@modelcontextprotocol/node@2.0.0",),
    ),
    Contender(name="TypeScript SDK 1", package="@modelcontextprotocol/sdk", version="1.32.2", script="typescript_sdk_1.mjs"),
    Contender(
        name="TypeScript SDK 1, low level",
        package="@modelcontextprotocol/sdk",
        version="1.32.2",
        script="typescript_sdk_1_low.mjs",
        http=False,
    ),
    Contender(
        name="TypeScript SDK 1.0, low level",
        package="@modelcontextprotocol/sdk",
        version="1.0.1",
        script="typescript_sdk_1_low.mjs",
        http=False,
    ),
)


def main(folder: Path, names: list[str]) -> None:
    known = {each["name"]: each for each in json.loads(DATA.read_text("utf-8"))}
    for contender in CONTENDERS:
        if not names or contender.name in names:
            known[contender.name] = measure(contender, folder.resolve())
            print(contender.name, len(known[contender.name]["findings"]), flush=True)
            ordered = [known[each.name] for each in CONTENDERS if each.name in known]
            DATA.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


def measure(contender: Contender, folder: Path) -> dict[str, Any]:
    command = install(contender, folder / f"{contender.package.replace('/', '_')}-{contender.version}")
    port = free_port()
    quiet = subprocess.DEVNULL
    serving = subprocess.Popen([*command, "--http", str(port)], stdout=quiet, stderr=quiet) if contender.http else None
    try:
        url = f"http://127.0.0.1:{port}/mcp" if serving and wait_for(port) else None
        options = ProbeOptions(stdio=[*command, "--stdio"], http=url, budget=240, eof_seconds=40)
        return describe(contender, asyncio.run(run_with(options)))
    finally:
        if serving:
            serving.terminate()
            serving.wait()


def describe(contender: Contender, report: ProbeReport) -> dict[str, Any]:
    """The outcome of each probe on each variant, and the ids of all findings that name none of the server's own tools."""
    outcomes: dict[str, dict[str, str]] = {}
    for result in report.results:
        if result.status in (Status.PASS, Status.FINDING):
            outcomes.setdefault(result.probe, {})[str(result.variant)] = result.outcome
    findings = {name for result in report.findings for name in result.ids if ":tool " not in name}
    return {
        "name": contender.name,
        "package": contender.package,
        "version": contender.version,
        "outcomes": outcomes,
        "findings": sorted(findings | {each.id for each in report.differences}),
    }


def install(contender: Contender, folder: Path) -> list[str]:
    """The command that runs the script in an environment with the package."""
    is_node = contender.script.endswith(".mjs")
    if not folder.exists():
        folder.mkdir(parents=True)
        if is_node:
            npm = shutil.which("npm") or "npm"
            (folder / "package.json").write_text("{}", "utf-8")
            packages = [f"{contender.package}@{contender.version}", *contender.also]
            subprocess.run([npm, "install", "--no-audit", "--no-fund", *packages], cwd=folder, check=True)
        else:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            packages = [f"{contender.package}=={contender.version}"]
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages], check=True)
    if not is_node:
        return [str(folder / "bin" / "python"), str(SERVERS / contender.script)]
    # Node finds packages beside the script, not beside the working directory.
    shutil.copy(SERVERS / contender.script, folder)
    return ["node", str(folder / contender.script)]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
