"""Lookup by name: one symbol, several, none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk

from strictwire.packs.code.lookup import choose

SHAPES = """\
class Circle:
    def area(self):
        pass

    class Part:
        def area(self):
            pass
"""
OTHER = """\
class Square:
    def area(self):
        pass


def area():
    pass
"""
TEXTS = {"pkg/__init__.py": "def top():\n    pass\n", "pkg/shapes.py": SHAPES, "pkg/other.py": OTHER}


def node(name: str, kind: int, whole: tuple[int, int, int, int], name_at: tuple[int, int], *children: Any) -> dict[str, Any]:
    line, character = name_at
    selection = place(line, character, character + len(name))
    return {"name": name, "kind": kind, "range": place(*whole), "selectionRange": selection, "children": list(children)}


TREES = {
    "__init__.py": [node("top", 12, (0, 0, 1, 8), (0, 4))],
    "shapes.py": [
        node(
            "Circle", 5, (0, 0, 6, 16), (0, 6),
            node("area", 6, (1, 4, 2, 12), (1, 8)),
            node("Part", 5, (4, 4, 6, 16), (4, 10), node("area", 6, (5, 8, 6, 16), (5, 12))),
        )
    ],
    "other.py": [
        node("Square", 5, (0, 0, 2, 12), (0, 6), node("area", 6, (1, 4, 2, 12), (1, 8))),
        node("area", 12, (5, 0, 6, 8), (5, 4)),
    ],
}  # fmt: skip


def script(root: Path) -> dict[str, Any]:
    """Workspace symbols as ty gives them: whole ranges, no containers."""
    flat = [
        ("area", 6, root / "pkg/shapes.py", (1, 4, 2, 12)), ("area", 6, root / "pkg/shapes.py", (5, 8, 6, 16)),
        ("area", 6, root / "pkg/other.py", (1, 4, 2, 12)), ("area", 12, root / "pkg/other.py", (5, 0, 6, 8)),
        ("top", 12, root / "pkg/__init__.py", (0, 0, 1, 8)), ("Circle", 5, root / "pkg/shapes.py", (0, 0, 6, 16)),
    ]  # fmt: skip

    def find(params: dict[str, Any]) -> list[dict[str, Any]]:
        word = params["query"].lower()
        return [{"name": n, "kind": k, "location": at(p, *r)} for n, k, p, r in flat if word in n.lower()]

    return {
        "workspace/symbol": find,
        "textDocument/documentSymbol": lambda params: TREES[params["textDocument"]["uri"].rpartition("/")[2]],
        "textDocument/definition": lambda params: {
            "uri": params["textDocument"]["uri"],
            "range": place(*[params["position"][n] for n in ("line", "character")], 99),
        },
    }


def look_up(root: Path, **arguments: Any) -> dict[str, Any]:
    return run_desk(root, script(root), lambda desk: desk.call("definition", **arguments), texts=TEXTS)


@pytest.mark.parametrize(
    ("symbol", "file", "line", "character"),
    [
        ("top", "pkg/__init__.py", 0, 4),
        ("pkg.top", "pkg/__init__.py", 0, 4),
        ("pkg.__init__.top", "pkg/__init__.py", 0, 4),
        ("Circle", "pkg/shapes.py", 0, 6),
        ("Circle.area", "pkg/shapes.py", 1, 8),
        ("shapes.Circle.area", "pkg/shapes.py", 1, 8),
        ("pkg.shapes.Circle.area()", "pkg/shapes.py", 1, 8),
        ("pkg/shapes#Circle::area", "pkg/shapes.py", 1, 8),
        ("Part.area", "pkg/shapes.py", 5, 12),
        ("Circle.Part.area", "pkg/shapes.py", 5, 12),
        ("pkg.Square.area", "pkg/other.py", 1, 8),
        ("other.area", "pkg/other.py", 5, 4),
    ],
)
def test_a_name_leads_to_the_position_of_its_symbol(
    tmp_path: Path, symbol: str, file: str, line: int, character: int
) -> None:
    assert look_up(tmp_path, symbol=symbol)["locations"] == [at(tmp_path / file, line, character, 99)]


def test_a_name_that_fits_several_symbols_returns_them_with_their_containers(tmp_path: Path) -> None:
    answer = look_up(tmp_path, symbol="area")

    assert answer["locations"] == []
    assert [(each.get("containerName"), each["location"]) for each in answer["candidates"]] == [
        ("Square", at(tmp_path / "pkg/other.py", 1, 8, 12)),
        (None, at(tmp_path / "pkg/other.py", 5, 4, 8)),
        ("Circle", at(tmp_path / "pkg/shapes.py", 1, 8, 12)),
        ("Circle.Part", at(tmp_path / "pkg/shapes.py", 5, 12, 16)),
    ]
    assert answer["summary"] == "The name fits 4 symbols; call again with the uri and position of one."


def test_the_text_of_candidates_is_enough_to_call_again(tmp_path: Path) -> None:
    text = run_desk(tmp_path, script(tmp_path), lambda desk: desk.text("definition", symbol="area"), texts=TEXTS)

    assert text.splitlines()[1:] == [
        f"file://{tmp_path}/", " pkg/other.py", "  1:8 method Square.area", "  5:4 function area",
        " pkg/shapes.py", "  1:8 method Circle.area", "  5:12 method Circle.Part.area",
    ]  # fmt: skip


def test_a_name_that_nothing_has_returns_what_resembles_it(tmp_path: Path) -> None:
    similar, nothing = look_up(tmp_path, symbol="circle"), look_up(tmp_path, symbol="Nowhere.zzz")

    assert (similar["summary"], [each["name"] for each in similar["candidates"]]) == (
        "No symbol has this path; 1 similar.",
        ["Circle"],
    )
    assert (nothing["summary"], nothing["candidates"]) == ("No symbol has this name.", [])


def test_a_name_is_looked_up_once_until_a_file_changes(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[int]:
        counts = []
        for change in (False, False, True):
            if change:
                desk.engines.edit()
            await desk.call("definition", symbol="Circle.area")
            counts.append(sum(method == "workspace/symbol" for method, _ in desk.engines.asked))
        return counts

    assert run_desk(tmp_path, script(tmp_path), story, texts=TEXTS) == [1, 1, 2]


def test_an_inherited_method_is_offered_where_it_is_defined(tmp_path: Path) -> None:
    answer = look_up(tmp_path, symbol="Triangle.area")

    assert answer["summary"] == "No symbol has this path; 4 similar."
    assert {each["name"] for each in answer["candidates"]} == {"area"}


def test_with_a_uri_the_name_is_looked_up_in_that_document(tmp_path: Path) -> None:
    uri = f"file://{tmp_path}/pkg/shapes.py"

    assert look_up(tmp_path, uri=uri, symbol="Circle.area")["locations"] == [at(tmp_path / "pkg/shapes.py", 1, 8, 99)]
    assert len(look_up(tmp_path, uri=uri, symbol="area")["candidates"]) == 2


@pytest.mark.parametrize("tool", ["definition", "type_definition", "implementations", "hover", "references", "callers"])
def test_every_tool_that_takes_a_position_takes_a_name(tmp_path: Path, tool: str) -> None:
    answer = run_desk(tmp_path, script(tmp_path), lambda desk: desk.call(tool, symbol="area"), texts=TEXTS)

    assert len(answer["candidates"]) == 4


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "/uri"),
        ({"uri": "file:///w/a.py"}, "/position"),
        ({"position": {"line": 0, "character": 0}}, "/uri"),
        ({"symbol": "a", "uri": "file:///w/a.py", "position": {"line": 0, "character": 0}}, "/position"),
        ({"symbol": "..."}, "/symbol"),
        ({"symbol": "   "}, "/symbol"),
    ],
)
def test_neither_or_both_of_position_and_name_are_invalid(tmp_path: Path, arguments: dict[str, Any], path: str) -> None:
    async def story(desk: Desk) -> Any:
        return (await desk.error("definition", **arguments))[2]

    data = run_desk(tmp_path, script(tmp_path), story, texts=TEXTS)

    assert (data["code"], [issue["path"] for issue in data["issues"]]) == ("INVALID_PARAMS", [path])


def test_overloads_of_one_path_count_as_their_first_definition() -> None:
    def overload(line: int) -> dict[str, Any]:
        return {"name": "f", "kind": 12, "location": at(Path("/w/a.py"), line, 4, 5)}

    assert choose([overload(1), overload(5)], ["a"], [Path("/w")]) == [overload(1)]
