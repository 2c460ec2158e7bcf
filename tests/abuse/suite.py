"""Every attack, and how one case is run and judged against the limits."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tests.abuse import (
    clocks,
    forks,
    hashes,
    http_grammar,
    races,
    repositories,
    schemas,
    stdio_lines,
    tokens,
    trails,
    upstreams,
)
from tests.abuse.arena import MAX_RESIDENT, MEGABYTE, Arena, Attack, Usage

ATTACKS: Mapping[str, Attack] = {
    module.ATTACK.name: module.ATTACK
    for module in (
        http_grammar,
        stdio_lines,
        schemas,
        upstreams,
        trails,
        repositories,
        races,
        forks,
        clocks,
        tokens,
        hashes,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one case did."""

    attack: str
    kind: str
    seed: int
    usage: Mapping[str, Usage]
    findings: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.attack}.{self.kind} (seed {self.seed}): {'; '.join(self.findings)}"


def all_kinds() -> list[tuple[str, str]]:
    """Names of attack and kind."""
    return [(attack.name, kind) for attack in ATTACKS.values() for kind in attack.kinds]


def short_kinds() -> list[tuple[str, str]]:
    """Those that keep their limits and are quick."""
    return [(name, kind) for name, kind in all_kinds() if kind not in ATTACKS[name].exceeding | ATTACKS[name].lengthy]


def run_case(arena: Arena, attack: str, kind: str, seed: int, *, max_seconds: float) -> Outcome:
    """Generate a case and run it. The same seed generates the same case."""
    chosen = ATTACKS[attack]
    case = chosen.kinds[kind](Random(f"{seed} {attack} {kind}"))
    findings = []
    try:
        chosen.check(case, arena)
    except AssertionError as broken:
        findings.append(str(broken).split("\n", 1)[0][:300] or "a promise is broken")
    except (OSError, http.client.HTTPException) as broken:
        findings.append(f"a request was not answered: {type(broken).__name__}")
    usage = arena.take_usage()
    for name, used in usage.items():
        findings.extend(find_excess(name, used, max_seconds))
    return Outcome(attack=attack, kind=kind, seed=seed, usage=usage, findings=tuple(findings))


def find_excess(name: str, used: Usage, max_seconds: float) -> list[str]:
    """The limits that a process exceeded."""
    found = []
    if used.resident > MAX_RESIDENT:
        found.append(f"{name}: {used.resident // MEGABYTE} MB resident")
    if used.seconds > max_seconds:
        found.append(f"{name}: another client was answered after {used.seconds:.1f} s")
    if used.refusals:
        found.append(f"{name}: {used.refusals} of {used.answers} requests of another client were refused")
    return found
