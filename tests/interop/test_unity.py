"""The official clients drive all fifteen Unity tools, in both eras, over stdio and HTTP, and see what `editor/0.1` shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from strictwire.canon.json import parse_object, render
from strictwire.packs.unity.pack import UnityPack
from tests.fixtures.live import HERE, PATIENCE, QUIET, HttpProcess, StdioProcess, command, environment, serve_http
from tests.interop.expected import MODERN
from tests.packs.unity.writer_random import random_project

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]
NODE = Path(sys.executable).parent / "node"
SCRIPT = Path(__file__).parent / "node" / "calls.mjs"
SCENE = "Assets/Scenes/S0.unity"
LIMIT = 12_000
"""Bytes of tools/list that the fifteen tools may cost."""

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("mcp.server.info", {}),
    ("mcp.tools.list", {"category": "scene"}),
    ("mcp.tool.describe", {"toolId": "asset.info"}),
    ("project.info", {}),
    ("project.scenes.list", {"includeInBuild": True}),
    ("project.assets.summary", {"minSizeBytes": 100, "pageSize": 5}),
    ("project.references.missing", {"scope": "all"}),
    ("scene.hierarchy.dump", {"scenePath": SCENE, "includeFileIds": True}),
    ("scene.objects.find", {"scenePath": SCENE, "namePattern": "*a*"}),
    ("scene.components.list", {"scenePath": SCENE, "gameObjectPath": "Canvas"}),
    ("asset.info", {"assetPath": SCENE, "includeDependencies": True}),
    ("asset.dependencies.graph", {"assetPath": SCENE, "direction": "both"}),
    ("audio.mixer.list", {}),
    ("audio.mixer.snapshot.read", {"mixerPath": "Assets/Audio/Main.mixer", "snapshotName": "Normal"}),
    ("editor.selection.info", {}),
]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    folder = tmp_path_factory.mktemp("unity")
    root = random_project(5).save(folder / "project")
    settings = folder / "strictwire.toml"
    settings.write_text(f'[packs.unity]\nroot = "{root}"\n')
    return ("--pack=unity", "--config", str(settings))


@pytest.fixture(scope="module")
def outputs(arguments: tuple[str, ...]) -> list[Any]:
    """What `editor/0.1` answers: the output of each call, or None for a failure."""
    found = []
    with StdioProcess(*arguments, "--profile", "editor/0.1") as server:
        for number, (tool, given) in enumerate(CALLS):
            params = {"tool": tool, "arguments": given}
            answer = server.ask(render({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))
            found.append(answer["result"]["output"] if "result" in answer else None)
    return found


@pytest.fixture(scope="module")
def http(arguments: tuple[str, ...]) -> Iterator[HttpProcess]:
    with serve_http(*arguments) as process:
        yield process


def check(told: dict[str, Any], outputs: list[Any]) -> None:
    assert sorted(told["tools"]) == sorted(UnityPack.tools)
    assert [each["structuredContent"] for each in told["results"]][:-1] == outputs[:-1]
    assert [each["isError"] for each in told["results"]] == [False] * 14 + [True]
    assert all(each["text"] for each in told["results"])
    assert "UNITY_ERROR" in told["results"][-1]["text"]


@pytest.mark.parametrize("client", ["v1", "v2-legacy", "v2-modern"])
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_typescript(client: str, way: str, arguments: tuple[str, ...], outputs: list[Any], http: HttpProcess) -> None:
    target = command(*arguments, "--stdio") if way == "stdio" else [http.url]
    assert (SCRIPT.parent / "node_modules").is_dir(), "run ./scripts/npm"
    done = subprocess.run(
        [str(NODE), str(SCRIPT), client, way, *target],
        input=json.dumps(CALLS).encode(), cwd=HERE, env=environment(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr.decode()
    check(parse_object(done.stdout.strip()), outputs)


async def tell(client: Client) -> dict[str, Any]:
    tools = (await client.list_tools()).tools
    results = []
    for name, given in CALLS:
        result = await client.call_tool(name, given)
        text = "\n".join(each.text for each in result.content)  # type: ignore[union-attr]
        results.append({"isError": result.is_error, "structuredContent": result.structured_content, "text": text})
    return {"tools": [each.name for each in tools], "results": results}


@pytest.mark.parametrize("mode", ["legacy", MODERN])
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_python(
    mode: str, way: str, arguments: tuple[str, ...], outputs: list[Any], http: HttpProcess, patient_discovery: None
) -> None:
    line = command(*arguments, "--stdio")
    stdio = StdioServerParameters(command=line[0], args=line[1:], cwd=HERE, env=QUIET)

    async def drive() -> dict[str, Any]:
        with anyio.fail_after(6 * PATIENCE):
            async with Client(stdio if way == "stdio" else http.url, mode=mode) as client:
                return await tell(client)

    check(anyio.run(drive), outputs)


def test_fifteen_tools_cost_at_most_12_kB_of_tools_list(http: HttpProcess) -> None:
    headers = http.open_session()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    answer = http.post(body, headers)
    raw = answer.body if answer.body.startswith(b"{") else answer.body.partition(b"data: ")[2]

    assert len(parse_object(raw.strip())["result"]["tools"]) == len(UnityPack.tools)
    assert len(raw) <= LIMIT
