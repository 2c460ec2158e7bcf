"""Records for other tools: exact lines, CSV, Parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from strictwire.audit.event import Flood, render_body
from strictwire.stores.export import COLUMNS, EXPORTERS
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.reading import read_trail
from tests.stores.trails import call, trail_in


def test_exact_lines_are_exported(trail: TrailConfig):
    target = io.BytesIO()
    count = EXPORTERS["jsonl"](read_trail(trail.folder), target)

    assert count == 20
    assert target.getvalue() == b"".join(stored.line + b"\n" for stored in read_trail(trail.folder))


def test_csv_has_a_row_a_record_and_no_formulas(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    evil = call("=cmd()", principal='a,"b"\n')
    log.append([render_body(evil), render_body(Flood(timestamp="T", since="S", counts={"a": 1}))])
    log.close()
    target = io.BytesIO()
    EXPORTERS["csv"](read_trail(trail.folder), target)
    rows = list(csv.DictReader(io.StringIO(target.getvalue().decode(), newline="")))

    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["seq"], rows[0]["call_id"], rows[0]["principal"]) == ("0", "'=cmd()", 'a,"b"\\u000a')
    assert rows[1]["more"] == '{"since":"S","counts":{"a":1}}'


def test_parquet_reads_back_with_types(trail: TrailConfig):
    parquet = pytest.importorskip("pyarrow.parquet")
    target = io.BytesIO()
    count = EXPORTERS["parquet"](read_trail(trail.folder), target)
    table = parquet.read_table(io.BytesIO(target.getvalue()))

    assert (count, table.num_rows, table.column_names) == (20, 20, list(COLUMNS))
    assert table.column("seq").to_pylist() == list(range(20))
    assert table.column("duration_us").to_pylist() == [5] * 20
