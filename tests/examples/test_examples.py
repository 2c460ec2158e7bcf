"""The servers in examples/, driven by the official clients over both transports and in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult

from strictwire.canon.json import parse_object
from tests.fixtures.live import HERE, command, environment, serve_http

EXAMPLES = Path(__file__).parents[2] / "examples"
FASTMCP = Path(__file__).parent / "fastmcp"
FASTMCP_PYTHON = Path(__file__).parents[2] / ".venv-fastmcp" / "bin" / "python"
NODE = Path(sys.executable).parent / "node"
SCRIPT = Path(__file__).parents[1] / "interop" / "node" / "calls.mjs"

CLIENTS = ["python-legacy", "python-modern", "v1", "v2-legacy", "v2-modern"]
"""The official Python client, and the two official TypeScript clients."""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

RUN = "12345678-1234-5678-1234-567812345678"
VALUES = [{"sensor": 1, "value": 1.5}, {"sensor": 2, "value": -3, "at": "2026-01-31T09:00:00Z"}]

Calls = list[tuple[str, dict[str, Any]]]
Answer = dict[str, Any]
"""The answer of a user to a form."""

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


WEATHER: Calls = [
    ("forecast", {"city": "Bern", "days": 2}),
    ("forecast", {"city": "Nowhere"}),
    ("forecast", {"city": "Storm"}),
    ("forecast", {"city": "Bern", "days": 17}),
    ("plan_trip", {"city": "Bern"}),
    ("plan_trip", {"city": "Bern"}),
]
ANSWERS: list[Answer] = [
    {"action": "accept", "content": {"days": 99, "activity": "beach"}},
    {"action": "accept", "content": {"days": 3, "activity": "beach"}},
    {"action": "decline"},
]
"""The first is not accepted, so the first trip is asked for twice."""


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
    ("INVALID_PARAMS", INVALID + "title must have a length of at least 1"),
    [{"id": 1, "title": "Milk", "body": "Two litres"}],
    ("INVALID_PARAMS", INVALID + "limit must be at most 100"),
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


def drive_python(era: str, target: Any, calls: Calls, answers: Sequence[Answer] = ()) -> list[dict[str, Any]]:
    left = list(answers)

    async def elicit(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(**left.pop(0))

    async def main() -> list[dict[str, Any]]:
        with anyio.fail_after(60), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mode: Any = "legacy" if era == "legacy" else "auto"
            async with Client(target, mode=mode, elicitation_callback=elicit if answers else None) as client:
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


def drive_node(
    kind: str, target: list[str], env: dict[str, str], calls: Calls, answers: Sequence[Answer] = ()
) -> list[dict[str, Any]]:
    assert (SCRIPT.parent / "node_modules").is_dir(), "run ./scripts/npm"
    done = subprocess.run(
        [str(NODE), str(SCRIPT), kind, *target],
        cwd=HERE,
        env=env,
        input=json.dumps({"calls": calls, "answers": answers}).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
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


def drive(
    client: str,
    way: Callable[..., Any],
    module: str,
    calls: Calls,
    more: Mapping[str, str],
    answers: Sequence[Answer] = (),
) -> list[dict[str, Any]]:
    env = environment({"PYTHONPATH": str(EXAMPLES), **more})
    with way(module, env) as (target, words):
        if client.startswith("python"):
            return drive_python(client.removeprefix("python-"), target, calls, answers)
        return drive_node(client, words, env, calls, answers)


clients = pytest.mark.parametrize("client", CLIENTS)
ways = pytest.mark.parametrize("way", [over_stdio, over_http], ids=["stdio", "http"])


@clients
@ways
def test_notes(client: str, way: Callable[..., Any], tmp_path: Path) -> None:
    assert told_by_notes(drive(client, way, "notes", NOTES, {"NOTES_DB": str(tmp_path / "notes.db")})) == EXPECTED_NOTES


@clients
@ways
def test_data(client: str, way: Callable[..., Any]) -> None:
    results = drive(client, way, "data", DATA, {})

    assert [_told(each) for each in results] == EXPECTED_DATA
    assert results[0].get("images", ["image/png"]) == ["image/png"]


DAYS = [("2026-07-01", 14.0, 28.0, 0.0), ("2026-07-02", 13.0, 21.0, 0.4), ("2026-07-03", 15.0, 27.0, 6.0)]
BERN = [{"date": day, "low": low, "high": high, "rain": rain} for day, low, high, rain in DAYS]
EXPECTED_WEATHER = [
    BERN[:2],
    ("NOT_FOUND", "Not found: city Nowhere"),
    ("UNAVAILABLE", "A service that the tool needs is not available: Open-Meteo"),
    ("INVALID_PARAMS", INVALID + "days must be at most 16"),
    {"city": "Bern", "activity": "beach", "good_days": ["2026-07-01"]},
    ("ANSWER_DECLINED", "The question of the tool was declined"),
]


class OpenMeteo(BaseHTTPRequestHandler):
    """The two methods of Open-Meteo that the example calls. It knows Bern, and is down for Storm."""

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if query.get("name") == ["Storm"]:
            self.send_error(503)
            return
        found = self._places(query["name"][0]) if path == "/places" else self._daily(query)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def _places(self, name: str) -> dict[str, Any]:
        return {"results": [{"name": "Bern", "latitude": 46.9, "longitude": 7.4}]} if name == "Bern" else {}

    def _daily(self, query: dict[str, list[str]]) -> dict[str, Any]:
        assert (query["latitude"], query["longitude"]) == (["46.9"], ["7.4"])
        names = ["time", *query["daily"][0].split(",")]
        return {"daily": dict(zip(names, zip(*DAYS[: int(query["forecast_days"][0])], strict=True), strict=True))}

    def log_message(self, *_: object) -> None:
        """Nothing: the tests print their own failures."""


@pytest.fixture(scope="module")
def open_meteo() -> Iterator[dict[str, str]]:
    """The addresses of a service that answers as Open-Meteo does."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OpenMeteo) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{service.server_port}"
        yield {"PLACES_URL": f"{url}/places", "FORECAST_URL": f"{url}/forecast"}
        service.shutdown()
        thread.join()


@clients
@ways
def test_weather(client: str, way: Callable[..., Any], open_meteo: dict[str, str]) -> None:
    results = drive(client, way, "weather", WEATHER, open_meteo, ANSWERS)

    assert [_told(each) for each in results] == EXPECTED_WEATHER


def test_weather_answers_as_the_same_server_on_fastmcp(open_meteo: dict[str, str]) -> None:
    """Where a call succeeds. FastMCP does not validate answers, so it is asked for the trip once."""
    assert FASTMCP_PYTHON.exists(), "run ./scripts/peers"
    target = StdioServerParameters(
        command=str(FASTMCP_PYTHON), args=[str(FASTMCP / "weather.py")], cwd=HERE, env=environment(open_meteo)
    )
    results = drive_python("legacy", target, [WEATHER[0], WEATHER[4]], ANSWERS[1:])

    assert [_told(each) for each in results] == [EXPECTED_WEATHER[0], EXPECTED_WEATHER[4]]


@pytest.mark.parametrize("name", ["notes", "data", "weather"])
def test_an_example_is_no_longer_than_the_same_server_on_fastmcp(name: str) -> None:
    ours, theirs = (_lines(folder / f"{name}.py") for folder in (EXAMPLES, FASTMCP))

    assert ours <= theirs


def _lines(path: Path) -> int:
    """Lines of code and text, without empty ones."""
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
