"""`strictwire ci`: every check on the same tools, one report, one exit code; a check that did not run never passes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from strictwire.canon.json import parse, render
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Category
from strictwire.sources.verbs.ci import CiOptions, run_ci
from strictwire.sources.verbs.pin import PinOptions, run_pin
from strictwire.sources.verbs.result import Output
from tests.check.code_scanning import find_faults
from tests.sources.project import closed, commit_all, write, write_project

CHANGED = closed(path={"type": "string", "pattern": "^file:", "maxLength": 9})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path)
    commit_all(tmp_path, "v1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def steps(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("lint  ", "breaking  ", "pin  ", "source  "))]


def test_checks_without_a_base_or_a_lock_file_are_skipped_and_say_why(project: Path) -> None:
    result = run_ci(CiOptions())

    assert result.exit_code == 0
    assert steps(result.text) == [
        "lint      passed",
        "breaking  skipped: no base to compare with; name one with --base",
        "pin       skipped: there is no strictwire.lock; write it with `strictwire pin`",
    ]


def test_every_check_runs_and_one_exit_code_covers_all(project: Path) -> None:
    run_pin(PinOptions())
    clean = run_ci(CiOptions(base="v1"))
    write(project / "schemas" / "tools" / "read.json", CHANGED)
    changed = run_ci(CiOptions(base="v1", lint=LintPolicy(category=Category.STRICT)))

    assert (clean.exit_code, steps(clean.text)) == (0, ["lint      passed", "breaking  passed", "pin       passed"])
    assert (changed.exit_code, [line.split()[0] for line in steps(changed.text) if "finding" in line]) == (
        100,
        ["lint", "breaking", "pin"],
    )


def test_a_check_that_cannot_run_stops_no_other_and_the_exit_code_is_1(project: Path) -> None:
    run_pin(PinOptions())
    write(project / "schemas" / "tools" / "read.json", CHANGED)
    result = run_ci(CiOptions(base="no-such-ref"))

    assert result.exit_code == 1
    assert "breaking: git:no-such-ref:schemas" in result.error
    assert steps(result.text)[2] == "pin       1 finding"


def test_a_base_without_contracts_means_that_every_tool_is_new(project: Path) -> None:
    write(project / "more" / "tools" / "read.json", CHANGED)

    assert steps(run_ci(CiOptions(source="more", base="v1")).text)[1].startswith("breaking  skipped: git:v1:more")


def test_tools_that_are_not_files_are_compared_with_the_lock_file_of_the_base(project: Path) -> None:
    run_pin(PinOptions())
    commit_all(project, "pinned")
    dump = [{"name": "read", "description": "Reads.", "inputSchema": CHANGED}]
    write(project / "now.json", render(dump))
    same = run_ci(CiOptions(source=["now.json"], base="git:pinned:strictwire.lock"))

    assert [line.split()[0] for line in steps(same.text) if "finding" in line] == ["breaking", "pin"]


def test_one_run_writes_every_report_file(project: Path) -> None:
    run_pin(PinOptions())
    write(project / "schemas" / "tools" / "read.json", CHANGED)
    files = {name: f"out.{name}" for name in ("sarif", "junit", "codeclimate", "markdown", "json")}
    run_ci(CiOptions(base="v1", output=Output(output_format="github", files=files)))
    checks = ["lint", "breaking", "pin"]
    issues = parse((project / "out.codeclimate").read_bytes())

    sarif = (project / "out.sarif").read_text("utf-8")
    described = [
        rule["shortDescription"]["text"]
        for run in parse(sarif.encode())["runs"]  # type: ignore[index, call-overload]
        for rule in run["tool"]["driver"]["rules"]
    ]

    assert find_faults(sarif) == []
    assert all(each.startswith(("Checks that ", "Reports ")) for each in described)
    assert [each.get("name") for each in ET.parse(project / "out.junit").getroot()] == [f"strictwire {c}" for c in checks]
    assert [each["check"] for each in parse((project / "out.json").read_bytes())] == checks  # type: ignore[union-attr, index, call-overload]
    assert [line for line in (project / "out.markdown").read_text("utf-8").splitlines() if line.startswith("## ")] == [
        f"## strictwire {each}" for each in checks
    ]
    assert isinstance(issues, list)
    assert all({"description", "check_name", "fingerprint", "severity", "location"} <= each.keys() for each in issues)
    assert {each["severity"] for each in issues} <= {"info", "minor", "major", "critical", "blocker"}
