"""Random damage to any file that holds history is found. The seed is in the name of each test."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.repair import repair_trail
from tests.stores.files.tampering import ROTATE, active, build, notes_file, older
from tests.stores.files.test_tampering import find, start
from tests.stores.trails import trail_in

pytestmark = pytest.mark.slow

SEEDS = range(40)
CHANGES = 5
"""Changes for each seed, each to a fresh copy."""


def _flip(dice: random.Random, data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _remove(dice: random.Random, data: bytes, at: int) -> bytes:
    return data[:at] + data[at + dice.randrange(1, 2_000) :]


def _insert(dice: random.Random, data: bytes, at: int) -> bytes:
    return data[:at] + dice.randbytes(dice.randrange(1, 50)) + data[at:]


def _repeat(dice: random.Random, data: bytes, at: int) -> bytes:
    return data[: at + 1] + data[max(0, at - dice.randrange(1, 2_000)) :]


def _zero(dice: random.Random, data: bytes, at: int) -> bytes:
    count = min(dice.randrange(1, 600), len(data) - at)
    return data[:at] + bytes(count) + data[at + count :]


def _cut(_dice: random.Random, data: bytes, at: int) -> bytes:
    return data[:at]


CHANGE = (_flip, _remove, _insert, _repeat, _zero, _cut)


def _damage(dice: random.Random, trail: TrailConfig) -> str:
    """Change one file at random; says how."""
    path = dice.choice([*older(trail), active(trail), notes_file(trail)])
    data = path.read_bytes()
    at, change = dice.randrange(len(data)), dice.choice(CHANGE)
    path.write_bytes(change(dice, data, at))
    return f"{change.__name__} {path.name} at {at}"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_damage_is_found_never_signed_away_and_can_be_repaired(tmp_path: Path, seed: int):
    dice = random.Random(seed)
    trail = trail_in(tmp_path, rotate_bytes=ROTATE)
    build(trail)
    kept = {
        folder: shutil.copytree(folder, tmp_path / f"{folder.name}-kept") for folder in (trail.folder, trail.key_path.parent)
    }
    for _ in range(CHANGES):
        done = _damage(dice, trail)
        assert find(trail) is not None, done
        start(trail)
        assert find(trail) is not None, done
        assert repair_trail(trail, principal="alice", reason="test") is not None, done
        assert find(trail) is None, done
        for folder, copy in kept.items():
            shutil.rmtree(folder)
            shutil.copytree(copy, folder)
