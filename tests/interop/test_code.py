"""The official Python and TypeScript clients drive the code pack with a real engine, over stdio and HTTP."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from strictwire.canon.json import parse_object
from strictwire.packs.code.catalogue import CODE_TOOLS
from tests.fixtures.live import HERE, QUIET, command, environment, serve_http

NODE = Path(sys.executable).parent / "node"
SCRIPT = Path(__file__).parent / "node" / "code.mjs"
PATIENCE = 120

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

FILES = {
    "shapes.py": "class Circle:\n    def area(self) -> float:\n        return 1.0\n",
    "use.py": "from shapes import Circle\n\nprint(Circle().area())\nTOTAL = Circle().area() * 2\n",
    "broken.py": "value: int = 'text'\n",
}

EXPECTED = {
    "tools": list(CODE_TOOLS),
    "definition": [["shapes.py", 1, 8]],
    "completeness": "complete",
    "engine": "ty",
    "references": [["use.py", 2, 15], ["use.py", 3, 17]],
    "hover": True,
    "symbols": ["Circle", "area"],
    "found": ["Circle"],
    "broken": True,
    "search": [["shapes.py", 1, 8], ["use.py", 2, 15], ["use.py", 3, 17]],
    "outline": True,
    "outside": [-32602, "WORKSPACE_DENIED"],
    "past": [-32603, "NOT_FOUND"],
    "invalid": [-32602, "INVALID_PARAMS"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project, and beside it the settings that serve it."""
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    (tmp_path / "strictwire.toml").write_text(f'[packs.code]\nroots = ["{root}"]\n')
    return root


def options(project: Path) -> tuple[str, ...]:
    return ("--pack=code", "--config", str(project.parent / "strictwire.toml"))


async def tell(client: Client, root: str) -> dict[str, Any]:
    async def structured(tool: str, **given: Any) -> Any:
        return (await client.call_tool(tool, given)).structured_content

    async def failure(tool: str, **given: Any) -> Any:
        try:
            await client.call_tool(tool, given)
        except MCPError as exc:
            return [exc.error.code, (exc.error.data or {}).get("code")]
        return None

    def start(item: Any) -> list[Any]:
        return [item["uri"].removeprefix(f"{root}/"), *(item["range"]["start"][each] for each in ("line", "character"))]

    references: list[Any] = []
    cursor: str | None = None
    while True:
        page = await structured("code_references", symbol="Circle.area", pageSize=1, cursor=cursor)
        references += map(start, page["items"])
        cursor = page["nextCursor"]
        if cursor is None:
            break
    definition = await structured("code_definition", symbol="Circle.area")
    hover = await client.call_tool("code_hover", {"symbol": "Circle.area"})
    nowhere = {"line": 0, "character": 0}
    return {
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "definition": [start(each) for each in definition["locations"]],
        "completeness": definition["completeness"],
        "engine": definition["engines"][0]["name"],
        "references": references,
        "hover": "area" in hover.content[0].text,  # type: ignore[union-attr]
        "symbols": [each["name"] for each in (await structured("code_documentSymbols", uri=f"{root}/shapes.py"))["symbols"]],
        "found": [each["name"] for each in (await structured("code_workspaceSymbols", query="Circle"))["items"]],
        "broken": bool((await structured("code_diagnostics_document", uri=f"{root}/broken.py"))["diagnostics"]),
        "search": [start(each) for each in (await structured("code_search", query=r"area\(", regex=True))["items"]],
        "outline": bool((await structured("code_outline"))["files"]),
        "outside": await failure("code_hover", uri="file:///etc/passwd", position=nowhere),
        "past": await failure("code_hover", uri=f"{root}/shapes.py", position={"line": 999, "character": 0}),
        "invalid": await failure("code_references", symbol="Circle", pageSize=201),
    }


def drive_python(target: Any, project: Path, era: str) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        with anyio.fail_after(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            async with Client(target, mode="auto" if era == "modern" else "legacy") as client:
                return await tell(client, project.as_uri())

    return anyio.run(main)


def drive_node(client: str, era: str, project: Path, *target: str) -> dict[str, Any]:
    assert (SCRIPT.parent / "node_modules").is_dir(), "run ./scripts/npm"
    done = subprocess.run(
        [str(NODE), str(SCRIPT), client, era, project.as_uri(), *target],
        cwd=HERE, env=environment(), capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return parse_object(done.stdout.strip())


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_python_client_over_stdio(project: Path, era: str) -> None:
    program, *arguments = command(*options(project), "--stdio")

    assert (
        drive_python(StdioServerParameters(command=program, args=arguments, cwd=HERE, env=QUIET), project, era) == EXPECTED
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_python_client_over_http(project: Path, era: str) -> None:
    with serve_http(*options(project)) as server:
        assert drive_python(server.url, project, era) == EXPECTED


@pytest.mark.parametrize(("client", "era"), [("v1", "legacy"), ("v2", "legacy"), ("v2", "modern")])
def test_the_typescript_clients_over_stdio(project: Path, client: str, era: str) -> None:
    assert drive_node(client, era, project, "stdio", *command(*options(project), "--stdio")) == EXPECTED


@pytest.mark.parametrize(("client", "era"), [("v1", "legacy"), ("v2", "legacy"), ("v2", "modern")])
def test_the_typescript_clients_over_http(project: Path, client: str, era: str) -> None:
    with serve_http(*options(project)) as server:
        assert drive_node(client, era, project, "http", server.url) == EXPECTED
