"""The long run: random cases of every attack against servers that live as long as the run. See `--help`."""

from __future__ import annotations

import argparse
import fnmatch
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from random import Random

from tests.abuse.arena import MAX_RESIDENT, MAX_SECONDS, MEGABYTE, Arena
from tests.abuse.suite import Outcome, all_kinds, run_case

EXAMPLES = """examples:
  ./scripts/abuse --minutes 10                          every attack in random order for ten minutes
  ./scripts/abuse --only 'http.*'                       one attack, each kind once
  ./scripts/abuse --only http.deep --seed 42 --cases 1  repeat one case

exit codes: 0 every limit was kept, 100 findings, 2 wrong usage
"""
FINDINGS = 100


def main() -> int:
    options = _options()
    chosen = [each for each in all_kinds() if fnmatch.fnmatch(".".join(each), options.only)]
    if not chosen:
        names = ", ".join(".".join(each) for each in all_kinds())
        print(f"abuse: --only {options.only} matches nothing. Attacks: {names}", file=sys.stderr)
        return 2
    seed = options.seed if options.seed is not None else time.time_ns() % 10**6
    print(f"seed {seed}; limits: {MAX_RESIDENT // MEGABYTE} MB resident, {MAX_SECONDS:g} s for another client", flush=True)
    outcomes = run(chosen, seed, options.minutes * 60, options.cases or len(chosen))
    return report(outcomes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="abuse",
        description="Attacks a server, a guard and a workspace with generated input, and measures memory and answer times.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=0.0, metavar="N", help="duration (default: each kind once)")
    parser.add_argument("--cases", type=int, metavar="N", help="run at least this many cases")
    parser.add_argument("--seed", type=int, metavar="N", help="start with this seed; each case adds one")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="a shell pattern of kinds, such as http.deep")
    return parser.parse_args()


def run(chosen: list[tuple[str, str]], seed: int, seconds: float, cases: int) -> list[Outcome]:
    """Run rounds of all chosen kinds, each in another order. After a finding every process is replaced."""
    started, outcomes, order = time.monotonic(), [], Random(seed)
    arena = new_arena()
    try:
        while len(outcomes) < cases or time.monotonic() - started < seconds:
            if len(outcomes) % len(chosen) == 0:
                batch = order.sample(chosen, len(chosen)) if len(chosen) > 1 else chosen
            attack, kind = batch[len(outcomes) % len(chosen)]
            outcome = run_case(arena, attack, kind, seed + len(outcomes), max_seconds=MAX_SECONDS)
            outcomes.append(outcome)
            print(progress(outcome, time.monotonic() - started), flush=True)
            if outcome.findings:
                close(arena)
                arena = new_arena()
    finally:
        close(arena)
    return outcomes


def new_arena() -> Arena:
    return Arena(Path(tempfile.mkdtemp(prefix="strictwire-abuse-")))


def close(arena: Arena) -> None:
    arena.close()
    shutil.rmtree(arena.folder, ignore_errors=True)


def progress(outcome: Outcome, elapsed: float) -> str:
    """One line for a case."""
    used = ", ".join(
        f"{name} {each.resident // MEGABYTE} MB" + (f" {each.seconds * 1000:.0f} ms" if each.answers else "")
        for name, each in outcome.usage.items()
    )
    line = f"{elapsed:6.0f} s  {outcome.attack}.{outcome.kind}  seed {outcome.seed}  {used}"
    return "\n".join([line, *(f"          FOUND {each}" for each in outcome.findings)])


def report(outcomes: list[Outcome]) -> int:
    """Print the worst figures and every finding once. Returns the exit code."""
    worst: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for outcome in outcomes:
        for name, used in outcome.usage.items():
            resident, seconds = worst[name]
            worst[name] = (max(resident, used.resident), max(seconds, used.seconds))
    print(f"\n{len(outcomes)} cases")
    for name, (resident, seconds) in sorted(worst.items()):
        print(f"{name}: at most {resident // MEGABYTE} MB resident, another client answered within {seconds:.2f} s")
    found = {f"{each.attack}.{each.kind}": each for each in outcomes if each.findings}
    for name, each in sorted(found.items()):
        print(f"FOUND {each}\n      repeat: ./scripts/abuse --only {name} --seed {each.seed} --cases 1")
    return FINDINGS if found else 0


if __name__ == "__main__":
    sys.exit(main())
