"""context.search compared with bm25s at its best window size on four tasks.

The tasks are in `context_tasks`. bm25s indexes windows of lines; a document has the score of its best window. Of all
window sizes the one with the highest result counts, separately for each task. The measure is nDCG@10; confidence
intervals come from a paired bootstrap with a fixed seed.

    python -m benchmarks.context_ranking                         # all tasks, by words
    python -m benchmarks.context_ranking --semantic-model DIR    # all tasks, also with dense retrieval

`docstrings` and `sections` use queries that no variant of the ranking was measured on; the other tasks have no others.
The last lines are a Markdown table of the results. The exit code is 0 if the lead by words is above zero on every task.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.context_tasks import SEED, TASKS, Task
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.library import load_generation
from strictwire.packs.context.search.dense import DenseRanker, SemanticSettings
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.searcher import Searcher
from strictwire.packs.context.search.semantic.model import EmbeddingModel
from strictwire.packs.context.search.semantic.ranker import SemanticRanker
from strictwire.packs.context.search.semantic.vector_store import VectorStore
from strictwire.packs.context.search.token_counters import ByteCounter
from strictwire.packs.context.select import select
from strictwire.packs.context.survey import SourceRules

DEPTH: Final = 10
RESAMPLES: Final = 2000
USED: Final = 600
"""Queries of each task with which variants of the ranking were compared."""

HELD_OUT: Final = frozenset({"docstrings", "sections"})
"""Tasks that have enough other queries."""

WINDOWS: Final = (5, 10, 20, 40, 80, 160, 1_000_000)
"""Lines of a window of bm25s; the last one takes whole documents."""

WORD: Final = re.compile(r"(?u)\b\w\w+\b")

SEARCH: Final = "context.search"
HYBRID: Final = "context.search with dense retrieval"

Rank = Callable[[str], Sequence[str]]


def rank_with_search(cache: Path, state: Path, dense: DenseRanker | None = None) -> Rank:
    searcher = Searcher(ByteCounter(), IndexStore(state, wait_seconds=3600), dense)

    def rank(query: str) -> list[str]:
        found, _ = searcher.rank(query, {"cache": cache})
        return list(dict.fromkeys(each.id for each in found))[:DEPTH]

    return rank


def rank_with_hybrid(cache: Path, state: Path, folder: Path) -> Rank:
    """Embeddings are computed by the first query, and stored."""
    model = EmbeddingModel(SemanticSettings(folder=folder))
    return rank_with_search(cache, state, SemanticRanker(model, VectorStore(state, model, wait_seconds=36_000)))


def rank_with_v0(cache: Path) -> Rank:
    index = load_generation(cache).index

    # The budget is enough for ten documents of any size, so that the first ten picks are the top ten of the ranking.
    budget = DEPTH * max(index.tokens)

    def rank(query: str) -> list[str]:
        return [index.document(pick.number)["id"] for pick in select(index, query, budget).picks[:DEPTH]]

    return rank


def rank_with_bm25s(task: Task, lines: int) -> Rank:
    names, texts = [], []
    for path, text in task.documents.items():
        for window in windows(text, lines):
            names.append(path)
            texts.append(f"{path}\n{window}")
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    depth = min(len(texts), 10 * DEPTH)

    def rank(query: str) -> list[str]:
        found, _ = retriever.retrieve(bm25s.tokenize(query, show_progress=False), k=depth, show_progress=False)
        return list(dict.fromkeys(names[number] for number in found[0]))[:DEPTH]

    return rank


def windows(text: str, lines: int) -> Iterator[str]:
    whole = text.split("\n")
    for at in range(0, len(whole), lines):
        yield "\n".join(whole[at : at + lines])


def rank_with_rank_bm25(task: Task) -> Rank:
    names = list(task.documents)
    model = BM25Okapi([WORD.findall(f"{path}\n{text}".lower()) for path, text in task.documents.items()])

    def rank(query: str) -> list[str]:
        scores = model.get_scores(WORD.findall(query.lower()))
        return [names[number] for number in np.argsort(-scores, kind="stable")[:DEPTH]]

    return rank


def gains(rank: Rank, queries: Sequence[tuple[str, frozenset[str]]]) -> np.ndarray:
    """Return nDCG@10 of each query; every relevant document counts the same."""
    found = np.zeros(len(queries))
    for number, (query, relevant) in enumerate(queries):
        hits = [1 / np.log2(place + 2) for place, path in enumerate(rank(query)) if path in relevant]
        ideal = sum(1 / np.log2(place + 2) for place in range(min(len(relevant), DEPTH)))
        found[number] = sum(hits) / ideal
    return found


def interval(values: np.ndarray) -> tuple[float, float]:
    draws = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)


def write_cache(documents: Mapping[str, str], folder: Path) -> Path:
    for name, text in documents.items():
        path = folder / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    order = Order(
        sources=folder / "sources", output=folder / "cache", kinds=frozenset(KINDS), rules=SourceRules(strict=False)
    )
    build(order, now=lambda: datetime.now(UTC))
    return folder / "cache"


def measure(task: Task, folder: Path, *, others: bool, model: Path | None = None) -> dict[str, np.ndarray]:
    """Print and return the result of each ranking."""
    cache = write_cache(task.documents, folder)
    rankings: dict[str, Callable[[], Rank]] = {
        SEARCH: lambda: rank_with_search(cache, folder / "state"),
        **{f"bm25s/{_name(lines)}": lambda lines=lines: rank_with_bm25s(task, lines) for lines in WINDOWS},
    }
    if others:
        rankings |= {"rank-bm25": lambda: rank_with_rank_bm25(task), "v0": lambda: rank_with_v0(cache)}
    if model is not None:
        rankings[HYBRID] = lambda: rank_with_hybrid(cache, folder / "state", model)
    scores: dict[str, np.ndarray] = {}
    for label, make in rankings.items():
        rank = make()
        rank(task.queries[0][0])
        started = time.perf_counter()
        scores[label] = gains(rank, task.queries)
        row = {"ranking": label, "ndcg@10": round(float(scores[label].mean()), 4), "interval": interval(scores[label])}
        print(json.dumps({**row, "ms_a_query": _milliseconds(started, task)}), flush=True)
    return scores


def _name(lines: int) -> str:
    return "whole" if lines == WINDOWS[-1] else str(lines)


def _milliseconds(started: float, task: Task) -> float:
    return round(1000 * (time.perf_counter() - started) / len(task.queries), 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """How far a ranking is ahead of another one on a task: the mean of the differences and its interval."""

    task: Task
    ranking: str
    result: float
    other: str
    other_result: float
    mean: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        return self.low > 0

    def row(self) -> str:
        verdict = "yes" if self.is_significant else "**no**"
        lead = f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"
        counts = f"{len(self.task.documents):,} | {len(self.task.queries)}"
        results = f"{self.ranking} | {self.result:.3f} | {self.other} | {self.other_result:.3f}"
        return f"| {self.task.name} | {counts} | {results} | {lead} | {verdict} |"


HEADER: Final = (
    "| task | documents | queries | ranking | nDCG@10 | compared with | nDCG@10 | lead | above zero |\n" + "|---" * 9 + "|"
)


def find_leads(task: Task, scores: Mapping[str, np.ndarray]) -> list[Lead]:
    """Return the leads over bm25s at its best window size and over the other rankings that were measured."""
    best = max((label for label in scores if label.startswith("bm25s")), key=lambda label: scores[label].mean())
    pairs = [(SEARCH, best), (HYBRID, best), (HYBRID, SEARCH), (SEARCH, "rank-bm25"), (SEARCH, "v0")]
    return [_lead(task, scores, *pair) for pair in pairs if scores.keys() >= set(pair)]


def _lead(task: Task, scores: Mapping[str, np.ndarray], ranking: str, other: str) -> Lead:
    difference = scores[ranking] - scores[other]
    low, high = interval(difference)
    return Lead(
        task=task,
        ranking=ranking,
        result=float(scores[ranking].mean()),
        other=other,
        other_result=float(scores[other].mean()),
        mean=float(difference.mean()),
        low=low,
        high=high,
    )


def held_out(name: str, count: int) -> Task:
    """Return a task with other queries than those that its parameters were chosen with: the first USED of the fixed draw."""
    used = {query for query, _ in TASKS[name](USED).queries}
    whole = TASKS[name](sys.maxsize)
    rest = [each for each in whole.queries if each[0] not in used]
    return replace(whole, queries=random.Random(7).sample(rest, min(count, len(rest))))  # noqa: S311 - a fixed draw


def find_task(name: str, count: int, *, used: bool) -> Task:
    """Return a task with at most `count` queries: held out, unless `used` or there are no others."""
    return held_out(name, count) if name in HELD_OUT and not used else TASKS[name](count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=600, help="most queries of a task (default: %(default)s)")
    parser.add_argument("--task", action="append", choices=sorted(TASKS), help="may be repeated (default: all)")
    parser.add_argument("--used", action="store_true", help="use the queries that variants of the ranking were measured on")
    parser.add_argument("--others", action="store_true", help="also measure rank-bm25 and the v0 ranking")
    parser.add_argument(
        "--semantic-model", type=Path, help="folder with model.onnx and tokenizer.json: also measure dense retrieval"
    )
    options = parser.parse_args()
    leads: list[Lead] = []
    for name in options.task or TASKS:
        task = find_task(name, options.queries, used=options.used)
        counts = {"task": name, "documents": len(task.documents), "queries": len(task.queries), "seed": SEED}
        print(json.dumps(counts), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            leads += find_leads(task, measure(task, Path(folder), others=options.others, model=options.semantic_model))
    print(HEADER, *(lead.row() for lead in leads), sep="\n", flush=True)
    goals = [lead for lead in leads if lead.ranking == SEARCH and lead.other.startswith("bm25s")]
    behind = [lead.task.name for lead in goals if not lead.is_significant]
    if behind:
        raise SystemExit(f"not above bm25s: {', '.join(behind)}")


if __name__ == "__main__":
    main()
