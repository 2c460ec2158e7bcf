"""The pre-commit hooks and the GitLab template: their commands, run on a real git project."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sources.project import closed, commit_all, write, write_project

ROOT = Path(__file__).parents[2]
CHANGED = closed(path={"type": "string", "pattern": "^file:", "maxLength": 9})
HOOK = re.compile(r"^- id: (?P<id>\S+)\n(?P<body>(?:  .*\n)*)", re.MULTILINE)


def hooks() -> dict[str, list[str]]:
    """The command of each hook about contracts."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = {each["id"]: re.search(r"^  entry: (.*)$", each["body"], re.MULTILINE) for each in HOOK.finditer(text)}
    return {name: shlex.split(found[1]) for name, found in entries.items() if found is not None and "unity" not in name}


def run(command: list[str], project: Path) -> int:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=project, env=env, capture_output=True, timeout=120, check=False).returncode


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path)
    run(["strictwire", "pin"], tmp_path)
    commit_all(tmp_path, "v1")
    return tmp_path


@pytest.mark.slow
def test_every_hook_passes_on_a_committed_project_and_finds_a_change(project: Path) -> None:
    before = {name: run(command, project) for name, command in hooks().items()}
    write(project / "schemas" / "tools" / "read.json", {**CHANGED, "properties": {"path": {"type": "nothing"}}})
    after = {name: run(command, project) for name, command in hooks().items()}

    assert before == dict.fromkeys(("strictwire-lint", "strictwire-ci", "strictwire-change-gate", "strictwire-pin"), 0)
    assert after == dict.fromkeys(before, 100)


def test_the_gitlab_template_writes_the_reports_that_it_names(project: Path) -> None:
    text = (ROOT / "templates" / "strictwire.yml").read_text("utf-8")
    script = re.search(r"^  script:\n    - (.*)$", text, re.MULTILINE)
    assert script is not None
    write(project / "schemas" / "tools" / "read.json", CHANGED)
    code = run(shlex.split(script[1].replace("$[[ inputs.source ]]", "schemas")), project)
    reports = re.findall(r"^      (?:codequality|junit): (.*)$", text, re.MULTILINE)

    assert (code, [(project / name).is_file() for name in reports]) == (100, [True, True])
