"""Search engines for the stored index, measured: our own format, SQLite FTS5 and tantivy.

All index the same passages of a cache as the same terms, made by `search/terms.py`, in three fields. Reported are the CPU
time of a build, the size, the CPU time of opening and of a query (the median of the queries), and whether two builds are
equal byte for byte.

    pip install tantivy; python -m benchmarks.context_engines CACHE
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tantivy

from strictwire.packs.context.library import load_generation
from strictwire.packs.context.search.impacts import PassageFields, passage_fields
from strictwire.packs.context.search.index_file import SearchIndex
from strictwire.packs.context.search.indexing import index_cache, open_index, write_index
from strictwire.packs.context.search.passages import split_passages, title_of
from strictwire.packs.context.search.ranking import rank, term_weights
from strictwire.packs.context.search.terms import parse_terms

QUERIES = (
    "how to reset a password",
    "select related foreign key",
    "configure logging handlers",
    "custom middleware",
    "template inheritance block",
    "parse command line arguments",
    "unicode decode error",
    "transaction rollback savepoint",
)
DEPTH = 100
FIELDS = ("title", "headings", "body")

Query = Callable[[str], object]


def passages(cache: Path) -> Iterator[PassageFields]:
    index = load_generation(cache).index
    for number in range(len(index)):
        document = index.document(number)
        source, kind = index.source(number, document["id"]), index.kind(number)
        found = split_passages(document["content"], kind)
        lines = document["content"].split("\n")
        for passage in found:
            yield passage_fields(f"{title_of(source, found, kind)} {source}", passage, lines)


def words(text: str) -> str:
    """Terms as words that any tokenizer keeps: FTS5 and tantivy cannot be given terms."""
    return " ".join(term for term in parse_terms(text) if term.isalnum())


def build_own(cache: Path, folder: Path) -> None:
    write_index(folder / "own.idx", index_cache(cache))


def open_own(folder: Path) -> Query:
    index: SearchIndex = open_index(folder / "own.idx")

    def query(text: str) -> object:
        return rank(term_weights(parse_terms(text), [index]), {"cache": index}, DEPTH)

    return query


def build_fts5(cache: Path, folder: Path) -> None:
    with sqlite3.connect(folder / "fts5.db") as database:
        database.execute("CREATE VIRTUAL TABLE passages USING fts5(title, headings, body, content='', tokenize='unicode61')")
        rows = ([words(getattr(each, name)) for name in FIELDS] for each in passages(cache))
        database.executemany("INSERT INTO passages(title, headings, body) VALUES (?, ?, ?)", rows)
        database.execute("INSERT INTO passages(passages) VALUES ('optimize')")


def open_fts5(folder: Path) -> Query:
    database = sqlite3.connect(folder / "fts5.db")
    database.execute("PRAGMA mmap_size = 1073741824")

    def query(text: str) -> object:
        wanted = " OR ".join(f'"{term}"' for term in words(text).split())
        order = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 2.0, 2.0, 1.0) LIMIT ?"
        return database.execute(order, (wanted, DEPTH)).fetchall()

    return query


def build_tantivy(cache: Path, folder: Path) -> None:
    schema = tantivy.SchemaBuilder()
    for name in FIELDS:
        schema.add_text_field(name, tokenizer_name="whitespace")
    (folder / "tantivy").mkdir()
    writer = tantivy.Index(schema.build(), path=str(folder / "tantivy")).writer(num_threads=1)
    for each in passages(cache):
        writer.add_document(tantivy.Document(**{name: words(getattr(each, name)) for name in FIELDS}))
    writer.commit()
    writer.wait_merging_threads()


def open_tantivy(folder: Path) -> Query:
    index = tantivy.Index.open(str(folder / "tantivy"))
    searcher = index.searcher()

    def query(text: str) -> object:
        parsed = index.parse_query(words(text), list(FIELDS), field_boosts={"title": 2.0, "headings": 2.0})
        return searcher.search(parsed, DEPTH).hits

    return query


ENGINES = {
    "own": (build_own, open_own),
    "SQLite FTS5": (build_fts5, open_fts5),
    "tantivy": (build_tantivy, open_tantivy),
}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def cpu(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("cache", type=Path)
    cache = parser.parse_args().cache
    for name, (build, opener) in ENGINES.items():
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            seconds = cpu(lambda one=one, build=build: build(cache, Path(one)))
            build(cache, Path(two))
            files = content(Path(one))
            opening = cpu(lambda one=one, opener=opener: opener(Path(one))(QUERIES[0]))
            query = opener(Path(one))
            times = [cpu(lambda text=text, query=query: query(text)) for text in QUERIES for _ in range(3)]
            row = {
                "engine": name,
                "build_s": round(seconds, 2),
                "megabytes": round(sum(map(len, files.values())) / 1e6, 1),
                "open_and_first_query_ms": round(1000 * opening, 2),
                "query_ms": round(1000 * statistics.median(times), 2),
                "same_bytes": files == content(Path(two)),
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
