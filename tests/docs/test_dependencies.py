"""Every dependency has its line, and every pin is a plain version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    groups += project["dependency-groups"].values()
    names = {re.split(r"[<>=\[ ]", each)[0] for group in groups for each in group}
    return names - {"strictwire"}


def test_every_dependency_says_why_it_is_there() -> None:
    page = (ROOT / "docs" / "DEPENDENCIES.md").read_text(encoding="utf-8")
    named = {name.strip() for row in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for name in row.split(",")}

    assert declared() - named == set()


def test_every_dependency_is_pinned_to_a_plain_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]

    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+", line)] == []
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins}
    assert {name.lower() for name in declared()} - pinned == set()
