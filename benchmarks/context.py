"""Context resolve: build, cold load, warm query, memory and scaling, each compared with a naive implementation.

    python -m benchmarks.context                                      # 100,000 documents of 740 bytes; a few minutes
    python -m benchmarks.context --documents 2000                     # a quick run
    python -m benchmarks.context --scaling docs/context-scaling.svg   # plot for 1,000 to 1,000,000 documents

Both implementations take turns, and medians count, because the machine may have other work; CPU time, including child
processes, is printed beside wall time. Files are created below TMPDIR. On ext4, avoid a file system with many recent
deletions: the allocator skips recently freed inodes, and both builds would mostly measure that. The exit code is 0 if all
goals are reached.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.plots import draw
from benchmarks.results import Plot
from strictwire.packs.context.build import Built, Order, build
from strictwire.packs.context.index import Index, IndexBuilder
from strictwire.packs.context.layout import Document
from strictwire.packs.context.library import Library, load_generation
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.select import select

SEED = 20260102
SIZE = 740
BUDGET = 4000
VOCABULARY = 30_000
RARE, SOME, TENTH = "planted-rare", "planted-some", "planted-tenth"
LINES = {RARE: "100 match", SOME: "1,000 match", TENTH: "a tenth matches", "": "scan of each document"}
"""Words that the scaling run inserts, and the title of each line; the empty word is the search without an index."""

ROUNDS = 15
ROUNDS_OF_SCAN = 3


class Writer:
    """Generates documents of 740 bytes with word frequencies like those of a language (Zipf-Mandelbrot, s = 1, q = 2.7)."""

    def __init__(self) -> None:
        self._random = random.Random(SEED)  # noqa: S311 - a fixed corpus, not a secret
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = ["".join(self._random.choices(letters, k=self._random.randint(2, 10))) for _ in range(VOCABULARY)]
        self._running = self._random.choices(words, [1 / (rank + 2.7) for rank in range(VOCABULARY)], k=2_000_000)

    def text(self, number: int) -> str:
        start = self._random.randrange(len(self._running) - 200)
        return f"# document {number}\n\n{' '.join(self._running[start : start + 200])}"[:SIZE]


def write_sources(folder: Path, count: int) -> Path:
    writer = Writer()
    for number in range(count):
        path = folder / f"part{number // 1000:04}" / f"{number:07}.md"
        if number % 1000 == 0:
            path.parent.mkdir(parents=True)
        path.write_text(writer.text(number))
    return folder


def timed(work: Callable[[], object]) -> tuple[float, object]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def processor_time(work: Callable[[], object]) -> float:
    """CPU seconds of this thread: a query in memory never waits, and other work on the machine does not count."""
    started = time.thread_time()
    work()
    return time.thread_time() - started


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall time and CPU time in seconds; CPU time includes finished child processes."""

    wall: float
    processor: float


def spent(work: Callable[[], object]) -> Spent:
    before = os.times()
    work()
    after = os.times()
    return Spent(after.elapsed - before.elapsed, sum(after[:4]) - sum(before[:4]))


def median(runs: Sequence[Spent]) -> Spent:
    return Spent(statistics.median(run.wall for run in runs), statistics.median(run.processor for run in runs))


def naive_build(sources: Path, cache: Path) -> None:
    """Write one document after another, each with its own fsync."""
    (cache / "documents").mkdir(parents=True)
    entries = []
    for path in sorted(sources.rglob("*.md")):
        content = path.read_text()
        version = "sha256:" + hashlib.sha256(content.encode()).hexdigest()
        name = path.relative_to(sources).as_posix()
        file = f"documents/{version[7:19]}.json"
        with (cache / file).open("w") as handle:
            json.dump({"id": name, "version": version, "source": name, "content": content, "metadata": {}}, handle)
            handle.flush()
            os.fsync(handle.fileno())
        entries.append({"id": name, "version": version, "file": file})
    (cache / "manifest.json").write_text(json.dumps({"documents": entries}, indent=2))


def naive_resolve(cache: Path, query: str, budget: int) -> bytes:
    """Read and parse every document; no hash is checked."""
    terms = set(query.lower().split())
    rows = []
    for entry in json.loads((cache / "manifest.json").read_text())["documents"]:
        document = json.loads((cache / entry["file"]).read_text())
        words = document["content"].lower().split()
        matches = sum(1 for word in words if word in terms)
        rows.append((-(matches / len(words)) if words else 0.0, document["id"], document["content"], matches))
    rows.sort()
    used, chosen = 0, []
    for score, name, content, matches in rows:
        tokens = -(-len(content.encode()) // 4)
        if used + tokens <= budget:
            used += tokens
            chosen.append({"id": name, "content": content, "score": -score, "term_matches": matches})
    return json.dumps(chosen).encode()


def pick_queries(index: Index) -> list[str]:
    """Queries of one, two, four and eight words, from frequent to rare."""
    by_frequency = sorted(index.postings, key=lambda word: (-len(list(index.occurrences(word))), word))
    at = [by_frequency[min(rank, len(by_frequency) - 1)] for rank in (20, 100, 300, 1000, 3000, 6000, 10_000, 20_000)]
    return [at[3], at[6], " ".join(at[4:6]), " ".join(at[2:6]), " ".join(at)]


def resolve_names(raw: bytes) -> list[str]:
    value = json.loads(raw)
    return [each["id"] for each in (value["documents"] if isinstance(value, dict) else value)]


def measure(count: int, folder: Path) -> None:
    sources = write_sources(folder / "sources", count)
    cache = folder / "cache"
    rebuild(sources, folder, measure_build(sources, folder))
    measure_cold(cache)
    library = Library(str(folder))
    measure_warm(library, cache)
    library.close()
    contents = count * SIZE
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.context", "--memory", str(cache)], capture_output=True, check=True
    )
    grown, peak = json.loads(child.stdout)
    report("memory", contents_mb=contents / 1e6, resident_times=grown / contents, peak_times=peak / contents)


def measure_build(sources: Path, folder: Path) -> Built:
    """Build with strictwire before and after the naive build, so that a drift of the machine affects both."""
    built: list[Built] = []

    def ours(name: str) -> Spent:
        os.sync()
        return spent(lambda: built.append(build(Order(sources=sources, output=folder / name), now=_now)))

    runs = [ours("before")]
    os.sync()
    plain = spent(lambda: naive_build(sources, folder / "naive"))
    runs.append(ours("cache"))
    own = median(runs)
    report(
        "build",
        one_fsync_a_document_s=plain.wall,
        ours_s=own.wall,
        times_faster=plain.wall / own.wall,
        processor_s=plain.processor,
        our_processor_s=own.processor,
    )
    return built[-1]


def measure_cold(cache: Path) -> None:
    runs = [
        (spent(lambda: naive_resolve(cache, "nothing", BUDGET)), spent(lambda: load_generation(cache))) for _ in range(5)
    ]
    plain, own = median([run for run, _ in runs]), median([run for _, run in runs])
    report(
        "cold load, everything verified",
        naive_resolve_s=plain.wall,
        ours_s=own.wall,
        ratio=statistics.median(ours.wall / naive.wall for naive, ours in runs),
        ratio_of_processor_time=statistics.median(ours.processor / naive.processor for naive, ours in runs),
    )


def measure_warm(library: Library, cache: Path) -> None:
    index = library.open("cache").index
    for query in pick_queries(index):
        slow, expected = timed(lambda query=query: naive_resolve(cache, query, BUDGET))
        warm = statistics.median(timed(lambda query=query: answer(library, query))[0] for _ in range(21))
        assert isinstance(expected, bytes)
        assert resolve_names(expected) == resolve_names(answer(library, query))
        matched = len({number for word in query.split() for number in index.occurrences(word)})
        report(
            "warm resolve",
            words=len(query.split()),
            matched=matched,
            documents=len(index),
            naive_s=slow,
            ours_ms=warm * 1000,
            times_faster=slow / warm,
        )


def rebuild(sources: Path, folder: Path, built: Built) -> None:
    (sources / "part0000" / "new.md").write_text("one more document")
    seconds, again = timed(
        lambda: build(Order(sources=sources, output=folder / "cache", force=True), now=_now, earlier=built)
    )
    assert isinstance(again, Built)
    report("build again, one file added", ours_s=seconds, reused=again.reused)


def answer(library: Library, query: str) -> bytes:
    index = library.open("cache").index
    return render_selection(index, select(index, query, BUDGET))


def memory(cache: Path) -> None:
    before = status("VmRSS")
    kept = load_generation(cache)
    print(json.dumps([status("VmRSS") - before, status("VmHWM") - before]))
    del kept


def status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise SystemExit("memory is measured on Linux")


def scaling(drawing: Path, counts: Sequence[int]) -> None:
    """The time of one warm query by the size of the cache and the number of matching documents."""
    lines: dict[str, list[tuple[float, float]]] = {line: [] for line in LINES.values()}
    for count in counts:
        index = planted(count)
        works = {word: partial(resolve, index, word) for word in LINES if word} | {"": partial(scan, index, RARE)}
        runs: dict[str, list[float]] = {word: [] for word in works}
        for turn in range(ROUNDS):
            for word, work in works.items():
                if word or turn < ROUNDS_OF_SCAN:
                    runs[word].append(processor_time(work))
        found = {LINES[word]: 1000 * statistics.median(times) for word, times in runs.items()}
        report("scaling", documents=count, **{f"{line}, ms": ms for line, ms in found.items()})
        for line, ms in found.items():
            lines[line].append((count, ms))
    plot = Plot(
        name=drawing.stem,
        title="One warm query of context.resolve, budget 4,000 tokens",
        across="documents in the cache",
        up="ms of one processor",
        lines=lines,
    )
    drawing.write_text(draw(plot))


def planted(count: int) -> Index:
    """An index of `count` documents in memory; loading from disk is measured elsewhere."""
    writer, builder = Writer(), IndexBuilder()
    every = {RARE: max(count // 100, 1), SOME: max(count // 1000, 1), TENTH: 10}
    for number in range(count):
        planted = [word for word, step in every.items() if number % step == 0]
        text = " ".join([writer.text(number), *planted])
        builder.add(Document(id=f"{number:07}.md", version="sha256:" + "0" * 64, source=f"{number:07}.md", content=text))
    return builder.finish()


def resolve(index: Index, query: str) -> bytes:
    return render_selection(index, select(index, query, BUDGET))


def scan(index: Index, query: str) -> int:
    """The minimum cost of a search without an index: one substring search per document."""
    wanted = query.encode()
    return sum(1 for number in range(len(index)) if wanted in index.store.head(number))


GOALS = {
    "build": ("times_faster", 10.0, None),
    "cold load, everything verified": ("ratio", None, 1.5),
    "warm resolve": ("times_faster", 1000.0, None),
    "memory": ("resident_times", None, 3.0),
}
"""The figure, lower bound and upper bound of each goal. Warm: queries that match at most a tenth of the documents."""

missed: list[str] = []


def check_goal(what: str, figures: dict[str, float]) -> None:
    name, least, most = GOALS.get(what, ("", None, None))
    if not name or figures.get("matched", 0) > figures.get("documents", 1) / 10:
        return
    if (least is not None and figures[name] < least) or (most is not None and figures[name] > most):
        missed.append(f"{what}: {name} is {figures[name]:.3f}")


def report(what: str, **figures: float) -> None:
    check_goal(what, figures)
    print(json.dumps({"what": what, **{name: round(value, 3) for name, value in figures.items()}}), flush=True)


def _now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--scaling", type=Path, help="run only the scaling benchmark and write its plot to this file")
    parser.add_argument("--largest", type=int, default=1_000_000, help="largest number of documents in the scaling run")
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory(options.memory)
    elif options.scaling:
        scaling(options.scaling, [10**power for power in range(3, 7) if 10**power <= options.largest])
    else:
        with tempfile.TemporaryDirectory() as name:
            measure(options.documents, Path(name))
    if missed:
        raise SystemExit("\n".join(["missed:", *missed]))


if __name__ == "__main__":
    main()
