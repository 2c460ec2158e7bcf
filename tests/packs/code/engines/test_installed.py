"""Finding engines: the binary behind a launcher, its version, and never a download."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from strictwire.packs.code.engines.installed import UNKNOWN, Installed, Programs
from strictwire.packs.code.engines.spec import EngineSpec

SPEC = EngineSpec(name="tool", languages=("python",), command=("tool", "serve"))


def program(path: Path, output: str = "tool 1.2.3 (linux)") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{output}'\necho run >> {path}.runs\n")
    path.chmod(0o755)
    return path


def find(spec: EngineSpec, *folders: Path) -> Installed | None:
    path = os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])
    return asyncio.run(Programs({"PATH": path}).find(spec))


def test_a_program_on_the_path_is_found_with_its_version(tmp_path: Path) -> None:
    found = program(tmp_path / "bin" / "tool")

    assert find(SPEC, tmp_path / "bin") == Installed(spec=SPEC, command=(str(found), "serve"), version="1.2.3")


def test_what_is_not_installed_is_none(tmp_path: Path) -> None:
    assert find(SPEC, tmp_path) is None


def test_a_relative_entry_of_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "tool")
    monkeypatch.chdir(tmp_path)

    assert find(SPEC, Path("bin")) is None


def test_the_binary_behind_a_launcher_is_run_itself(tmp_path: Path) -> None:
    program(tmp_path / "lib" / "node_modules" / "tool" / "bin" / "tool")
    native = program(tmp_path / "lib" / "node_modules" / "@tool" / "tool-linux-x64" / "lib" / "tool")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to("../lib/node_modules/tool/bin/tool")
    spec = EngineSpec(name="tool", languages=("python",), command=("tool",), natives=("../../@tool/tool-*/lib/tool",))
    found = find(spec, tmp_path / "bin")

    assert found is not None
    assert found.command == (str(native),)


def test_an_engine_that_is_too_old_counts_as_missing(tmp_path: Path) -> None:
    program(tmp_path / "tool", "Version 5.9.2")
    spec = EngineSpec(name="tool", languages=("python",), command=("tool",), min_major=7)
    too_old = find(spec, tmp_path)
    program(tmp_path / "tool", "Version 7.0.2")
    found = find(spec, tmp_path)

    assert (too_old, found and found.version) == (None, "7.0.2")


def test_a_version_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    program(tmp_path / "tool", "hello")
    found = find(SPEC, tmp_path)

    assert found is not None
    assert found.version == UNKNOWN


def test_the_version_may_come_from_another_program(tmp_path: Path) -> None:
    program(tmp_path / "tool", "9.9.9")
    program(tmp_path / "other", "other 2.0.1")
    spec = EngineSpec(name="tool", languages=("python",), command=("tool",), version=("other", "--version"))
    found = find(spec, tmp_path)

    assert found is not None
    assert found.version == "2.0.1"


def test_a_program_is_asked_for_its_version_once_until_it_changes(tmp_path: Path) -> None:
    tool = program(tmp_path / "tool", "1.0.0")

    async def scenario() -> list[str]:
        programs = Programs({"PATH": f"{tmp_path}:/usr/bin:/bin"})
        found = [await programs.find(SPEC), await programs.find(SPEC)]
        program(tool, "2.0.0")
        os.utime(tool, (1, 1))
        found.append(await programs.find(SPEC))
        return [each.version for each in found if each is not None]

    assert asyncio.run(scenario()) == ["1.0.0", "1.0.0", "2.0.0"]
    assert Path(f"{tool}.runs").read_text().count("run") == 2
