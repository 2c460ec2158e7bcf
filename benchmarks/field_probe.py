"""`strictwire probe` on public servers: measures them into benchmarks/field_probe.json, and writes docs/field-probe.md.

Run: python -m benchmarks.field_probe FOLDER [NAME...]. FOLDER keeps the installed servers, each in a folder of its own. With
names, only these servers are measured again. Without FOLDER, only the page is written.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.field_runs import run_line
from strictwire.client.errors import CannotReach
from strictwire.fault.escape import for_markdown
from strictwire.probe import Harm, ProbeOptions, ProbeReport, run_with
from strictwire.probe.findings import rank_findings
from strictwire.probe.harm import MEANINGS

ROOT: Final = Path(__file__).parents[1]
DATA: Final = ROOT / "benchmarks" / "field_probe.json"
PAGE: Final = ROOT / "docs" / "field-probe.md"
SHOWN: Final = frozenset({Harm.CRASH, Harm.WRONG, Harm.EXPOSURE})
"""Tiers whose findings the page names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A public server. Those that need an account get a token that no service accepts."""

    package: str
    program: str
    is_npm: bool = False
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def npm(package: str, program: str, *arguments: str, **env: str) -> Public:
    return Public(package=package, program=program, is_npm=True, arguments=arguments, env=env)


def pypi(package: str, *arguments: str, program: str = "", **env: str) -> Public:
    return Public(package=package, program=program or package, arguments=arguments, env=env)


SERVERS: Final = (
    npm("@modelcontextprotocol/server-everything", "mcp-server-everything"),
    npm("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem", "."),
    npm("@modelcontextprotocol/server-memory", "mcp-server-memory"),
    npm("@modelcontextprotocol/server-sequential-thinking", "mcp-server-sequential-thinking"),
    npm("@modelcontextprotocol/server-github", "mcp-server-github"),
    npm("@modelcontextprotocol/server-gitlab", "mcp-server-gitlab", GITLAB_PERSONAL_ACCESS_TOKEN="none"),  # noqa: S106
    npm("@modelcontextprotocol/server-google-maps", "mcp-server-google-maps", GOOGLE_MAPS_API_KEY="none"),
    npm("@modelcontextprotocol/server-postgres", "mcp-server-postgres", "postgresql://127.0.0.1:1/none"),
    npm("@modelcontextprotocol/server-brave-search", "mcp-server-brave-search", BRAVE_API_KEY="none"),
    npm("@upstash/context7-mcp", "context7-mcp"),
    npm("@notionhq/notion-mcp-server", "notion-mcp-server"),
    npm("@cyanheads/git-mcp-server", "git-mcp-server"),
    npm("@antv/mcp-server-chart", "mcp-server-chart"),
    npm("@playwright/mcp", "playwright-mcp"),
    npm("@sentry/mcp-server", "sentry-mcp", "--access-token=none"),
    npm("mongodb-mcp-server", "mongodb-mcp-server"),
    npm("tavily-mcp", "tavily-mcp", TAVILY_API_KEY="none"),
    npm("airtable-mcp-server", "airtable-mcp-server", AIRTABLE_API_KEY="none"),
    npm("exa-mcp-server", "exa-mcp-server"),
    pypi("mcp-server-time"),
    pypi("mcp-server-fetch"),
    pypi("mcp-server-git"),
    pypi("mcp-server-calculator"),
    pypi("duckduckgo-mcp-server"),
    pypi("wikipedia-mcp"),
    pypi("excel-mcp-server", "stdio"),
    pypi("office-word-mcp-server", program="word_mcp_server"),
    pypi("markitdown-mcp"),
    pypi("mcp-simple-arxiv"),
    pypi("awslabs.aws-documentation-mcp-server"),
    pypi("redis-mcp-server"),
    pypi("mcp-clickhouse", CLICKHOUSE_HOST="127.0.0.1", CLICKHOUSE_USER="none", CLICKHOUSE_PASSWORD=""),
    pypi("mcp-atlassian"),
    pypi("blender-mcp"),
)


def main(folder: Path | None, names: list[str]) -> None:
    measured = {each["server"]: each for each in json.loads(DATA.read_text("utf-8"))} if DATA.exists() else {}
    for server in SERVERS if folder else ():
        if folder and (not names or server.package in names):
            measured[server.package] = measure(server, folder.resolve())
            print(json.dumps(measured[server.package]), flush=True)
            DATA.write_text(json.dumps(list(measured.values()), indent=1) + "\n", "utf-8")
    PAGE.write_text(render_page([each for each in measured.values() if "seconds" in each]), "utf-8")


def measure(server: Public, folder: Path) -> dict[str, Any]:
    home = folder / server.package.replace("/", "_")
    install(server, home)
    program = home / ("node_modules/.bin" if server.is_npm else "bin") / server.program
    with tempfile.TemporaryDirectory() as empty:
        env = {**os.environ, "HOME": empty, **server.env}
        try:
            options = ProbeOptions(stdio=[str(program), *server.arguments], env=env, cwd=empty)
            return describe(server, home, asyncio.run(run_with(options)))
        except CannotReach as exc:
            return {"server": server.package, "error": str(exc).splitlines()[0][:200]}


def install(server: Public, home: Path) -> None:
    if home.exists():
        return
    home.mkdir(parents=True)
    if server.is_npm:
        (home / "package.json").write_text("{}", "utf-8")
        npm_program = shutil.which("npm") or "npm"
        subprocess.run([npm_program, "install", "--no-audit", "--no-fund", server.package], cwd=home, check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "python", "-m", "pip", "install", "--quiet", server.package], check=True)


def version_of(server: Public, home: Path) -> str:
    if server.is_npm:
        return str(json.loads((home / "node_modules" / server.package / "package.json").read_text("utf-8"))["version"])
    code = f"import importlib.metadata as m; print(m.version({server.package!r}))"
    return subprocess.run([home / "bin" / "python", "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def describe(server: Public, home: Path, report: ProbeReport) -> dict[str, Any]:
    findings = rank_findings(report)
    own = Counter(each.harm.value for each in findings if not each.is_shared)
    return {
        "server": server.package,
        "version": version_of(server, home),
        "framework": report.framework.name if report.framework else "",
        "eras": [str(variant) for variant in report.variants],
        "seconds": round(report.seconds, 1),
        "own": {harm.value: own[harm.value] for harm in Harm},
        "shared": sum(each.is_shared for each in findings),
        "notRun": len(report.not_run),
        "worst": [
            f"{each.harm.value}, {each.probe.id}: {place.subject} {place.got}"[:200]
            for each in findings
            if each.harm in SHOWN and not each.is_shared
            for place in each.places[:1]
        ],
    }


def render_page(measured: list[dict[str, Any]]) -> str:
    seconds = sorted(each["seconds"] for each in measured)
    lines = [
        "# Field report of probe",
        "",
        "Generated by `python -m benchmarks.field_probe`; do not edit.",
        "",
        f"`strictwire probe` with default options on {len(measured)} public servers of npm and PyPI over stdio, without",
        f"network and without accounts. A run took {seconds[0]} to {seconds[-1]} s, in the median",
        f"{seconds[len(seconds) // 2]} s, on two cores that other programs kept at a load of 10 to 30. Only tools that are",
        "declared read-only were called. The tiers count the server's own findings; the last but one column counts those",
        "that a bare server on the same framework has too.",
        "",
        run_line("field-probe.md"),
        "",
        *(f"- **{harm.value}**: {MEANINGS[harm]}" for harm in Harm),
        "",
        f"| server | framework | s | {' | '.join(harm.value for harm in Harm)} | framework | not run |",
        f"|---|---|---|{'---|' * len(Harm)}---|---|",
        *map(render_row, measured),
        "",
        "## The worst of the servers' own findings",
        "",
    ]
    named = [(each["server"], text) for each in measured for text in each["worst"]]
    lines += [f"- {server}: {for_markdown(text)}" for server, text in named] or ["None."]
    return "\n".join(lines) + "\n"


def render_row(each: dict[str, Any]) -> str:
    tiers = " | ".join(str(each["own"][harm.value] or "-") for harm in Harm)
    framework = each["framework"] or "not recognised"
    return (
        f"| {each['server']} {each['version']} | {framework} | {each['seconds']} | {tiers} | {each['shared']} | "
        f"{each['notRun'] or '-'} |"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, sys.argv[2:])
