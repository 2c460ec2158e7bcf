"""Schema files from repositories that make plain git run a program: reading them runs none."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from strictwire.sources.git import changed_files, read_git
from strictwire.sources.refused import SourceRefused
from tests.packs.workspace.hostile_git import HOSTILE, PLAIN, Hostile, program_in, start
from tests.sources.project import write_project

pytestmark = pytest.mark.slow

DIFF = ("diff", "--name-only", "HEAD", "--")


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: each.name)
def test_reading_a_hostile_repository_runs_nothing(tmp_path: Path, hostile: Hostile) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    schemas = write_project(root)
    start(root, program_in(tmp_path / "outside"), hostile)
    (root / "src" / "new.py").write_text("new = 1\n")
    for path in [*root.rglob("*.json"), *root.rglob("*.py")]:
        path.write_bytes(path.read_bytes() + b"\n")  # git has to compare what is in the files

    for read in (
        lambda: changed_files("HEAD", root),
        lambda: read_git("HEAD", schemas),
        lambda: read_git("HEAD", root / "a.json"),
    ):
        with suppress(SourceRefused):
            read()

    assert {path.name for path in (tmp_path / "outside").iterdir()} == {"run"}


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.x.clean", "filter.x=y.z.clean", "filter.x.process"])
def test_what_a_plain_diff_runs_reading_does_not(tmp_path: Path, setting: str) -> None:
    root, program = tmp_path / "root", program_in(tmp_path / "outside")
    write_project(root)
    name = setting.removeprefix("filter.").rpartition(".")[0]
    (root / ".gitattributes").write_text(f"*.json filter={name}\n")
    commands = (["init", "-q"], ["add", "-A"], ["commit", "-qm", "m"], ["config", setting, program])
    for command in commands:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@x", *command], cwd=root, env=PLAIN, check=True)
    (root / "schemas/tools/read.json").write_text("{ }\n")

    assert changed_files("HEAD", root) == {"schemas/tools/read.json"}
    assert not (tmp_path / "outside/ran").exists()
    subprocess.run(["git", *DIFF], cwd=root, env=PLAIN, check=False, capture_output=True)
    assert (tmp_path / "outside/ran").exists(), "so the test is about something"
