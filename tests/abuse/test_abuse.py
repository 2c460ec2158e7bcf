"""The short run: one case of every kind that keeps its limits. `./scripts/abuse` is the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.abuse.arena import MAX_RESIDENT, Arena, Usage
from tests.abuse.suite import ATTACKS, find_excess, kinds, run_case
from tests.fixtures.live import PATIENCE

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("ABUSE_SEED", "1"))
"""The same cases in every run of the test suite; `./scripts/abuse` takes new ones. A test that fails prints it."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    arena = Arena(tmp_path_factory.mktemp("abuse"))
    try:
        yield arena
    finally:
        arena.close()


@pytest.mark.parametrize(("attack", "kind"), kinds(with_exceeding=False))
def test_an_attack_breaks_no_promise_and_no_limit(arena: Arena, attack: str, kind: str) -> None:
    """Answer times are limited loosely here, because the machine that runs the tests may be busy."""
    outcome = run_case(arena, attack, kind, SEED, max_seconds=PATIENCE)

    assert outcome.findings == (), str(outcome)


def test_kinds_that_exceed_a_limit_are_kinds() -> None:
    assert [name for attack in ATTACKS.values() for name in attack.exceeding if name not in attack.kinds] == []


@pytest.mark.parametrize(
    ("used", "findings"),
    [
        (Usage(resident=MAX_RESIDENT, seconds=1.0, answers=2, refusals=0), 0),
        (Usage(resident=MAX_RESIDENT + 1, seconds=1.0, answers=2, refusals=0), 1),
        (Usage(resident=0, seconds=1.1, answers=2, refusals=0), 1),
        (Usage(resident=0, seconds=0.1, answers=2, refusals=1), 1),
    ],
)
def test_each_limit_is_checked(used: Usage, findings: int) -> None:
    assert len(find_excess("server", used, 1.0)) == findings
