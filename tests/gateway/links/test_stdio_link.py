"""An upstream is untrusted: whatever it does, the client gets one valid answer, and the guard keeps running."""

from __future__ import annotations

import asyncio
import gc
import resource
from pathlib import Path

import pytest

from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from tests.fixtures.live import modern
from tests.gateway.driver import SHORT, Client, fake, guarded, outcome

FINE = {"y": 1}

EXPECTED = {
    "good": FINE,
    "noise_before": FINE,
    "json_noise": FINE,
    "two_answers": FINE,
    "unknown_token": FINE,
    "loose_log": FINE,
    "pieces": FINE,
    "stderr_flood": FINE,
    "flood": FINE,
    "wrong_id": "TIMEOUT",
    "text_id": "TIMEOUT",
    "never_answers": "TIMEOUT",
    "drip": "TIMEOUT",
    "no_version": "UPSTREAM_BROKE",
    "bad_syntax": "UPSTREAM_BROKE",
    "duplicate_key": "UPSTREAM_BROKE",
    "not_a_number": "UPSTREAM_BROKE",
    "bad_utf8": "UPSTREAM_BROKE",
    "lone_surrogate": "UPSTREAM_BROKE",
    "too_deep": "UPSTREAM_BROKE",
    "batch": "UPSTREAM_BROKE",
    "both": "UPSTREAM_BROKE",
    "neither": "UPSTREAM_BROKE",
    "result_is_array": "UPSTREAM_BROKE",
    "result_is_null": "UPSTREAM_BROKE",
    "error_is_text": "UPSTREAM_BROKE",
    "error_without_code": "UPSTREAM_BROKE",
    "truncated": "UPSTREAM_BROKE",
    "closes_output": "UPSTREAM_GONE",
    "no_content": "OUTPUT_INVALID",
    "no_structured": "OUTPUT_INVALID",
    "wrong_structured": "OUTPUT_INVALID",
    "line_of_100_mb": "CAP_EXCEEDED",
    "answer_of_6_mb": "CAP_EXCEEDED",
    "list_is_text": "UPSTREAM_BROKE",
    "list_without_names": "UPSTREAM_BROKE",
    "list_without_end": "UPSTREAM_BROKE",
    "schema_bomb": "UPSTREAM_BROKE",
    "schema_remote": "UPSTREAM_BROKE",
    "schema_invalid": "UPSTREAM_BROKE",
    "schema_dialect": "UPSTREAM_BROKE",
    "schema_is_text": "UPSTREAM_BROKE",
}
"""What the upstream does when its tool is called, and what the client is told, in both eras."""

MODERN_ONLY = {
    "unknown_result_type": "UPSTREAM_BROKE",
    "asks_undeclared": "UPSTREAM_BROKE",
    "asks_nonsense": "UPSTREAM_BROKE",
    "request_in_modern": FINE,
    "exits_at_once": "UPSTREAM_GONE",
    "dies_at_start": "UPSTREAM_GONE",
}


HEAVY = frozenset({"flood", "line_of_100_mb", "answer_of_6_mb", "stderr_flood"})
"""Much to read, on a machine that may be busy."""

LONG = RelayOptions(idle_seconds=25.0, total_seconds=25.0)


def drive(name: str, era: str, marker: Path | None = None, calls: int = 1) -> list[object]:
    """The outcomes of some calls in a row."""

    async def run() -> list[object]:
        async with guarded(fake(name, marker), LONG if name in HEAVY else SHORT) as client:
            if era == "legacy":
                await client.open_session()
            return [outcome(await client.act(era, number, progressToken="t")) for number in range(calls)]

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("name", EXPECTED)
def test_the_client_gets_one_valid_answer(name: str, era: str) -> None:
    assert drive(name, era) == [EXPECTED[name]]


@pytest.mark.parametrize("name", MODERN_ONLY)
def test_a_client_of_the_stateless_era_gets_one_valid_answer(name: str) -> None:
    assert drive(name, "modern") == [MODERN_ONLY[name]]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize(("name", "first"), [("exit_in_call", "UPSTREAM_GONE"), ("hang", "TIMEOUT")])
def test_a_failed_upstream_is_restarted(name: str, first: str, era: str, tmp_path: Path) -> None:
    async def run() -> list[object]:
        async with guarded(fake(name, tmp_path / "happened")) as client:
            if era == "legacy":
                await client.open_session()
            answers = [outcome(await client.act(era, 1))]
            # The proof that it hangs takes its own half second; until then calls wait on the old process.
            answers.append(outcome(await client.act(era, 2)))
            if answers[-1] != FINE:
                answers[-1] = outcome(await client.act(era, 3))
            return answers

    assert asyncio.run(run()) == [first, FINE]


def test_a_failed_start_is_repeated_with_a_delay() -> None:
    async def run() -> list[dict[str, object]]:
        async with guarded(fake("dies_at_start")) as client:
            answers = [await client.act(request_id=number) for number in range(4)]
            return [answer["error"]["data"] for answer in answers]

    seen = asyncio.run(run())

    assert [each["code"] for each in seen] == ["UPSTREAM_GONE"] * 4
    assert "retryAfterMs" in seen[-1]["details"]  # type: ignore[operator]


def test_a_missing_command_is_a_failure() -> None:
    async def run() -> object:
        async with guarded(UpstreamTarget(command=("/nonexistent/server",))) as client:
            return outcome(await client.act())

    assert asyncio.run(run()) == "UPSTREAM_GONE"


def test_an_answer_after_a_cancellation_is_dropped() -> None:
    async def run() -> tuple[bool, list[object], object]:
        async with guarded(fake("answer_after_cancel")) as client:
            running = asyncio.create_task(client.act(request_id=1))
            await _until_running(client)
            await client.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}')
            await asyncio.wait({running})
            after = await client.ask(modern(2, "tools/list"))
            return running.cancelled(), list(client.heard.messages), after["id"]

    assert asyncio.run(run()) == (True, [], 2)


async def _until_running(client: Client) -> None:
    """The call is under way once the upstream has listed its tools for it and was asked: two turns of its reader."""
    async with asyncio.timeout(10):
        while not any(flight.request.params.get("name") == "act" for flight in _flights(client)):
            await asyncio.sleep(0.01)


def _flights(client: Client) -> list[object]:
    shared = client.endpoint.backend.calls.upstream._shared
    return list(shared._pending.values()) if shared is not None else []  # type: ignore[attr-defined]


def test_questions_that_the_client_did_not_declare_are_refused_on_its_behalf() -> None:
    async def run() -> tuple[object, list[object]]:
        async with guarded(fake("asks_sampling")) as client:
            await client.open_session(capabilities={})
            return outcome(await client.act("legacy")), list(client.heard.messages)

    assert asyncio.run(run()) == ({"y": -32601}, [])


def test_questions_that_the_client_declared_are_relayed_both_ways() -> None:
    async def run() -> tuple[object, dict[str, object]]:
        async with guarded(fake("asks_sampling")) as client:
            await client.open_session(capabilities={"sampling": {}})
            running = asyncio.create_task(client.act("legacy"))
            async with asyncio.timeout(10):
                await client.heard.arrived.wait()
            question = client.heard.messages[0]
            answer = b'{"jsonrpc":"2.0","id":"%b","error":{"code":-5,"message":"no"}}' % str(question["id"]).encode()
            await client.send(answer)
            return outcome(await running), {**question, "id": "ours" if question["id"] != "q" else "theirs"}

    params = {"messages": [], "maxTokens": 1}
    question = {"jsonrpc": "2.0", "id": "ours", "method": "sampling/createMessage", "params": params}

    assert asyncio.run(run()) == ({"y": -5}, question)


def test_a_flood_of_progress_is_limited() -> None:
    async def run() -> tuple[object, int]:
        async with guarded(fake("flood"), LONG) as client:
            return outcome(await client.act(progressToken="t")), len(client.heard.messages)

    answer, words = asyncio.run(run())

    assert answer == FINE
    assert 1 <= words < 10_000


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_error_texts_are_masked_and_codes_and_data_are_kept(era: str) -> None:
    async def run() -> dict[str, object]:
        async with guarded(fake("leaks_in_error")) as client:
            if era == "legacy":
                await client.open_session()
            return (await client.act(era, 5))["error"]  # type: ignore[no-any-return]

    assert asyncio.run(run()) == {
        "code": 4711,
        "message": "failed at [path] with password=[redacted]",
        "data": {"trace": "[stack trace removed]", "n": 1},
    }


def test_the_texts_of_a_failed_tool_are_masked() -> None:
    async def run() -> dict[str, object]:
        async with guarded(fake("leaks_in_result")) as client:
            return (await client.act())["result"]  # type: ignore[no-any-return]

    assert asyncio.run(run()) == {
        "content": [{"type": "text", "text": "[stack trace removed]"}],
        "resultType": "complete",
        "isError": True,
    }


@pytest.mark.slow
def test_memory_does_not_grow_with_a_line_of_100_mb() -> None:
    drive("line_of_100_mb", "modern")
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    drive("line_of_100_mb", "modern", calls=2)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024
