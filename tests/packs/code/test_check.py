"""References against the word index: what is missing is noticed, and what is only similar is told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.test_files import write

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code import check as check_module
from strictwire.packs.code.check import WordCheck
from strictwire.packs.code.engine import Checked, Completeness, EngineTimeout, MentionKind, Reply, Span
from strictwire.packs.code.files import Files
from strictwire.packs.code.lines import MAX_TEXT
from strictwire.packs.code.memory import IDENTITY, MemoryEngines
from strictwire.packs.code.uri import render_file_uri
from strictwire.packs.code.words import Words
from strictwire.packs.kit.watch import Watch

PATIENCE = 60.0

LIB = "def name():\n    return 1\n"
"""`name` is declared at lib.py 0:4."""

Places = Mapping[tuple[str, int, int], list[tuple[str, int, int]]]
"""File, line and character of a mention to the places where its definition is."""


class World:
    """A root, and an engine whose definitions are a table: a place that is not in it has none."""

    def __init__(self, root: Path, files: dict[str, str], definitions: Places) -> None:
        self.root = write(root, {"lib.py": LIB} | files)
        self._definitions = definitions
        self.engines = MemoryEngines({"textDocument/definition": self._define})

    def span(self, file: str, line: int, character: int, length: int = 4) -> Span:
        return Span(path=self.root / file, line=line, character=character, end=character + length)

    def check(self, *found: Span, completeness: Completeness = Completeness.COMPLETE, seconds: float = PATIENCE) -> Checked:
        at = self.span("lib.py", 0, 4)
        reply = Reply(value=None, engine=IDENTITY, completeness=completeness)
        watch = Watch()
        files = Files((self.root,), watch)
        files.refresh()

        async def run() -> Checked:
            return await WordCheck(self.engines, Words(files)).check("name", at, (at, *found), reply, seconds=seconds)

        try:
            return asyncio.run(run())
        finally:
            watch.close()

    def left(self, *found: Span) -> tuple[Completeness, list[tuple[str, int, int]]]:
        checked = self.check(*found)
        return checked.completeness, [(each.path.name, each.line, each.character) for each in checked.unconfirmed]

    def _define(self, params: JsonObject) -> JsonValue:
        path = Path(params["textDocument"]["uri"].removeprefix("file://"))
        here = (path.name, params["position"]["line"], params["position"]["character"])
        return [self._location(*place) for place in self._definitions.get(here, [])]

    def _location(self, file: str, line: int, character: int) -> dict[str, Any]:
        place = {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 4}}
        return {"uri": render_file_uri(self.root / file), "range": place}


def test_every_mention_confirmed_is_complete(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": "from lib import name\nname()\n"}, {})

    assert world.left(world.span("use.py", 0, 16), world.span("use.py", 1, 0)) == (Completeness.COMPLETE, [])


def test_a_mention_that_the_engine_did_not_return_makes_the_answer_partial(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": "from lib import name\nname()\nx.name\n"}, {})

    assert world.left(world.span("use.py", 0, 16)) == (Completeness.PARTIAL, [("use.py", 1, 0), ("use.py", 2, 2)])


def test_a_mention_that_leads_to_another_symbol_is_not_missing(tmp_path: Path) -> None:
    other = "class Other:\n    name = 1\n\nOther().name\n"
    definitions = {("other.py", 1, 4): [("other.py", 1, 4)], ("other.py", 3, 8): [("other.py", 1, 4)]}

    assert World(tmp_path, {"other.py": other}, definitions).left() == (Completeness.COMPLETE, [])


def test_a_mention_that_leads_to_the_symbol_is_missing_even_if_the_engine_knows_better(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": "name()\n"}, {("use.py", 0, 0): [("lib.py", 0, 4)]})

    assert world.left() == (Completeness.PARTIAL, [("use.py", 0, 0)])


def test_a_target_with_another_name_settles_nothing(tmp_path: Path) -> None:
    """For an attribute that it cannot resolve, basedpyright returns the definition of the call around it."""
    world = World(tmp_path, {"use.py": "check(x.name)\ndef check(): pass\n"}, {("use.py", 0, 8): [("use.py", 1, 4)]})

    assert world.left() == (Completeness.PARTIAL, [("use.py", 0, 8)])


def test_one_of_several_targets_is_enough(tmp_path: Path) -> None:
    definitions = {("use.py", 0, 2): [("other.py", 0, 0), ("lib.py", 0, 4)], ("other.py", 0, 0): [("other.py", 0, 0)]}
    world = World(tmp_path, {"use.py": "x.name\n", "other.py": "name = 1\n"}, definitions)

    assert world.left() == (Completeness.PARTIAL, [("use.py", 0, 2)])


@pytest.mark.parametrize("target", [[], [("use.py", 0, 20)]], ids=["nowhere", "itself"])
def test_an_import_that_the_engine_could_not_follow_may_be_ours(tmp_path: Path, target: list[tuple[str, int, int]]) -> None:
    """Engines answer for an unresolved import with nothing, or with the import itself; its uses lead there as well."""
    definitions = {("use.py", 0, 20): target, ("use.py", 1, 0): target}
    world = World(tmp_path, {"use.py": "from pkg.lib import name\nname()\n"}, definitions)

    assert world.left() == (Completeness.PARTIAL, [("use.py", 0, 20), ("use.py", 1, 0)])


def test_prose_is_not_missing_and_strings_that_name_something_are(tmp_path: Path) -> None:
    text = '"""The name."""\n# name\nprint("a name here")\ngetattr(lib, "name")\npatch("lib.name")\n'
    checked = World(tmp_path, {"use.py": text, "notes.md": "name"}, {}).check()

    assert [(each.line, each.character, each.kind) for each in checked.unconfirmed] == [
        (3, 14, MentionKind.STRING),
        (4, 11, MentionKind.STRING),
    ]
    assert checked.completeness is Completeness.PARTIAL


def test_a_reference_may_cover_more_than_the_word(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": '__all__ = ["name"]\nlib.name\n'}, {})

    assert world.left(world.span("use.py", 0, 11, 6), world.span("use.py", 1, 0, 8)) == (Completeness.COMPLETE, [])


def test_uses_under_another_name_are_found(tmp_path: Path) -> None:
    text = "from lib import (\n    name as alias,\n)\nalias()  # alias\nother.alias\n"
    world = World(tmp_path, {"use.py": text}, {})

    assert world.left(world.span("use.py", 1, 4)) == (
        Completeness.PARTIAL,
        [("use.py", 1, 12), ("use.py", 3, 0), ("use.py", 4, 6)],
    )


@pytest.mark.parametrize("said", [Completeness.WARMING, Completeness.PARTIAL])
def test_an_engine_that_is_not_ready_is_never_complete(tmp_path: Path, said: Completeness) -> None:
    assert World(tmp_path, {}, {}).check(completeness=said) == Checked(completeness=said, unconfirmed=())


def test_a_source_file_that_is_not_indexed_is_never_complete(tmp_path: Path) -> None:
    world = World(tmp_path, {}, {})
    (tmp_path / "large.py").write_bytes(b"#" * (MAX_TEXT + 1))

    assert world.check() == Checked(completeness=Completeness.PARTIAL, unconfirmed=(), capped=True)


def test_what_is_beyond_the_limits_stays_unconfirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "MAX_RESOLVED", 2)
    files = {f"o{number}.py": "name = 1\n" for number in range(3)}
    world = World(tmp_path, files, {(name, 0, 0): [(name, 0, 0)] for name in files})

    assert world.left() == (Completeness.PARTIAL, [("o2.py", 0, 0)])
    assert len(world.engines.asked) == 2


def test_other_languages_are_not_looked_at(tmp_path: Path) -> None:
    assert World(tmp_path, {"use.ts": "name()\n"}, {}).left() == (Completeness.COMPLETE, [])


def test_a_check_that_takes_too_long_is_a_timeout(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": "name()\n"}, {})
    with pytest.raises(EngineTimeout):
        world.check(seconds=0)


def test_the_same_question_gives_the_same_answer_and_an_edit_another(tmp_path: Path) -> None:
    world = World(tmp_path, {"use.py": "name()\n"}, {})
    first, second = world.check(), world.check()
    write(tmp_path, {"use.py": "other()\n"})

    assert (first == second, world.check()) == (True, Checked(completeness=Completeness.COMPLETE, unconfirmed=()))
