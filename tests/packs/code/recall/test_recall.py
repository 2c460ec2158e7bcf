"""490,000 lines, four engines, 30 symbols, 20 calls each: nothing is missed, and nothing that is missing is called complete.

The list of true references beside this file was made by reading; see its head for what counts. The answers are those of the
tool `code_references`, through the pack and the whole pipeline.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.engines.bench import run
from tests.packs.code.engines.real import PYTHON_ENGINES, SOURCES, VARIABLES

from strictwire import MemoryClient, Server
from strictwire.packs.code.pack import CodePack
from strictwire.packs.code.uri import parse_file_uri, render_file_uri
from strictwire.packs.pack import Environment
from strictwire.sources.shipped import SHIPPED_SCHEMAS, load_contract
from strictwire.transport.memory import MemoryConnection

pytestmark = pytest.mark.slow

TRUTH = Path(__file__).with_name("django-5.2.19.txt")
CALLS = 20
SECONDS = 300.0

Place = tuple[str, int, int]
"""Relative path, line and character, from zero."""


def read_truth() -> dict[str, tuple[Place, frozenset[Place]]]:
    """Symbol to its declaration and its true references."""
    symbols: dict[str, tuple[Place, set[Place]]] = {}
    name = ""
    for line in TRUTH.read_text().splitlines():
        if line.startswith("["):
            name, _, declaration = line[1:].partition("] ")
            symbols[name] = (_place(declaration), set())
        elif line and not line.startswith("#"):
            symbols[name][1].add(_place(line))
    return {name: (declaration, frozenset(places)) for name, (declaration, places) in symbols.items()}


def _place(text: str) -> Place:
    path, line, column = text.rsplit(":", 2)
    return path, int(line) - 1, int(column) - 1


@pytest.fixture(scope="module")
def django(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy outside of the repository, whose ignore files engines would apply."""
    folder = tmp_path_factory.mktemp("recall") / "django"
    shutil.copytree(SOURCES, folder)
    yield folder
    shutil.rmtree(folder)


async def call(client: MemoryConnection, root: Path, declaration: Place) -> tuple[str, set[Place], set[Place]]:
    """One call with all its pages: completeness, confirmed places, unconfirmed places."""
    path, line, character = declaration
    arguments: dict[str, Any] = {
        "uri": render_file_uri(root / path),
        "position": {"line": line, "character": character},
        "includeDeclaration": True,
        "includeUnconfirmed": True,
        "pageSize": 200,
    }
    confirmed: set[Place] = set()
    unconfirmed: set[Place] = set()
    while True:
        found = (await client.call_tool("code_references", arguments))["structuredContent"]
        confirmed |= {_spot(root, each) for each in found["items"]}
        unconfirmed |= {_spot(root, each) for each in found["mentions"]}
        if found["nextCursor"] is None:
            return found["completeness"], confirmed, unconfirmed
        arguments["cursor"] = found["nextCursor"]


def _spot(root: Path, location: dict[str, Any]) -> Place:
    start = location["range"]["start"]
    path = parse_file_uri(location["uri"])
    # An engine that returns a string with its quotes begins one character earlier.
    return str(Path(path).relative_to(root)), start["line"], start["character"]


def contains(found: set[Place], place: Place) -> bool:
    path, line, character = place
    return (path, line, character) in found or (path, line, character - 1) in found


@pytest.mark.parametrize("engine", PYTHON_ENGINES)
def test_nothing_is_missed_and_nothing_incomplete_is_called_complete(django: Path, engine: str) -> None:
    truth = read_truth()
    missed: list[tuple[str, int, Place]] = []
    false_claims: list[tuple[str, int, Place]] = []
    claims = 0
    confirmed_at_last = 0

    async def scenario() -> None:
        nonlocal claims, confirmed_at_last
        pack = CodePack()
        settings = {"roots": [str(django)], "languages": {"python": engine}, "timeout_seconds": SECONDS}
        handlers = await pack.open(Environment(settings=settings, variables=VARIABLES))
        server = Server("recall", version="1")
        server.add_tool(load_contract(SHIPPED_SCHEMAS, "code_references"), handlers["code_references"])
        try:
            async with MemoryClient(server) as client:
                for name, (declaration, places) in truth.items():
                    for number in range(CALLS):
                        completeness, confirmed, unconfirmed = await call(client, django, declaration)
                        claims += completeness == "complete"
                        missed.extend((name, number, each) for each in places if not contains(confirmed | unconfirmed, each))
                        if completeness == "complete":
                            false_claims.extend((name, number, each) for each in places if not contains(confirmed, each))
                    confirmed_at_last += sum(contains(confirmed, each) for each in places)
        finally:
            await pack.close()

    run(scenario)
    total = sum(len(places) for _, places in truth.values())
    print(f"{engine}: {confirmed_at_last} of {total} confirmed, {claims} of {len(truth) * CALLS} answers complete")

    assert (missed, false_claims) == ([], [])
    assert (len(truth), total) == (30, 423)


def test_the_list_agrees_with_the_sources(django: Path) -> None:
    """Every place of the list holds the name, or the one that an import gave it; no place is listed twice."""
    wrong = []
    for name, (declaration, places) in read_truth().items():
        for path, line, character in (declaration, *places):
            text = (django / path).read_text().split("\n")[line][character:]
            if not text.startswith((name, f"_{name}")):
                wrong.append((name, path, line))

    assert wrong == []
    assert sum(line != "" and line[0] not in "#[" for line in TRUTH.read_text().splitlines()) == 423
