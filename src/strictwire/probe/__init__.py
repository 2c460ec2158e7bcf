"""Judges any MCP server with raw bytes, on both transports and in both eras, and tells where they differ.

Not a conformance suite of one revision: it looks for silence, guessing, leaking and disagreement. Below: client (only
its raw layers), contract (schemas), canon. Above: the command line.
"""

from __future__ import annotations

from strictwire.probe.record import Difference, Lane, Options, Progress, Report, Status, Verdict
from strictwire.probe.render import render_json, render_table
from strictwire.probe.runner import run, run_with

__all__ = [
    "Difference",
    "Lane",
    "Options",
    "Progress",
    "Report",
    "Status",
    "Verdict",
    "render_json",
    "render_table",
    "run",
    "run_with",
]
