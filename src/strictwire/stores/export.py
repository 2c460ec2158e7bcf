"""Exports records: as they are, as CSV, as Parquet. Streams.

CSV and Parquet have the columns below, the same for every record; nested values are JSON text in their column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, BinaryIO, Final

from strictwire.canon.json import JsonObject, render
from strictwire.fault.escape import for_csv
from strictwire.stores.records import StoredRecord

COLUMNS: Final[Mapping[str, type]] = MappingProxyType(
    {
        "seq": int,
        "prev": str,
        "tag": str,
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
"""Name and type of each column. `more` holds members that only records of the store itself have (flood, prune)."""

GROUP_ROWS: Final = 10_000
"""Rows of one Parquet row group, which are held in memory together."""


class NoParquet(Exception):
    """Parquet needs the extra `strictwire[parquet]`."""


def export_jsonl(records: Iterable[StoredRecord], target: BinaryIO) -> int:
    """Write the exact lines. Returns the number of records."""
    count = 0
    for stored in records:
        target.write(stored.line + b"\n")
        count += 1
    return count


def export_csv(records: Iterable[StoredRecord], target: BinaryIO) -> int:
    """Write CSV (RFC 4180, UTF-8) with a header row. Returns the number of records."""
    text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    count = 0
    for stored in records:
        writer.writerow([_as_cell(value) for value in as_row(stored.record).values()])
        count += 1
    text.detach()
    return count


def export_parquet(records: Iterable[StoredRecord], target: BinaryIO) -> int:
    """Write Parquet. Returns the number of records. Raises NoParquet if the extra is not installed."""
    try:
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise NoParquet from None
    types = {int: pa.int64(), str: pa.string()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for rows in _groups(as_row(stored.record) for stored in records):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


EXPORTERS: Final[Mapping[str, Callable[[Iterable[StoredRecord], BinaryIO], int]]] = MappingProxyType(
    {"jsonl": export_jsonl, "csv": export_csv, "parquet": export_parquet}
)
"""Format to function."""


def as_row(record: JsonObject) -> dict[str, Any]:
    """A record as one row."""
    row = {name: _as_type(record.get(name), kind) for name, kind in COLUMNS.items() if name != "more"}
    more = {name: value for name, value in record.items() if name not in COLUMNS}
    return {**row, "more": render(more).decode() if more else None}


def _as_type(value: Any, kind: type) -> Any:
    if value is None or isinstance(value, kind):
        return value
    return render(value).decode()


def _as_cell(value: Any) -> Any:
    return for_csv(value) if isinstance(value, str) else value


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    stream = iter(rows)
    while group := list(islice(stream, GROUP_ROWS)):
        yield group
