"""`strictwire code engines`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.packs.code.engines.bench import spec_of
from tests.packs.code.scripted import ScriptedEngine
from tests.packs.code.test_files import write

from strictwire.packs.code.engine_report import run_engines
from strictwire.packs.code.engines.registry import EngineChoice
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.options import CodeOptions


def options(tmp_path: Path, *roots: str) -> CodeOptions:
    scripted = spec_of(ScriptedEngine(tmp_path / "engine"))
    missing = EngineSpec(name="absent", languages=("cpp",), command=("no-such-engine",), install="apt install absent")
    choice = EngineChoice(
        engines={"scripted": scripted, "absent": missing},
        languages={"python": "scripted", "cpp": "absent"},
        variables={"PATH": "/usr/bin:/bin"},
    )
    return CodeOptions(roots=tuple(tmp_path / root for root in roots), choice=choice)


def test_the_table_names_engines_versions_and_how_to_install_what_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "one", {"a.py": "", "b.c": "", "c.go": "", "d.txt": ""})

    assert asyncio.run(run_engines(options(tmp_path, "one"), json=False)).splitlines() == [
        "LANGUAGE  ENGINE    VERSION  STATE",
        "cpp       absent    -        missing      install: apt install absent",
        "go        none      -        syntax only",
        "python    scripted  1.2.3    installed",
    ]


def test_several_roots_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "one", {"a.py": ""})
    write(tmp_path / "two", {"a.py": ""})

    assert asyncio.run(run_engines(options(tmp_path, "one", "two"), json=False)).splitlines()[1:] == [
        "python    scripted  1.2.3    installed  one",
        "python    scripted  1.2.3    installed  two",
    ]


def test_json_has_the_same_facts(tmp_path: Path) -> None:
    root = write(tmp_path / "one", {"a.py": "", "b.c": ""})

    assert json.loads(asyncio.run(run_engines(options(tmp_path, "one"), json=True))) == [
        {
            "language": "cpp",
            "engine": "absent",
            "version": None,
            "state": "missing",
            "root": str(root),
            "install": "apt install absent",
        },
        {
            "language": "python",
            "engine": "scripted",
            "version": "1.2.3",
            "state": "installed",
            "root": str(root),
            "install": None,
        },
    ]


def test_a_root_without_source_files_says_so(tmp_path: Path) -> None:
    root = write(tmp_path / "one", {"a.txt": ""})

    assert asyncio.run(run_engines(options(tmp_path, "one"), json=False)) == f"no source files in the roots: {root}"
