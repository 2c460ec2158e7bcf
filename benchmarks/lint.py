"""The time of lint relative to decoding and compiling, of `breaking` relative to `lint`, and of `strictwire lint --help`.

Run: python -m benchmarks.lint. Prints ratios and exits with 1 if one exceeds its bound. Both sides of a ratio take turns,
and the best turn counts: other work on the machine makes turns slower, never faster.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strictwire.canon.json import Limits, parse, render
from strictwire.check.engine import lint, select_rules
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Category
from strictwire.check.rulesets import RULESETS
from strictwire.contract import conform
from strictwire.contract.conform import compile_schema
from strictwire.sources.dump import parse_dump

TOOLS = 1_000
TURNS = 5
LINT_BOUND = 5.0
HELP_BOUND = 4.0
BREAKING_BOUND = 5.0
RULESET = RULESETS["2026.11"]


def tool(number: int) -> dict[str, object]:
    """A tool of typical size. Every schema is different, so that the cache of compiled schemas is never used."""
    words = {"type": "string", "minLength": 1, "maxLength": 512, "description": f"What to look for in set {number}."}
    position = {"line": {"type": "integer", "minimum": 0}, "character": {"type": "integer", "minimum": 0}}
    arguments = {
        "query": words,
        "kind": {"type": "string", "enum": ["a", "b", f"k{number}"], "description": "Which kind."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many."},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 20},
        "at": closed(position, ["line", "character"]),
    }
    item = closed({"name": {"type": "string"}, "score": {"type": "number"}}, ["name"])
    result = {"items": {"type": "array", "maxItems": 200, "items": item}, "total": {"type": "integer", "minimum": number}}
    return {
        "name": f"tool_{number}",
        "description": f"Finds things of set {number} and returns a page of them.",
        "inputSchema": closed(arguments, ["query"]),
        "outputSchema": closed(result, ["items"]),
        "annotations": {"readOnlyHint": True},
    }


def closed(properties: dict[str, object], required: list[str]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def changed(number: int) -> dict[str, Any]:
    """The same tool with one of four changes."""
    made: dict[str, Any] = tool(number)
    properties = made["inputSchema"]["properties"]
    if number % 4 == 0:
        properties["limit"]["maximum"] = 100
    elif number % 4 == 1:
        properties["kind"]["enum"].pop()
    elif number % 4 == 2:
        del properties["tags"]
    else:
        made["outputSchema"]["properties"]["items"]["items"]["properties"]["more"] = {"type": "string"}
    return made


RAW = render({"tools": [tool(number) for number in range(TOOLS)]})


def decode_and_compile() -> None:
    listed = parse(RAW, Limits(size=1 << 26))
    for entry in listed["tools"]:  # type: ignore[index, call-overload]
        compile_schema(entry["inputSchema"])
        compile_schema(entry["outputSchema"])


def lint_all(category: Category) -> None:
    policy = LintPolicy(category=category)
    lint(parse_dump(RAW, "tools.json"), select_rules(RULES, RULESET, policy), policy, version=RULESET.version)


def seconds(work: Callable[[], object]) -> float:
    conform._compile.cache_clear()  # noqa: SLF001 - compilation is measured, so it must not come from the cache
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    turns = [{name: seconds(work) for name, work in works.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) for name in works}


def compare_commands() -> dict[str, float]:
    """The best times of the two commands on 1,000 tools, all of which changed."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.json", Path(folder) / "new.json"
        old.write_bytes(RAW)
        new.write_bytes(render({"tools": [changed(number) for number in range(TOOLS)]}))
        command = str(Path(sys.executable).with_name("strictwire"))
        breaking = run(command, "breaking", str(new), "--against", str(old), codes=(0, 100))
        return best({"lint": run(command, "lint", str(new), codes=(0, 100)), "breaking": breaking})


def run(*arguments: str, codes: tuple[int, ...] = (0,)) -> Callable[[], object]:
    def work() -> None:
        done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, cwd=tempfile.gettempdir())
        if done.returncode not in codes:
            raise RuntimeError(done.stderr.decode())

    return work


def main() -> int:
    found = best(
        {
            "decode and compile": decode_and_compile,
            "lint STANDARD": lambda: lint_all(Category.STANDARD),
            "lint STRICT": lambda: lint_all(Category.STRICT),
        }
    )
    base = found["decode and compile"]
    print(f"{TOOLS:,} tools, {len(RAW):,} bytes: decode and compile {base * 1000:.0f} ms")
    ratios = [(name, taken / base, LINT_BOUND) for name, taken in found.items() if name != "decode and compile"]
    starts = best(
        {
            "import json": run("-c", "import json"),
            "lint --help": run(str(Path(sys.executable).with_name("strictwire")), "lint", "--help"),
        }
    )
    ratios.append(("lint --help", starts["lint --help"] / starts["import json"], HELP_BOUND))
    commands = compare_commands()
    ratios.append(("breaking over lint", commands["breaking"] / commands["lint"], BREAKING_BOUND))
    for name, ratio, bound in ratios:
        print(f"{name}: {ratio:.2f} times (bound {bound:g})")
    return int(any(ratio > bound for _, ratio, bound in ratios))


if __name__ == "__main__":
    sys.exit(main())
