"""What the code pack costs on top of the bare engine, beside serena and cclsp on the same engine, in one run.

    python -m benchmarks.code

Django's sources (490,000 lines, `scripts/engines`), ty as the engine of all. Each contender is asked for symbols right after
its start, then for definitions, hovers and references: new places in a warm engine, then the same again. Calls of ours and
of the bare engine alternate, so that whatever else the machine does meets both. Exit code 1: a figure is missed.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.code_contenders import Bare, Cclsp, Ours, OursSynced, Place, Serena, install_peers, running
from benchmarks.code_wires import Failed, stopwatch
from benchmarks.peers import ROOT

SOURCES: Final = ROOT / ".venv-engines" / "sources" / "django-5.2.19"
TRUTH: Final = ROOT / "tests" / "packs" / "code" / "recall" / "django-5.2.19.txt"

STARTS: Final = 5
"""Cold starts; the median counts."""

REPEATS: Final = 20
"""The same call again."""

QUERIES: Final = (
    *("Model", "QuerySet", "get_field", "Widget", "Client"),
    *("render", "Migration", "Serializer", "Lookup", "Token"),
)
"""Symbols that are searched for in a warm engine, each once, besides the names of the 30 symbols."""

MAX_ADDED_MS: Final = 1.0
MAX_REPEATED_MS: Final = 1.0
MAX_SYMBOLS_RATIO: Final = 1.3
MAX_REFERENCE_BYTES: Final = 80
MAX_TOOLS_BYTES: Final = 10_000
MAX_MEMORY_RATIO: Final = 1.2
MAX_MEMORY_ADDED: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure to reach."""

    text: str
    found: float
    most: float
    unit: str

    @property
    def is_reached(self) -> bool:
        """Whether it is within its bound."""
        return self.found <= self.most


def read_places() -> tuple[list[Place], list[Place]]:
    """The declarations of 30 symbols, and places that use them."""
    declared: list[Place] = []
    used: list[Place] = []
    for line in TRUTH.read_text().splitlines():
        if line.startswith("["):
            name, _, where = line[1:].partition("] ")
            declared.append(_place(where, name))
        elif line and not line.startswith("#"):
            used.append(_place(line, declared[-1].name))
    return declared, used


def _place(text: str, name: str) -> Place:
    path, line, column = text.rsplit(":", 2)
    return Place(path=path, line=int(line) - 1, character=int(column) - 1, name=name)


def measure_cold(root: Path, scratch: Path) -> tuple[float, float]:
    """Milliseconds of the first symbol search right after the start, of the bare engine and of ours."""
    times: dict[Any, list[float]] = {Bare: [], Ours: []}
    for number in range(STARTS):
        for kind, found in times.items():
            with running(kind, root, scratch / f"cold-{number}") as contender, stopwatch(found):
                contender.symbols("Model")
    return statistics.median(times[Bare]), statistics.median(times[Ours])


def alternate(asks: Sequence[Callable[[Any], object]], arguments: Sequence[Any]) -> list[float]:
    """Medians of the same calls to each, in turn."""
    times: list[list[float]] = [[] for _ in asks]
    for argument in arguments:
        for ask, found in zip(asks, times, strict=True):
            with stopwatch(found):
                ask(argument)
    return [statistics.median(found) for found in times]


def measure(root: Path, scratch: Path) -> list[Figure]:
    """Ours against the bare engine."""
    declared, used = read_places()
    cold_bare, cold_ours = measure_cold(root, scratch)
    with running(Bare, root, scratch / "warm") as bare, running(Ours, root, scratch / "warm") as ours:
        for each in (bare, ours):
            each.symbols("Form")
            for place in declared:
                each.references(place)  # every file that names a symbol is known to the engine from here on
        queries = [*QUERIES, *(place.name for place in declared)]
        new_symbols = alternate((bare.symbols, ours.symbols), queries)
        symbols = alternate((bare.symbols, ours.symbols), QUERIES[:1] * REPEATS)
        definition = alternate((bare.definition, ours.definition), used)
        hover = alternate((bare.hover, ours.hover), used)
        repeated: list[float] = []
        text_bytes = items = 0
        for place in declared:
            size, count = ours.references(place)
            text_bytes, items = text_bytes + size, items + count
            for _ in range(REPEATS):
                with stopwatch(repeated):
                    ours.references(place)
        tools, memory, engine = ours.tools_bytes(), ours.memory(), bare.memory()
    with running(OursSynced, root, scratch / "synced") as synced:
        alternate((synced.references,), declared)
        (with_sync,) = alternate((synced.definition,), used)
    most = MAX_MEMORY_RATIO * sum(engine.values()) + MAX_MEMORY_ADDED
    print(f"definition p50: bare {definition[0]:.2f} ms, ours {definition[1]:.2f} ms")
    print(f"definition p50 with a disk sync of the audit trail in each call: {with_sync:.2f} ms")
    print(f"hover p50: bare {hover[0]:.2f} ms, ours {hover[1]:.2f} ms")
    print(f"workspace symbols cold: bare {cold_bare:.0f} ms, ours {cold_ours:.0f} ms (median of {STARTS} starts)")
    print(f"workspace symbols warm, the same query: bare {symbols[0]:.1f} ms, ours {symbols[1]:.1f} ms")
    print(f"workspace symbols warm, a new query: bare {new_symbols[0]:.1f} ms, ours {new_symbols[1]:.1f} ms")
    print(f"memory MB: bare {_parts(engine)}; ours {_parts(memory)}")
    added, ratio = MAX_ADDED_MS, MAX_SYMBOLS_RATIO
    return [
        Figure(text="definition, added to the bare engine", found=definition[1] - definition[0], most=added, unit="ms"),
        Figure(text="hover, added to the bare engine", found=hover[1] - hover[0], most=added, unit="ms"),
        Figure(text="references again, no change", found=statistics.median(repeated), most=MAX_REPEATED_MS, unit="ms"),
        Figure(text="workspace symbols cold, times bare ty", found=cold_ours / cold_bare, most=ratio, unit="x"),
        Figure(
            text="new workspace symbols warm, times bare ty", found=new_symbols[1] / new_symbols[0], most=ratio, unit="x"
        ),
        Figure(text="same workspace symbols warm, times bare ty", found=symbols[1] / symbols[0], most=ratio, unit="x"),
        Figure(text="text of one reference", found=text_bytes / items, most=MAX_REFERENCE_BYTES, unit="B"),
        Figure(text="all tools in tools/list", found=tools, most=MAX_TOOLS_BYTES, unit="B"),
        Figure(text="memory of server and engine", found=sum(memory.values()), most=most, unit="MB"),
    ]


def _parts(memory: dict[str, float]) -> str:
    return ", ".join(f"{name} {size:.0f}" for name, size in sorted(memory.items()))


def show_peers(root: Path, scratch: Path) -> None:
    """The same questions to every contender: the first references after the start, then warm medians."""
    declared, _ = read_places()
    columns = ("first refs", "refs", "definition", "symbols", "bytes/ref", "tools/list", "MB")
    print("\n" + " " * 12 + "".join(f"{column:>12}" for column in columns))
    for kind in (Bare, Ours, Serena, Cclsp):
        copy = scratch / f"root-{kind.__name__}"
        shutil.copytree(root, copy)  # serena writes its settings and its cache into the project
        with running(kind, copy, scratch / "peers") as contender:
            print(f"{contender.name:12}{_row(contender, declared)}", flush=True)
        shutil.rmtree(copy)


def _row(contender: Any, declared: list[Place]) -> str:
    times: dict[str, list[float]] = {name: [] for name in ("first", "references", "definition", "symbols")}
    with stopwatch(times["first"]):
        contender.references(declared[0])
    size = count = 0
    for place in declared[:10]:
        for name in ("references", "definition"):
            try:
                with stopwatch(times[name]):
                    found = getattr(contender, name)(place)
            except Failed:
                continue
            if name == "references":
                size, count = size + found[0], count + found[1]
    for query in QUERIES[:3]:
        with stopwatch(times["symbols"]):
            contender.symbols(query)
    median = {name: statistics.median(found) if found else float("nan") for name, found in times.items()}
    each = size / count if count else float("nan")
    milliseconds = "".join(f"{found:9.1f} ms" for found in median.values())
    return f"{milliseconds}{each:12.0f}{contender.tools_bytes():12}{sum(contender.memory().values()):12.0f}"


def main() -> int:
    """Run it all."""
    subprocess.run([ROOT / "scripts" / "engines"], check=True)
    install_peers()
    with tempfile.TemporaryDirectory(prefix="strictwire-code-") as folder:
        scratch = Path(folder).resolve()
        root = scratch / "django"
        shutil.copytree(SOURCES, root)
        figures = measure(root, scratch)
        print()
        for figure in figures:
            verdict = "reached" if figure.is_reached else "MISSED"
            print(f"{figure.text:42} {figure.found:9.2f} {figure.unit:3} at most {figure.most:9.2f}  {verdict}")
        show_peers(root, scratch)
    return 0 if all(figure.is_reached for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
