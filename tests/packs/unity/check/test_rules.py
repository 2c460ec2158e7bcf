"""`unity check` finds every planted fault and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_faults import FAULTS, Plant
from tests.packs.unity.writer_random import random_project

from strictwire.check.finding import Finding
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.rule import Limits
from strictwire.packs.unity.check.rules import RULES
from strictwire.packs.unity.check.run import check_project
from strictwire.packs.unity.project.project import open_project
from strictwire.packs.unity.references.graph import scan_project

POLICY = CheckPolicy(limits=Limits(max_bytes=MappingProxyType({"*": 50_000})))


def check(root: Path, policy: CheckPolicy = POLICY) -> tuple[list[Finding], list[str]]:
    project = open_project(root)
    try:
        checked = check_project(scan_project(project), policy)
        return checked.findings, checked.notes
    finally:
        project.close()


def by_rule_and_file(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((each.rule, each.file) for each in findings)


@pytest.mark.parametrize("seed", range(12))
def test_a_project_without_faults_gives_no_finding(tmp_path: Path, seed: int) -> None:
    random_project(seed, odd=0.4).save(tmp_path)

    assert check(tmp_path) == ([], [])


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_nothing_else(tmp_path: Path, name: str) -> None:
    plant = Plant(ProjectBuilder(seed=5))
    FAULTS[name](plant)
    save_files(tmp_path, plant.finish())

    findings, notes = check(tmp_path)

    assert by_rule_and_file(findings) == plant.expected
    assert notes == []


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_any_mix_of_faults_is_found_in_a_random_project(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = Random(seed)
    plant = Plant(random_project(seed, odd=0.3, size=2))
    for name in rng.choices(list(FAULTS), k=6):
        # A second placeholder would be a duplicate as well.
        if name != "placeholder_guid" or ("GUID_GENERATED",) not in {key[:1] for key in plant.expected}:
            FAULTS[name](plant)
    root = save_files(tmp_path_factory.mktemp("project"), plant.finish())

    findings, notes = check(root)

    assert by_rule_and_file(findings) == plant.expected
    assert notes == []


def test_every_rule_that_can_be_planted_is_planted() -> None:
    planted: set[str] = set()
    for fault in FAULTS.values():
        plant = Plant(ProjectBuilder(seed=1))
        fault(plant)
        planted |= {rule for rule, _ in plant.expected}

    # The others need a file system that refuses, a broken package list, or are off by default; they have tests below.
    assert set(RULES) - planted == {"FILE_READABLE", "FOLDER_READABLE", "PACKAGES_READABLE", "REFERENCE_VERIFIABLE"}
