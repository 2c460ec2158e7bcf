"""context.search compared with the v0 ranking, bm25s and rank-bm25 on a known-item search task.

Documents are the functions and methods of three packages; a query is the first sentence of a docstring, which is removed
from its document. The measure is nDCG@10 of the target document. Every ranking gets the same text, including the path of
the function. Queries are sampled with a fixed seed; confidence intervals come from a paired bootstrap.

    python benchmarks/context_ranking.py                      # the packages of the group `bench`
    python benchmarks/context_ranking.py --queries 500        # a quick run
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi

from strictwire.packs.context.build import Order, build
from strictwire.packs.context.library import load_generation
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.token_counters import ByteCounter
from strictwire.packs.context.select import select

PACKAGES = ("django", "sqlalchemy", "networkx")
SEED = 20260102
DEPTH = 10
FEWEST_WORDS = 4
RESAMPLES = 2000
WORD = re.compile(r"(?u)\b\w\w+\b")

Rank = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Item:
    """One function: its path, its source without the summary, and the summary."""

    path: str
    text: str
    summary: str


def read_items(package: str) -> Iterator[Item]:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed; run pip install --group bench")
    root = Path(spec.submodule_search_locations[0])
    for file in sorted(root.rglob("*.py")):
        relative = file.relative_to(root.parent)
        if "tests" not in relative.parts and "testing" not in relative.parts:
            source = file.read_text(encoding="utf-8")
            yield from _functions(ast.parse(source), source.encode().split(b"\n"), relative.with_suffix("").as_posix())


def _functions(node: ast.AST, lines: Sequence[bytes], prefix: str) -> Iterator[Item]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, lines, f"{prefix}/{child.name}")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            text = _segment(child, lines)
            summary = _summary(child)
            yield Item(f"{prefix}/{child.name}-{child.lineno}.py", _without(text, summary), summary)


def _segment(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[bytes]) -> str:
    """Like `ast.get_source_segment`, but that splits the whole file into lines for every function."""
    last = node.end_lineno or node.lineno
    whole = list(lines[node.lineno - 1 : last])
    whole[-1] = whole[-1][: node.end_col_offset]
    whole[0] = whole[0][node.col_offset :]
    return b"\n".join(whole).decode()


def _summary(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    paragraph = (ast.get_docstring(node, clean=True) or "").partition("\n\n")[0]
    return " ".join(re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0].split())


def _without(text: str, summary: str) -> str:
    if not summary:
        return text
    return re.sub(r"\s+".join(map(re.escape, summary.split())), "", text, count=1)


def draw(items: Sequence[Item], count: int) -> list[Item]:
    """Sample functions whose summary has enough words and is unique."""
    seen: dict[str, int] = {}
    for item in items:
        seen[item.summary.lower()] = seen.get(item.summary.lower(), 0) + 1
    usable = [
        item
        for item in items
        if len(item.summary.split()) >= FEWEST_WORDS and seen[item.summary.lower()] == 1 and item.summary not in item.text
    ]
    return random.Random(SEED).sample(usable, min(count, len(usable)))  # noqa: S311 - a fixed draw, not a secret


def rank_with_search(folder: Path) -> Rank:
    generation = load_generation(folder)
    searcher = Searcher(ByteCounter())

    def rank(query: str) -> list[str]:
        answer = searcher.search(Search(query=query, budget=10**9, limit=5 * DEPTH), {"cache": generation})
        return list(dict.fromkeys(passage["id"] for passage in answer["passages"]))[:DEPTH]

    return rank


def rank_with_v0(folder: Path) -> Rank:
    index = load_generation(folder).index

    # The budget is enough for ten documents of any size, so that the first ten picks are the top ten of the ranking.
    budget = DEPTH * max(index.tokens)

    def rank(query: str) -> list[str]:
        return [index.document(pick.number)["id"] for pick in select(index, query, budget).picks[:DEPTH]]

    return rank


def rank_with_bm25s(items: Sequence[Item]) -> Rank:
    retriever = bm25s.BM25()
    retriever.index(
        bm25s.tokenize([f"{item.path}\n{item.text}" for item in items], show_progress=False), show_progress=False
    )
    names = [item.path.lower() for item in items]

    def rank(query: str) -> list[str]:
        found, _ = retriever.retrieve(bm25s.tokenize(query, show_progress=False), k=DEPTH, show_progress=False)
        return [names[number] for number in found[0]]

    return rank


def rank_with_rank_bm25(items: Sequence[Item]) -> Rank:
    model = BM25Okapi([WORD.findall(f"{item.path}\n{item.text}".lower()) for item in items])
    names = [item.path.lower() for item in items]

    def rank(query: str) -> list[str]:
        scores = model.get_scores(WORD.findall(query.lower()))
        return [names[number] for number in np.argsort(-scores, kind="stable")[:DEPTH]]

    return rank


def gains(rank: Rank, queries: Sequence[Item]) -> np.ndarray:
    found = np.zeros(len(queries))
    for number, item in enumerate(queries):
        ranked = rank(item.summary)
        if item.path.lower() in ranked:
            found[number] = 1 / np.log2(ranked.index(item.path.lower()) + 2)
    return found


def interval(values: np.ndarray) -> tuple[float, float]:
    draws = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)


def unique(items: Sequence[Item]) -> list[Item]:
    """Remove duplicates: v0 stores each content once and compares ids in lower case."""
    by_text = {item.text: item for item in reversed(items)}
    return list({item.path.lower(): item for item in by_text.values()}.values())


def write_cache(items: Sequence[Item], folder: Path) -> Path:
    for item in items:
        path = folder / "sources" / item.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(item.text, encoding="utf-8")
    order = Order(sources=folder / "sources", output=folder / "cache", kinds=frozenset({"code"}))
    build(order, now=lambda: datetime.now(UTC))
    return folder / "cache"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    options = parser.parse_args()
    items = unique([item for package in options.packages for item in read_items(package)])
    queries = draw(items, options.queries)
    print(
        json.dumps({"documents": len(items), "queries": len(queries), "packages": options.packages, "seed": SEED}),
        flush=True,
    )
    with tempfile.TemporaryDirectory() as name:
        cache = write_cache(items, Path(name))
        rankings: dict[str, Rank] = {
            "context.search": rank_with_search(cache),
            "v0": rank_with_v0(cache),
            "bm25s": rank_with_bm25s(items),
            "rank-bm25": rank_with_rank_bm25(items),
        }
        scores = {}
        for label, rank in rankings.items():
            started = time.perf_counter()
            scores[label] = gains(rank, queries)
            seconds = time.perf_counter() - started
            row = {"ranking": label, "ndcg@10": round(float(scores[label].mean()), 4), "interval": interval(scores[label])}
            print(json.dumps({**row, "ms_a_query": round(1000 * seconds / len(queries), 2)}), flush=True)
    behind = []
    for label in list(scores)[1:]:
        difference = scores["context.search"] - scores[label]
        if interval(difference)[0] <= 0:
            behind.append(label)
        print(
            json.dumps(
                {"context.search minus": label, "mean": round(float(difference.mean()), 4), "interval": interval(difference)}
            )
        )
    if behind:
        raise SystemExit(f"not above {', '.join(behind)}")


if __name__ == "__main__":
    main()
