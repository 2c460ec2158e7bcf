"""What is kept between calls, within its weight, and many clients of one server at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fixtures.live import PATIENCE, HttpProcess, request, serve_http
from tests.interop.test_unity import CALLS
from tests.packs.unity.writer_random import random_project

from strictwire.canon.json import render
from strictwire.packs.unity.project.project import Project, open_project
from strictwire.packs.unity.recent import Recent
from strictwire.packs.unity.session import Session

CLIENTS = 8


def test_values_unused_longest_make_room() -> None:
    kept: Recent[str, str] = Recent(6, len)
    for name in ("aa", "bb", "cc"):
        kept.put(name, name)
    kept.get("aa")
    kept.put("dd", "dd")

    assert [kept.get(name) for name in ("aa", "bb", "cc", "dd")] == ["aa", None, "cc", "dd"]


def test_a_value_that_is_replaced_counts_once_and_one_too_heavy_is_not_kept() -> None:
    kept: Recent[str, str] = Recent(6, len)
    for _ in range(10):
        kept.put("a", "aaa")
    kept.put("b", "bbb")
    assert (kept.get("a"), kept.get("b")) == ("aaa", "bbb")
    assert kept.put("c", "c" * 7) == "c" * 7

    assert kept.get("c") is None


class FixedIndex:
    """An index that sees no difference, as when two changes have one time stamp."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def project(self) -> Project:
        return self._project


class CountingWatch:
    """A watch that the test moves."""

    changes = 0


@pytest.mark.parametrize(("seconds", "is_same"), [(3600, True), (0, False)])
def test_a_change_without_a_new_time_stamp_counts_while_files_are_young(seconds: int, is_same: bool, tmp_path: Path) -> None:
    project, watch = open_project(random_project(1).save(tmp_path)), CountingWatch()
    now = max(asset.stamp.changed_ns for asset in project.assets.values()) + seconds * 10**9
    session = Session(FixedIndex(project), watch, now_ns=lambda: now)  # type: ignore[arg-type]
    first = session.snapshot()
    assert session.snapshot() is first
    watch.changes += 1

    assert (session.snapshot() is first) is is_same
    project.close()


def bodies() -> list[bytes]:
    return [
        render({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"tool": tool, "arguments": arguments}})
        for number, (tool, arguments) in enumerate(CALLS)
    ]


def ask(server: HttpProcess, requests: Sequence[bytes], ready: threading.Barrier) -> dict[bytes, bytes]:
    with server.connect() as connection:
        ready.wait(PATIENCE)
        answers = {}
        for body in requests:
            connection.write(request(body, {"Authorization": None}, port=server.port, path="/rpc/editor"))
            answers[body] = connection.answer().body
        return answers


@pytest.mark.slow
def test_eight_clients_at_once_get_the_bytes_of_one(tmp_path: Path) -> None:
    """The crowd comes first, to a server that has read nothing; then one client asks the same in order.

    Callers without tokens share one space of request ids, so each client has ids of its own.
    """
    root = random_project(5).save(tmp_path / "project")
    settings = tmp_path / "strictwire.toml"
    settings.write_text(f'[packs.unity]\nroot = "{root}"\n')
    plain = bodies()

    def numbered(client: int) -> list[bytes]:
        turned = plain[client % len(plain) :] + plain[: client % len(plain)]
        return [body.replace(b'"id":', b'"id":%d0' % (client + 1), 1) for body in turned]

    with serve_http("--pack=unity", "--config", str(settings)) as server, ThreadPoolExecutor(CLIENTS) as pool:
        ready = threading.Barrier(CLIENTS)
        crowd = [pool.submit(ask, server, numbered(client), ready) for client in range(CLIENTS)]
        together = [each.result(6 * PATIENCE) for each in crowd]
        alone = ask(server, plain, threading.Barrier(1))
    for client, answers in enumerate(together):
        mark = b'"id":%d0' % (client + 1)
        found = {body.replace(mark, b'"id":', 1): answer.replace(mark, b'"id":', 1) for body, answer in answers.items()}

        assert found == alone
