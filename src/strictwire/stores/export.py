"""Taking records out of a trail: as they are, as CSV, as Parquet. Streams.

CSV and Parquet have the columns below, the same for every record; what is nested is JSON text in its column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, BinaryIO, Final

from strictwire.canon.json import JsonObject, render
from strictwire.stores.files.reading import Entry

COLUMNS: Final[Mapping[str, type]] = MappingProxyType(
    {
        "seq": int,
        "prev": str,
        "kind": str,
        "timestamp": str,
        "call_id": str,
        "principal": str,
        "role": str,
        "session_id": str,
        "transport": str,
        "profile": str,
        "method": str,
        "tool_name": str,
        "contract": str,
        "policy": str,
        "args_digest": str,
        "plan_hash": str,
        "phase_id": str,
        "workspace_root": str,
        "stage": str,
        "outcome": str,
        "result_digest": str,
        "error_code": str,
        "invariant_id": str,
        "cause": str,
        "duration_us": int,
        "envelope": str,
        "arguments": str,
        "result": str,
        "more": str,
    }
)
"""Name and type of each column. `more` holds the members of records the log makes itself (flood, recovery, prune)."""

GROUP_ROWS: Final = 10_000
"""Rows of one Parquet row group: what is held in memory at once."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins like this is run as a formula by spreadsheets."""


class NoParquet(Exception):
    """Parquet needs the extra `strictwire[parquet]`."""


def export_jsonl(entries: Iterable[Entry], target: BinaryIO) -> int:
    """Write the exact lines. Returns how many."""
    count = 0
    for entry in entries:
        target.write(entry.line + b"\n")
        count += 1
    return count


def export_csv(entries: Iterable[Entry], target: BinaryIO) -> int:
    """Write CSV (RFC 4180, UTF-8) with a row of names. Returns the number of records."""
    text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    count = 0
    for entry in entries:
        writer.writerow([_cell(value) for value in as_row(entry.record).values()])
        count += 1
    text.detach()
    return count


def export_parquet(entries: Iterable[Entry], target: BinaryIO) -> int:
    """Write Parquet. Returns the number of records. Raises NoParquet where the extra is not installed."""
    try:
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise NoParquet from None
    types = {int: pa.int64(), str: pa.string()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for rows in _groups(as_row(entry.record) for entry in entries):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


EXPORTERS: Final[Mapping[str, Callable[[Iterable[Entry], BinaryIO], int]]] = MappingProxyType(
    {"jsonl": export_jsonl, "csv": export_csv, "parquet": export_parquet}
)
"""Format to function."""


def as_row(record: JsonObject) -> dict[str, Any]:
    """A record as one row."""
    row = {name: _plain(record.get(name), kind) for name, kind in COLUMNS.items() if name != "more"}
    rest = {name: value for name, value in record.items() if name not in COLUMNS}
    return {**row, "more": render(rest).decode() if rest else None}


def _plain(value: Any, kind: type) -> Any:
    if value is None or isinstance(value, kind):
        return value
    return render(value).decode()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    stream = iter(rows)
    while group := list(islice(stream, GROUP_ROWS)):
        yield group
