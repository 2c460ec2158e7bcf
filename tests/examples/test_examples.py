"""The servers in examples/, driven by the official clients over both transports and in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from strictwire.canon.json import parse_object
from tests.fixtures.live import HERE, command, environment, serve_http

EXAMPLES = Path(__file__).parents[2] / "examples"
FASTMCP = Path(__file__).parent / "fastmcp"
NODE = Path(sys.executable).parent / "node"
SCRIPT = Path(__file__).parents[1] / "interop" / "node" / "calls.mjs"

CLIENTS = ["python-legacy", "python-modern", "v1", "v2-legacy", "v2-modern"]
"""The official Python client, and the two official TypeScript clients."""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

RUN = "12345678-1234-5678-1234-567812345678"
VALUES = [{"sensor": 1, "value": 1.5}, {"sensor": 2, "value": -3, "at": "2026-01-31T09:00:00Z"}]

Calls = list[tuple[str, dict[str, Any]]]

NOTES: Calls = [
    ("add_note", {"title": "Milk", "body": "Two litres"}),
    ("add_note", {"title": "Milk"}),
    ("add_note", {"title": ""}),
    ("search_notes", {"query": "litres"}),
    ("search_notes", {"limit": 101}),
    ("delete_note", {"note_id": 1}),
    ("delete_note", {"note_id": 1}),
]
DATA: Calls = [
    ("summarise", {"measurements": VALUES, "unit": "kelvin"}),
    ("summarise", {"measurements": [{"sensor": 1, "value": 1.3}]}),
    ("report", {"run": RUN, "measurements": VALUES, "folder": "/r", "start": "2026-01-31", "term": "P2D"}),
    ("report", {"run": RUN, "measurements": [], "folder": "/r", "start": "2026-01-31"}),
    ("area", {"shape": {"radius": 1}}),
    ("area", {"shape": {"width": 2, "height": 3}, "scale": "1.5", "digits": 0}),
    ("area", {"shape": {"side": 2}}),
    ("page", {"weights": {"3": 1.5, "1": 2}}),
]


def told_by_notes(results: list[dict[str, Any]]) -> list[Any]:
    """What the results say, without the time of the change."""
    return [_told(each, {"changed"}) for each in results]


def _told(result: dict[str, Any], without: set[str] = frozenset()) -> Any:  # type: ignore[assignment]
    value = result["structuredContent"]
    if value is None:
        value = parse_object(result["text"].encode()) if result["isError"] else {}
    if result["isError"]:
        return value["error"]["code"], value["error"]["message"]
    if isinstance(value.get("result"), list):
        return [{name: each for name, each in note.items() if name not in without} for note in value["result"]]
    return {name: each for name, each in value.items() if name not in without}


INVALID = "Arguments do not match the input schema: "
EXPECTED_NOTES = [
    {"id": 1, "title": "Milk", "body": "Two litres"},
    ("notes/TITLE_TAKEN", "A note has this title already: Milk"),
    ("INVALID_PARAMS", INVALID + "title violates minLength"),
    [{"id": 1, "title": "Milk", "body": "Two litres"}],
    ("INVALID_PARAMS", INVALID + "limit violates maximum"),
    {},
    ("NOT_FOUND", "Not found: note 1"),
]
SUMMARY = {"min": -3.0, "max": 1.5, "spread": 4.5}
EXPECTED_DATA = [
    {"unit": "kelvin", **SUMMARY},
    ("INVALID_PARAMS", INVALID + "measurements/0/value: measurements have steps of 0.5"),
    {
        "run": RUN,
        "summary": {"unit": "celsius", **SUMMARY},
        "by_sensor": {"1": 1.5, "2": -3.0},
        "path": f"/r/{RUN}.json",
        "due": "2026-02-02",
    },
    ("NOT_FOUND", f"Not found: measurements of {RUN}"),
    {"result": 3.14},
    {"result": 9.0},
    ("INVALID_PARAMS", INVALID + "shape violates anyOf"),
    {"items": [[1, 2.0], [3, 1.5]], "more": False},
]


def drive_python(era: str, target: Any, calls: Calls) -> list[dict[str, Any]]:
    async def main() -> list[dict[str, Any]]:
        with anyio.fail_after(60), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            async with Client(target, mode="legacy" if era == "legacy" else "auto") as client:
                return [_as_json(await client.call_tool(name, arguments)) for name, arguments in calls]

    return anyio.run(main)


def _as_json(result: Any) -> dict[str, Any]:
    texts = [item.text for item in result.content if item.type == "text"]
    return {
        "isError": bool(result.is_error),
        "structuredContent": result.structured_content,
        "text": "\n".join(texts),
        "images": [item.mime_type for item in result.content if item.type == "image"],
    }


def drive_node(kind: str, target: list[str], env: dict[str, str], calls: Calls) -> list[dict[str, Any]]:
    assert (SCRIPT.parent / "node_modules").is_dir(), "run ./scripts/npm"
    done = subprocess.run(
        [str(NODE), str(SCRIPT), kind, *target],
        cwd=HERE, env=env, input=json.dumps(calls).encode(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return list(parse_object(done.stdout.strip())["results"])


@contextmanager
def over_stdio(module: str, env: dict[str, str]) -> Iterator[tuple[Any, list[str]]]:
    program, *arguments = command(f"{module}:server", "--stdio")
    yield StdioServerParameters(command=program, args=arguments, cwd=HERE, env=env), ["stdio", program, *arguments]


@contextmanager
def over_http(module: str, env: dict[str, str]) -> Iterator[tuple[Any, list[str]]]:
    with serve_http(f"{module}:server", env=env) as process:
        yield process.url, ["http", process.url]


def drive(client: str, way: Callable[..., Any], module: str, calls: Calls, tmp_path: Path) -> list[dict[str, Any]]:
    env = environment({"PYTHONPATH": str(EXAMPLES), "NOTES_DB": str(tmp_path / "notes.db")})
    with way(module, env) as (target, words):
        if client.startswith("python"):
            return drive_python(client.removeprefix("python-"), target, calls)
        return drive_node(client, words, env, calls)


clients = pytest.mark.parametrize("client", CLIENTS)
ways = pytest.mark.parametrize("way", [over_stdio, over_http], ids=["stdio", "http"])


@clients
@ways
def test_notes(client: str, way: Callable[..., Any], tmp_path: Path) -> None:
    assert told_by_notes(drive(client, way, "notes", NOTES, tmp_path)) == EXPECTED_NOTES


@clients
@ways
def test_data(client: str, way: Callable[..., Any], tmp_path: Path) -> None:
    results = drive(client, way, "data", DATA, tmp_path)

    assert [_told(each) for each in results] == EXPECTED_DATA
    assert results[0].get("images", ["image/png"]) == ["image/png"]


@pytest.mark.parametrize("name", ["notes", "data"])
def test_an_example_is_no_longer_than_the_same_server_on_fastmcp(name: str) -> None:
    ours, theirs = (_lines(folder / f"{name}.py") for folder in (EXAMPLES, FASTMCP))

    assert ours <= theirs


def _lines(path: Path) -> int:
    """Lines of code and text, without empty ones."""
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
