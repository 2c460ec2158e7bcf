"""The short run: one case of every kind that keeps its limits and is quick. `./scripts/abuse` is the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.abuse.__main__ import FINDINGS, report
from tests.abuse.arena import MAX_RESIDENT, Arena, Usage
from tests.abuse.suite import ATTACKS, Outcome, find_excess, run_case, short_kinds
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


@pytest.mark.parametrize(("attack", "kind"), short_kinds())
def test_an_attack_breaks_no_promise_and_no_limit(arena: Arena, attack: str, kind: str) -> None:
    """Answer times are limited loosely here, because the machine that runs the tests may be busy."""
    outcome = run_case(arena, attack, kind, SEED, max_seconds=PATIENCE)

    assert outcome.findings == (), str(outcome)


def test_kinds_of_the_long_run_are_kinds() -> None:
    assert [attack.name for attack in ATTACKS.values() if not attack.exceeding | attack.lengthy < set(attack.kinds)] == []


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


@pytest.mark.parametrize(("findings", "exit_code"), [((), 0), (("server: 301 MB resident",), FINDINGS)])
def test_a_finding_ends_the_long_run_with_its_own_exit_code(
    capsys: pytest.CaptureFixture[str], findings: tuple[str, ...], exit_code: int
) -> None:
    usage = {"server": Usage(resident=MAX_RESIDENT, seconds=0.5, answers=2, refusals=0)}
    outcome = Outcome(attack="http", kind="deep", seed=7, usage=usage, findings=findings)

    assert report([outcome]) == exit_code
    assert "server: at most 300 MB resident, another client answered within 0.50 s" in (shown := capsys.readouterr().out)
    assert ("repeat: ./scripts/abuse --only http.deep --seed 7 --cases 1" in shown) == bool(findings)
