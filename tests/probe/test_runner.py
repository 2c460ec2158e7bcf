"""A run that cannot test anything is an error; tools that may change data are not called."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire import probe
from strictwire.client import CannotReach
from strictwire.probe.record import ProbeProgress, Status

SCRIPTED = [sys.executable, str(Path(__file__).parents[1] / "client" / "servers" / "scripted.py"), "plain"]


def test_a_server_that_does_not_respond_is_an_error_and_not_a_clean_report() -> None:
    options = probe.ProbeOptions(stdio=[sys.executable, "-c", "pass"], http="http://127.0.0.1:1/mcp")

    with pytest.raises(CannotReach, match="stdio/modern, stdio/legacy: the server exited 0"):
        asyncio.run(probe.run_with(options))


@pytest.mark.parametrize(
    "options",
    [probe.ProbeOptions(), probe.ProbeOptions(stdio=SCRIPTED, only=frozenset({"NO_SUCH_PROBE"}))],
)
def test_invalid_options_are_refused(options: probe.ProbeOptions) -> None:
    with pytest.raises(ValueError):
        asyncio.run(probe.run_with(options))


@pytest.mark.slow
def test_a_variant_without_response_and_skipped_probes_are_reported() -> None:
    seen: list[ProbeProgress] = []
    only = frozenset({"METHOD_UNKNOWN_STATUS", "TOOL_UNKNOWN", "OUTPUT_SURVIVED"})

    report = asyncio.run(probe.run_with(probe.ProbeOptions(stdio=SCRIPTED, only=only, seconds=1.0), seen.append))

    assert [str(variant) for variant in report.closed] == ["stdio/modern"]
    assert [(result.probe, result.status) for result in report.results] == [
        ("TOOL_UNKNOWN", Status.FINDING),
        ("METHOD_UNKNOWN_STATUS", Status.NOT_APPLICABLE),
        ("OUTPUT_SURVIVED", Status.NOT_APPLICABLE),
    ]
    assert {(str(each.variant), each.probe) for each in seen} == {("stdio/legacy", name) for name in only}
    assert [(each.done, each.total) for each in seen] == [(0, 3), (1, 3), (2, 3)]
    assert report.is_clean is False


def test_arguments_with_a_list_valued_type_are_probed() -> None:
    server = [sys.executable, str(Path(__file__).with_name("servers") / "list_types.py")]
    only = frozenset({"ARGUMENT_TEXT_FOR_NUMBER", "ARGUMENT_NUMBER_FOR_TEXT", "ARGUMENT_INTEGRAL_NUMBER"})

    report = asyncio.run(probe.run_with(probe.ProbeOptions(stdio=server, only=only)))
    results = {result.probe: result.status for result in report.results if str(result.variant) == "stdio/legacy"}

    assert results["ARGUMENT_TEXT_FOR_NUMBER"] is Status.FINDING
    assert results["ARGUMENT_NUMBER_FOR_TEXT"] is Status.FINDING
