"""The steps of action.yml, run with bash as the action runs them. The install step needs a registry and is not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.check.code_scanning import find_faults
from tests.sources.project import closed, commit_all, write, write_project

ROOT = Path(__file__).parents[2]
STRICTWIRE = str(Path(sys.executable).with_name("strictwire"))
STEP = re.compile(r"^    - id: (?P<id>\w+)\n(?P<body>(?:      .*\n|\n)*)", re.MULTILINE)


def step(name: str) -> tuple[list[str], str]:
    """The names of the environment variables of a step, and its script."""
    bodies = {each["id"]: each["body"] for each in STEP.finditer((ROOT / "action.yml").read_text("utf-8"))}
    body = bodies[name]
    variables = re.findall(r"^        ([A-Z_]+): \$\{\{ (?:inputs|github)\.", body, re.MULTILINE)
    head, _, script = body.partition("      run: ")
    assert "shell: bash" in head
    return variables, script.removeprefix("|\n")


def run(name: str, project: Path, **values: str) -> tuple[int, str]:
    variables, script = step(name)
    assert values.keys() <= set(variables)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, **dict.fromkeys(variables, ""), **values}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=project, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path)
    commit_all(tmp_path, "v1")
    return tmp_path


def test_lint_breaking_and_pin_pass_on_an_unchanged_project_and_fail_on_a_changed_one(project: Path) -> None:
    subprocess.run([STRICTWIRE, "pin"], cwd=project, check=True, capture_output=True, timeout=60)
    before = [
        run("lint", project, SOURCE="schemas")[0],
        run("breaking", project, SOURCE="schemas", AGAINST="git:v1")[0],
        run("pin", project, SOURCE="schemas", LOCK="strictwire.lock")[0],
    ]
    write(project / "schemas" / "tools" / "read.json", closed(path={"type": "string", "pattern": "^file:", "maxLength": 9}))
    breaking = run("breaking", project, SOURCE="schemas", AGAINST="git:v1")
    pin = run("pin", project, SOURCE="schemas", LOCK="strictwire.lock")

    assert before == [0, 0, 0]
    assert (breaking[0], "::error file=schemas/tools/read.json" in breaking[1]) == (100, True)
    assert (pin[0], "title=PIN_INPUT" in pin[1]) == (100, True)


@pytest.mark.slow
def test_each_step_writes_a_summary_and_a_sarif_file_that_code_scanning_accepts(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project / "more" / "tools" / "list.json", {"type": "string"})
    subprocess.run([STRICTWIRE, "pin"], cwd=project, check=True, capture_output=True, timeout=60)
    write(project / "schemas" / "tools" / "read.json", closed(path={"type": "string", "maxLength": 9}))
    inputs = {"lint": {"SOURCE": "schemas\nmore\n"}, "breaking": {"AGAINST": "git:v1"}, "pin": {"LOCK": "strictwire.lock"}}
    for name, values in inputs.items():
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / f"{name}.md"))
        code, _ = run(name, project, **{"SOURCE": "schemas", "SARIF_DIR": "out", **values})

        assert (name, code) == (name, 100)
        assert (project / f"{name}.md").read_text("utf-8").startswith(f"## strictwire {name}\n")
        assert find_faults((project / "out" / f"{name}.sarif").read_text("utf-8")) == []


def test_a_server_is_checked_instead_of_a_folder(project: Path) -> None:
    server = f"{sys.executable} {ROOT / 'tests' / 'sources' / 'broken_server.py'} malformed-entry"
    code, text = run("lint", project, SOURCE="schemas", SERVER=server)

    assert (code, "title=ENTRY_WELL_FORMED" in text) == (100, True)


def test_every_check_runs_even_if_an_earlier_one_failed() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    conditions = {each["id"]: re.search(r"^      if: (.*)$", each["body"], re.MULTILINE) for each in STEP.finditer(text)}

    assert [name for name, found in conditions.items() if found is None] == ["install"]
    assert all(found is None or found[1].startswith("always() &&") for found in conditions.values())
