"""A framework is recognised by its behaviour, and only findings that its bare server has too are attributed to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from strictwire.probe.frameworks import detect_framework, known_frameworks
from strictwire.probe.harm import Harm
from strictwire.probe.record import VARIANTS, ProbeReport, ProbeResult, Status
from strictwire.probe.table import PROBES

KNOWN = {each.name: each for each in known_frameworks()}
VARIANT = {str(variant): variant for variant in VARIANTS}


def report_of(name: str, transport: str = "stdio") -> ProbeReport:
    """A report whose responses are those of a bare server."""
    results = tuple(
        ProbeResult(
            probe=probe,
            variant=VARIANT[variant],
            status=Status.FINDING,
            got="",
            harm=Harm.DROP,
            outcome=outcome,
        )
        for (probe, variant), outcome in KNOWN[name].outcomes.items()
        if variant.startswith(transport)
    )
    probes = tuple(each.description for each in PROBES)
    return ProbeReport(target={}, variants=(), closed={}, probes=probes, results=results, differences=(), seconds=1)


@pytest.mark.parametrize("name", KNOWN)
def test_every_measured_framework_is_recognised_by_its_own_responses(name: str) -> None:
    framework = detect_framework(report_of(name), [], [])

    assert framework is not None
    assert KNOWN[name].family in {KNOWN[each].family for each in framework.name.split(" or ")}
    assert framework.evidence[0].startswith(
        f"{framework.evidence[0].split()[0]} of {framework.evidence[0].split()[0]} responses"
    )


def test_a_text_that_only_one_family_writes_is_evidence() -> None:
    framework = detect_framework(report_of("TypeScript SDK 1"), [], ["MCP error -32602: Tool a not found"])

    assert framework is not None
    assert framework.evidence[1] == "an error text has 'MCP error -32602:'"


def test_families_with_the_same_parser_are_told_apart_by_a_text_or_named_together() -> None:
    report = report_of("FastMCP 4")
    alone = detect_framework(report, [], [])
    marked = detect_framework(report, [], ["1 validation error for call[add]"])

    assert alone is not None
    assert marked is not None
    assert (alone.name, marked.name) == ("Python SDK 2 or FastMCP 4", "FastMCP 4")


def test_the_version_of_the_framework_in_server_info_is_evidence() -> None:
    version = KNOWN["Python SDK 2"].version
    framework = detect_framework(report_of("Python SDK 2"), [{"version": version}, None, "x"], [])

    assert framework is not None
    assert framework.evidence[-1] == f"serverInfo has the version {version} of the framework"


def test_other_behaviour_is_not_recognised() -> None:
    report = report_of("FastMCP 4")
    results = tuple(
        replace(each, outcome="error -32700") if index % 3 == 0 else each for index, each in enumerate(report.results)
    )

    assert detect_framework(replace(report, results=results), [], []) is None


def test_too_few_responses_are_not_recognised() -> None:
    report = report_of("FastMCP 4")

    assert detect_framework(replace(report, results=report.results[:15]), [], []) is None


def test_probes_that_did_not_run_are_not_compared() -> None:
    report = report_of("FastMCP 4")
    results = tuple(replace(each, status=Status.NOT_RUN) for each in report.results)

    assert detect_framework(replace(report, results=results), [], []) is None


def test_a_finding_with_another_response_than_the_bare_server_is_the_servers_own() -> None:
    report = report_of("TypeScript SDK 1")
    results = tuple(
        replace(each, outcome="connection closed") if each.probe == "JSON_TRUNCATED" else each for each in report.results
    )
    before = detect_framework(report, [], [])
    after = detect_framework(replace(report, results=results), [], [])

    assert before is not None
    assert after is not None
    assert "JSON_TRUNCATED@stdio/legacy" in before.shared
    assert "JSON_TRUNCATED@stdio/legacy" not in after.shared


def test_the_data_names_only_probes_that_exist_and_none_of_a_bare_servers_own_tools() -> None:
    ids = {each.id for each in PROBES}
    named = {probe for known in KNOWN.values() for probe, _ in known.outcomes}
    findings = {id_ for known in KNOWN.values() for id_ in known.findings}

    assert named <= ids
    assert {id_.partition("@")[0].partition(":")[0] for id_ in findings} <= ids
    assert not any(":tool " in id_ for id_ in findings)
