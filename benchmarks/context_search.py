"""The figures of docs/CONTEXT.md about building and searching: real trees, budgets, many caches, cold and warm times.

    python -m benchmarks.context_search trees TREE...       build each tree with the default rules and print its report
    python -m benchmarks.context_search budgets CACHE...    1,000 random queries; every answer is counted again
    python -m benchmarks.context_search many                500 caches: cold and warm search, with a broken one
    python -m benchmarks.context_search opening             100,000 documents: indexing, opening and queries
    python -m benchmarks.context_search dense MODEL CACHE   embeddings of a cache, and warm queries with them

Times are CPU time unless they are called wall time. The exit code says whether every goal was reached.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.context import write_sources
from strictwire.canon.json import render
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.context.search.answers import MIN_BUDGET
from strictwire.packs.context.search.dense import SemanticSettings
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.indexing import index_cache, open_index, write_index
from strictwire.packs.context.search.ranking import rank, term_weights
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.semantic.model import EmbeddingModel
from strictwire.packs.context.search.semantic.ranker import SemanticRanker
from strictwire.packs.context.search.semantic.vector_store import VectorStore
from strictwire.packs.context.search.terms import parse_terms
from strictwire.packs.context.search.texts import TextReader
from strictwire.packs.context.search.token_counters import open_token_counter
from strictwire.packs.context.survey import SourceRules

SEED: Final = 20260102
QUERIES: Final = 1000
CACHES: Final = 500
OPENING_GOAL: Final = 0.2
"""Most CPU seconds to open an index over 100,000 documents."""

ANY: Final = SourceRules(strict=False, gitignore=True)
missed: list[str] = []


def report(**figures: Any) -> None:
    print(
        json.dumps({name: round(value, 5) if isinstance(value, float) else value for name, value in figures.items()}),
        flush=True,
    )


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.thread_time()
    result = run()
    return time.thread_time() - started, result


def make(sources: Path, output: Path) -> Any:
    order = Order(sources=sources, output=output, kinds=frozenset(KINDS), rules=ANY)
    return build(order, now=lambda: datetime.now(UTC))


def trees(sources: Sequence[Path]) -> None:
    for source in sources:
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            built = make(source, Path(folder) / "cache")
            seconds = time.perf_counter() - started
            broken = [violation.rule.id for violation in find_violations(Path(folder) / "cache")]
        made = built.report
        report(
            tree=source.name,
            documents=built.document_count,
            skipped=made.counts(),
            converted=dict(made.converted),
            ignored=made.ignored,
            other=sum(made.other.values()),
            complete=made.is_complete,
            violations=len(broken),
            wall_seconds=seconds,
        )
        if broken:
            missed.append(f"{source.name}: {broken[0]}")


def budgets(caches: Sequence[Path]) -> None:
    """Queries are random runs of words from the documents, budgets are random."""
    dice = random.Random(SEED)  # noqa: S311 - a fixed draw, not a secret
    counter = open_token_counter()
    paths = {path.name: path for path in caches}
    with tempfile.TemporaryDirectory() as folder:
        store = IndexStore(Path(folder), wait_seconds=3600)
        searcher = Searcher(counter, store)
        wrong = above = 0
        used = 0.0
        for query in _queries(paths, store, dice):
            budget = dice.randrange(MIN_BUDGET, 8000)
            answer: Any = searcher.search(Search(query=query, budget=budget), paths)
            sent = counter.count(render(answer.structured).decode()) + counter.count(answer.content[0]["text"])
            wrong += sent != answer.structured["selection"]["tokensUsed"]
            above += sent > budget
            used += sent / budget
        store.close()
    report(
        what="budgets", tokenizer=counter.name, queries=QUERIES, above=above, wrong_count=wrong, share_used=used / QUERIES
    )
    if wrong or above:
        missed.append("budgets")


def _queries(paths: Mapping[str, Path], store: IndexStore, dice: random.Random) -> list[str]:
    made = []
    texts, opened = TextReader(), store.open_all(paths.values())
    for _ in range(QUERIES):
        path = dice.choice(list(paths.values()))
        index: Any = opened[path]
        words = " ".join(texts.read(path, index.document(dice.randrange(index.documents))).lines).split() or ["nothing"]
        start = dice.randrange(len(words))
        made.append(" ".join(words[start : start + dice.randrange(1, 9)])[:4096])
    return made


def many() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {}
        for number in range(CACHES):
            sources = folder / "sources" / str(number)
            sources.mkdir(parents=True)
            for page in range(5):
                (sources / f"{page}.md").write_text(
                    f"# Page {page}\n\nneedle {number} common words of cache {number} and page {page}\n"
                )
            paths[f"cache{number:03}"] = folder / "root" / f"cache{number:03}"
            make(sources, paths[f"cache{number:03}"])
        (paths["cache123"] / "manifest.json").write_text("{}")
        search = Search(query="needle 499", budget=2000)
        for label in ("first", "after a restart", "warm"):
            if label != "warm":
                store = IndexStore(folder / "state", wait_seconds=3600)
                searcher = Searcher(open_token_counter(), store)
            started, before = time.perf_counter(), time.process_time()
            answer: Any = searcher.search(search, paths)
            seconds = time.process_time() - before
            selection = answer.structured["selection"]
            report(
                what=f"{CACHES} caches, {label}",
                cpu_seconds=seconds,
                wall_seconds=time.perf_counter() - started,
                searched=selection["cachesSearched"],
                skipped=selection.get("skipped", []),
                best=answer.structured["passages"][0]["cache"],
            )
            if selection["cachesSearched"] != CACHES - 1 or answer.structured["passages"][0]["cache"] != "cache499":
                missed.append("many caches")
            if label == "first":
                store.close()
        store.close()


def opening(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = folder / "cache"
        make(write_sources(folder / "sources", count), cache)
        shutil.rmtree(folder / "sources")
        indexing, raw = cpu(lambda: index_cache(cache))
        write_index(folder / "one.idx", raw)
        opened = [cpu(lambda: open_index(folder / "one.idx"))[0] for _ in range(5)]
        index = open_index(folder / "one.idx")
        again, same = cpu(lambda: index_cache(cache, index) == raw)
        dice = random.Random(SEED)  # noqa: S311 - a fixed draw, not a secret
        queries = [" ".join(index.term(dice.randrange(index.terms)) for _ in range(3)) for _ in range(20)]
        times = [
            cpu(lambda query=query: rank(term_weights(parse_terms(query), [index]), {"c": index}, 100))[0]
            for query in queries
        ]
        report(
            what="opening",
            documents=index.documents,
            index_megabytes=len(raw) / 1e6,
            indexing_seconds=indexing,
            unchanged_again_seconds=again,
            same_bytes=same,
            open_seconds=max(opened),
            query_seconds=statistics.median(times),
        )
        if max(opened) > OPENING_GOAL or not same:
            missed.append("opening")


def dense(folder: Path, cache: Path) -> None:
    """The first ranking waits for all embeddings; the others are warm. CPU time of all threads."""
    with tempfile.TemporaryDirectory() as state:
        store = IndexStore(Path(state), wait_seconds=3600)
        index: Any = store.open_all([cache])[cache]
        model = EmbeddingModel(SemanticSettings(folder=folder))
        ranker = SemanticRanker(model, VectorStore(Path(state), model, wait_seconds=36_000))
        searcher = Searcher(open_token_counter(), store, ranker)
        queries = _queries({"cache": cache}, store, random.Random(SEED))[:100]  # noqa: S311 - a fixed draw, not a secret
        times = []
        for query in ("first", *queries):
            before = time.process_time()
            searcher.rank(query, {"cache": cache})
            times.append(time.process_time() - before)
        ranker.close()
        store.close()
    report(
        what="dense",
        passages=index.passages,
        dimensions=model.dimensions,
        passages_per_second=index.passages / times[0],
        query_seconds=statistics.median(times[1:]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("part", choices=("trees", "budgets", "many", "opening", "dense"))
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "trees": lambda: trees(options.paths),
        "budgets": lambda: budgets(options.paths),
        "many": many,
        "opening": lambda: opening(options.documents),
        "dense": lambda: dense(*options.paths),
    }
    parts[options.part]()
    if missed:
        raise SystemExit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
