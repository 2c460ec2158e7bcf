"""outline: the most used symbols first, within the budget, the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, place, run_desk

from strictwire.packs.code.tools.outline import Ranked, by_file, choose

TEXTS = {
    "core.py": "class Hub:\n    def __init__(self): pass\n    def join(self): pass\n",
    "rare.py": "class Rare:\n    def __init__(self): pass\n",
    "sub/one.py": "from core import Hub\nHub().join()\n",
    "sub/two.py": "from core import Hub\nHub()\n",
}
SYMBOLS = {
    "core.py": [("Hub", 5, 0, 6), ("__init__", 6, 1, 8), ("join", 6, 2, 8)],
    "rare.py": [("Rare", 5, 0, 6), ("__init__", 6, 1, 8)],
}


def symbols(params: dict[str, Any]) -> list[dict[str, Any]]:
    listed = SYMBOLS.get(params["textDocument"]["uri"].rpartition("/")[2], [])
    return [
        {"name": name, "kind": kind, "range": place(line, 0, 99), "selectionRange": place(line, start, start + len(name))}
        for name, kind, line, start in listed
    ]


SCRIPT = {"textDocument/documentSymbol": symbols}


def test_symbols_are_ranked_by_the_files_that_mention_them(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Any, str]:
        return await desk.call("outline"), await desk.text("outline")

    structured, text = run_desk(tmp_path, SCRIPT, story, texts=TEXTS)

    assert structured["files"] == [
        {
            "uri": f"file://{tmp_path}/core.py",
            "symbols": [
                {"name": "Hub", "kind": 5, "position": {"line": 0, "character": 6}, "files": 2},
                {"name": "__init__", "kind": 6, "position": {"line": 1, "character": 8}, "files": 1},
                {"name": "join", "kind": 6, "position": {"line": 2, "character": 8}, "files": 1},
            ],
        },
        {
            "uri": f"file://{tmp_path}/rare.py",
            "symbols": [
                {"name": "Rare", "kind": 5, "position": {"line": 0, "character": 6}, "files": 0},
                {"name": "__init__", "kind": 6, "position": {"line": 1, "character": 8}, "files": 1},
            ],
        },
    ]
    assert (structured["omitted"], structured["completeness"]) == (0, "complete")
    assert text.splitlines()[:4] == [
        "Mapped 5 symbols of 2 files. Complete (memory 1.0).", f"file://{tmp_path}/", " core.py", "  0:6 class Hub (2)",
    ]  # fmt: skip


def test_a_folder_or_a_file_can_be_mapped_alone(tmp_path: Path) -> None:
    async def story(desk: Desk) -> list[int]:
        return [len((await desk.call("outline", uri=desk.uri(name)))["files"]) for name in ("rare.py", "sub", ".")]

    assert run_desk(tmp_path, SCRIPT, story, texts=TEXTS) == [1, 0, 2]


def ranked(count: int) -> list[Ranked]:
    items = [
        {"name": f"f{n}", "kind": 12, "position": {"line": n, "character": 0}, "files": count - n} for n in range(count)
    ]
    return [Ranked(float(count - n), f"file:///{'ab'[n % 2]}/m{n % 5}.py", item) for n, item in enumerate(items)]


@pytest.mark.parametrize("budget", [256, 300, 1_000, 8_192])
@pytest.mark.parametrize("roots", [("file:///",), ("file:///a/", "file:///b/")])
def test_the_map_never_passes_its_budget_and_uses_it(budget: int, roots: tuple[str, ...]) -> None:
    from strictwire.packs.code.answers.compact import outline_lines

    chosen = choose(ranked(500), budget, roots)
    size = len("\n".join(outline_lines(by_file(chosen, roots), roots)).encode()) + 1

    assert budget - 60 < size <= budget
    assert chosen == ranked(500)[: len(chosen)]


def test_a_budget_that_leaves_symbols_out_makes_the_map_partial(tmp_path: Path) -> None:
    functions = [
        {"name": f"f{n}", "kind": 12, "range": place(n, 0, 9), "selectionRange": place(n, 4, 6)} for n in range(100)
    ]

    async def story(desk: Desk) -> Any:
        return await desk.call("outline", budget=256), await desk.text("outline", budget=256)

    structured, text = run_desk(tmp_path, {"textDocument/documentSymbol": functions}, story, texts={"a.py": "def f0(): 0\n"})
    shown = sum(len(file["symbols"]) for file in structured["files"])

    assert (structured["omitted"], structured["completeness"]) == (100 - shown, "partial")
    assert structured["note"] == f"{100 - shown} symbols do not fit the budget"
    assert len(text.partition("\n")[2].encode()) <= 256


@pytest.mark.parametrize("budget", [255, 65_537, 1.5, "8192"])
def test_a_budget_past_its_bounds_is_invalid(tmp_path: Path, budget: Any) -> None:
    assert run_desk(tmp_path, SCRIPT, lambda desk: desk.code_of("outline", budget=budget)) == "INVALID_PARAMS"


@pytest.mark.parametrize(("uri", "code"), [("file:///etc", "WORKSPACE_DENIED"), ("{root}/gone", "URI_INVALID")])
def test_a_folder_outside_or_gone_is_refused(tmp_path: Path, uri: str, code: str) -> None:
    given = uri.replace("{root}", f"file://{tmp_path}")

    assert run_desk(tmp_path, SCRIPT, lambda desk: desk.code_of("outline", uri=given)) == code
