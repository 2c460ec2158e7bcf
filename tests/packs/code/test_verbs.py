"""The verbs of the command line over an engine in memory: places, lines for people, JSON, exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, at, place, run_desk

from strictwire.canon.json import parse_object
from strictwire.fault.failure import Refused
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.terminal import ANSI, PLAIN, Ink, Page
from strictwire.packs.code.verbs import FINDINGS, Order, Result, run_verb

TEXTS = {"a.py": "def used():\n    return 1\n\n\nvalue = used()\n", "b.py": "x = '\U0001f600'; used()\nprint('\x1b[31m')\n"}


def script(root: Path) -> dict[str, Any]:
    uses = [at(root / "a.py", 4, 8, 12), at(root / "b.py", 0, 10, 14)]
    return {
        "textDocument/definition": [at(root / "a.py", 0, 4, 8)],
        "textDocument/references": lambda params: (
            [at(root / "a.py", 0, 4, 8)] * params["context"]["includeDeclaration"] + uses
        ),
        "textDocument/documentSymbol": [
            {"name": "used", "kind": 12, "range": place(0, 0, 9), "selectionRange": place(0, 4, 8)}
        ],
        "workspace/symbol": [{"name": "used", "kind": 12, "location": at(root / "a.py", 0, 0, 9)}],
        "textDocument/diagnostic": {
            "items": [{"range": place(4, 0, 5), "severity": 1, "code": "E1", "message": "bad\nthing"}]
        },
        "workspace/diagnostic": {"items": []},
    }


def verb(root: Path, name: str, subject: str | None = None, ink: Ink = PLAIN, **options: Any) -> Result:
    arguments = options.pop("arguments", {})

    async def story(desk: Desk) -> Result:
        order = Order(verb=name, subject=subject, arguments=arguments, **options)
        return await run_verb(desk.service, order, Page(ink, root))

    return run_desk(root, script(root), story, texts=TEXTS)


def test_a_definition_is_shown_with_its_line_counted_from_one(tmp_path: Path) -> None:
    assert verb(tmp_path, "def", f"{tmp_path}/a.py:5:9") == Result(
        output="a.py:1:5: def used():", status="1 definition; complete; memory 1.0"
    )


@pytest.mark.parametrize("subject", ["{root}/a.py:1:5", "{root}/a.py:1:6", "used", "a.used"])
def test_references_are_found_by_place_and_by_name(tmp_path: Path, subject: str) -> None:
    found = verb(tmp_path, "refs", subject.replace("{root}", str(tmp_path)))

    assert found.output.splitlines() == ["a.py:5:9: value = used()", "b.py:1:10: x = '\U0001f600'; used()"]
    assert found.status.startswith("2 results; ")


def test_without_a_column_the_first_thing_on_the_line_is_meant(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Any:
        await run_verb(desk.service, Order(verb="def", subject=f"{tmp_path}/a.py:2"), Page(PLAIN, tmp_path))
        return desk.engines.asked[-1][1]["position"]

    assert run_desk(tmp_path, script(tmp_path), story, texts=TEXTS) == {"line": 1, "character": 4}


@pytest.mark.parametrize("subject", ["{root}/a.py:99:1", "{root}/a.py:1:99", "{root}/b.py:1:99"])
def test_a_place_past_the_end_is_not_found(tmp_path: Path, subject: str) -> None:
    with pytest.raises(Refused, match="NOT_FOUND"):
        verb(tmp_path, "def", subject.replace("{root}", str(tmp_path)))


def test_symbols_of_a_file_and_of_the_project(tmp_path: Path) -> None:
    assert verb(tmp_path, "symbols", f"{tmp_path}/a.py").output == "a.py:1:5: function used"
    assert verb(tmp_path, "symbols", "us").output == "a.py:1:1: function used"


def test_diagnostics_have_their_own_exit_code(tmp_path: Path) -> None:
    found = verb(tmp_path, "diagnostics", f"{tmp_path}/a.py")

    assert (found.output, found.exit_code) == ("a.py:5:1: error[E1]: bad thing", FINDINGS)
    assert verb(tmp_path, "diagnostics").exit_code == 0


def test_colours_are_around_the_parts_and_never_from_a_source_line(tmp_path: Path) -> None:
    found = verb(tmp_path, "search", "print", ink=ANSI).output

    assert found == "\x1b[35mb.py\x1b[0m:\x1b[32m2:1\x1b[0m: print(' [31m')"


def test_json_is_the_whole_answer_of_all_pages(tmp_path: Path) -> None:
    many = "used\n" * 450

    async def story(desk: Desk) -> Result:
        return await run_verb(desk.service, Order(verb="search", subject="used", json=True), Page(PLAIN, tmp_path))

    answer = parse_object(run_desk(tmp_path, {}, story, texts={"c.py": many}).output.encode())

    assert [item["range"]["start"]["line"] for item in answer["items"]] == list(range(450))
    assert (answer["nextCursor"], answer["completeness"]) == (None, "complete")


def test_unconfirmed_mentions_are_marked(tmp_path: Path) -> None:
    def answer(params: dict[str, Any]) -> list[Any]:
        return [at(tmp_path / "a.py", 0, 4, 8)] * params["context"]["includeDeclaration"]

    async def story(desk: Desk) -> Result:
        order = Order(verb="refs", subject=f"{tmp_path}/a.py:1:5", arguments={"includeUnconfirmed": True})
        return await run_verb(desk.service, order, Page(PLAIN, tmp_path))

    script = {"textDocument/references": answer, "textDocument/definition": at(tmp_path / "a.py", 0, 4, 8)}
    found = run_desk(tmp_path, script, story, texts=TEXTS)

    assert found.output.splitlines()[0] == "a.py:5:9: value = used() (unconfirmed)"
    assert found.status == "0 results; partial; 2 unconfirmed mentions; memory 1.0"


def test_an_engine_that_is_indexing_is_waited_for(tmp_path: Path) -> None:
    async def story(desk: Desk) -> tuple[Result, list[str]]:
        told: list[str] = []

        def progress(text: str) -> None:
            told.append(text)
            desk.engines.completeness = Completeness.COMPLETE

        desk.engines.completeness = Completeness.WARMING
        order = Order(verb="def", subject=f"{tmp_path}/a.py:5:9")
        return await run_verb(desk.service, order, Page(PLAIN, tmp_path), progress), told

    found, told = run_desk(tmp_path, script(tmp_path), story, texts=TEXTS)

    assert (found.status, told) == ("1 definition; complete; memory 1.0", ["memory is indexing"])


def test_an_engine_that_never_ends_is_taken_as_it_is(tmp_path: Path) -> None:
    async def story(desk: Desk) -> Result:
        desk.engines.completeness = Completeness.WARMING
        return await run_verb(
            desk.service, Order(verb="def", subject=f"{tmp_path}/a.py:5:9", wait_seconds=0), Page(PLAIN, tmp_path)
        )

    assert run_desk(tmp_path, script(tmp_path), story, texts=TEXTS).status == "1 definition; warming; memory 1.0"


def test_a_name_that_fits_several_symbols_lists_them(tmp_path: Path) -> None:
    two = [{"name": "used", "kind": 12, "location": at(tmp_path / name, 0, 0, 9)} for name in ("a.py", "b.py")]

    async def story(desk: Desk) -> Result:
        return await run_verb(desk.service, Order(verb="def", subject="used"), Page(PLAIN, tmp_path))

    found = run_desk(
        tmp_path, {**script(tmp_path), "workspace/symbol": two, "textDocument/documentSymbol": []}, story, texts=TEXTS
    )

    assert found.output.splitlines() == ["a.py:1:1: function used", "b.py:1:1: function used"]
    assert found.status.startswith("The name fits 2 symbols; call again with the uri and position of one; complete")


def test_an_outline_shows_files_and_their_symbols(tmp_path: Path) -> None:
    assert verb(tmp_path, "outline", f"{tmp_path}/a.py").output == "a.py\n  1 function used (1)"


@pytest.mark.parametrize(
    ("place", "code", "text"),
    [
        ("a.py:99:1", "NOT_FOUND", "{root}/a.py has 6 lines, counted from 1"),
        ("a.py:0:1", "NOT_FOUND", "{root}/a.py has 6 lines, counted from 1"),
        ("a.py:1:99", "NOT_FOUND", "line 1 of {root}/a.py has 11 characters, counted from 1"),
        ("a.py:1:0", "NOT_FOUND", "line 1 of {root}/a.py has 11 characters, counted from 1"),
        ("gone.py:1:1", "URI_INVALID", None),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_the_reason(
    tmp_path: Path, place: str, code: str, text: str | None
) -> None:
    with pytest.raises(Refused) as caught:
        verb(tmp_path, "def", f"{tmp_path}/{place}")

    assert caught.value.failure.code == code
    assert text is None or caught.value.failure.text == text.replace("{root}", str(tmp_path))
