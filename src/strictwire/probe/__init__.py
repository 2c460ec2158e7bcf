"""Tests any MCP server with raw bytes on both transports and in both eras, and reports where they differ.

Not a conformance suite for one revision. The probes look for missing responses, repaired input, leaked internals and
differences between transports. Uses only the raw layers of `client`.
"""

from __future__ import annotations

from strictwire.probe.harm import Harm
from strictwire.probe.record import Difference, ProbeOptions, ProbeProgress, ProbeReport, ProbeResult, Status, Variant
from strictwire.probe.render import render_json, render_text
from strictwire.probe.runner import run, run_with

__all__ = [
    "Difference",
    "Harm",
    "ProbeOptions",
    "ProbeProgress",
    "ProbeReport",
    "ProbeResult",
    "Status",
    "Variant",
    "render_json",
    "render_text",
    "run",
    "run_with",
]
