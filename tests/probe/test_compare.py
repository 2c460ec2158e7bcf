"""A report against a saved one: new, unchanged, gone, and what could not be checked again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.probe.reports import HOSTILE, REPORT

from strictwire.canon.json import render
from strictwire.probe.compare import Comparison, NotSaved, compare, parse_saved
from strictwire.probe.harm import Harm
from strictwire.probe.record import Status
from strictwire.probe.render import render_json

SAVED = parse_saved(render(render_json(REPORT)))


def test_a_saved_report_against_itself_has_nothing_new() -> None:
    assert compare(REPORT, SAVED) == Comparison(new=frozenset(), unchanged=frozenset(SAVED), gone=(), unchecked=())


def test_what_the_saved_run_does_not_have_is_new() -> None:
    saved = {id_: harm for id_, harm in SAVED.items() if not id_.startswith("LEAK:tool b")}

    assert compare(REPORT, saved).new == {"LEAK:tool b@stdio/modern"}


def test_a_finding_that_became_worse_is_new_and_one_that_became_better_is_not() -> None:
    assert compare(REPORT, SAVED | {"SHARED@stdio/modern": Harm.STYLE}).new == {"SHARED@stdio/modern"}
    assert compare(REPORT, SAVED | {"SHARED@stdio/modern": Harm.CRASH}).new == frozenset()


def test_what_is_missing_now_is_gone_if_its_probe_ran() -> None:
    saved = SAVED | {f"LEAK:tool {HOSTILE}@a@http/modern": Harm.EXPOSURE, "PARITY_ONLY@http/modern": Harm.STYLE}

    assert compare(REPORT, saved).gone == (f"LEAK:tool {HOSTILE}@a@http/modern", "PARITY_ONLY@http/modern")


def test_what_did_not_run_again_is_neither_gone_nor_unchanged() -> None:
    late = ("LATE@stdio/modern", "SHARED@stdio/legacy", "LATE@stdio/modern~http/modern")
    comparison = compare(REPORT, SAVED | dict.fromkeys(late, Harm.DROP))

    assert comparison.unchecked == late
    assert comparison.gone == ()


def test_a_finding_whose_probe_did_not_run_is_not_gone() -> None:
    results = tuple(replace(each, status=Status.NOT_RUN) if each.probe == "SHARED" else each for each in REPORT.results)

    assert compare(replace(REPORT, results=results), SAVED).unchecked == ("SHARED@stdio/modern",)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "not JSON"),
        (b"{}", "no findings of a probe"),
        (b'{"lanes":[],"findings":{}}', "no findings of a probe"),
        (b'{"lanes":[],"findings":[{"id":"A"}]}', "no id or an unknown harm"),
        (b'{"lanes":[],"findings":[{"id":"A","harm":"bad"}]}', "no id or an unknown harm"),
        (b'{"lanes":[],"findings":[{"id":1,"harm":"crash"}]}', "no id or an unknown harm"),
    ],
)
def test_another_file_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(NotSaved, match=reason):
        parse_saved(raw)
