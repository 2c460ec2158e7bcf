"""Recorded calls are sent again, and results that differ are reported."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET, structs

from strictwire.audit.event import Call, render_body
from strictwire.canon.digest import digest
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.reading import read_trail
from strictwire.stores.replay import CallResult, Comparison, RecordedCall, ReplayedCall, replay_calls
from tests.stores.trails import trail_in


def _recorded_call(name: str, arguments: dict[str, object], result: str) -> Call:
    return Call(
        timestamp="T",
        call_id=name,
        tool_name=name,
        args_digest=digest(arguments),
        duration_us=1,
        result_digest=result,
        arguments=arguments,
    )


async def test_a_replay_reports_every_answer_that_differs(tmp_path: Path):
    trail = trail_in(tmp_path, keeps_values=True)
    log = open_writer(trail)
    events = [
        _recorded_call("steady", {"a": 1}, "sha256:1"),
        _recorded_call("drifting", {"a": 2}, "sha256:2"),
        _recorded_call("writing", {"a": 3}, "sha256:3"),
        _recorded_call("steady", {"password": "x"}, "sha256:4"),
    ]
    log.append([render_body(event) for event in events])
    without_values = structs.replace(_recorded_call("steady", {"a": 5}, "sha256:5"), arguments=UNSET)
    log.append([render_body(without_values)])
    log.close()
    sent: list[RecordedCall] = []

    async def reissue(recorded: RecordedCall) -> CallResult:
        sent.append(recorded)
        return CallResult(result_digest="sha256:1")

    report = [
        replayed
        async for replayed in replay_calls(
            read_trail(trail.folder), is_idempotent=lambda tool: tool != "writing", reissue=reissue
        )
    ]
    skipped, same, different = Comparison.SKIPPED, Comparison.SAME, Comparison.DIFFERENT
    one, two = CallResult(result_digest="sha256:1"), CallResult(result_digest="sha256:2")

    assert [recorded.arguments for recorded in sent] == [{"a": 1}, {"a": 2}]
    assert report == [
        ReplayedCall(seq=0, tool_name="steady", comparison=same, recorded=one, repeated=one),
        ReplayedCall(seq=1, tool_name="drifting", comparison=different, recorded=two, repeated=one),
        ReplayedCall(seq=2, tool_name="writing", comparison=skipped, reason="not_idempotent"),
        ReplayedCall(seq=3, tool_name="steady", comparison=skipped, reason="redacted"),
        ReplayedCall(seq=4, tool_name="steady", comparison=skipped, reason="no_arguments"),
    ]
