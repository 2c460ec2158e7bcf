"""Tasks of a server behind the guard: their methods are relayed, with the headers that repeat the task id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.guards import GuardStdioProcess
from tests.fixtures.live import modern, serve_http

pytestmark = pytest.mark.slow

ABLE = {
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
}


def test_a_task_behind_the_guard_is_watched_answered_and_read() -> None:
    with serve_http("everything:server") as server, GuardStdioProcess("", "--upstream-http", server.url) as guard:

        def ask(method: str, **params: Any) -> dict[str, Any]:
            return dict(guard.ask(modern(1, method, params, **ABLE))["result"])

        created = ask("tools/call", name="confirm_delete", arguments={"filename": "f"})
        task_id = created["taskId"]
        while (task := ask("tasks/get", taskId=task_id))["status"] == "working":
            pass
        [key] = task["inputRequests"]
        answer = {"action": "accept", "content": {"confirm": True}}
        ask("tasks/update", taskId=task_id, inputResponses={key: answer})
        while (ended := ask("tasks/get", taskId=task_id))["status"] == "working":
            pass
        cancelled = ask("tasks/cancel", taskId=task_id)

    assert (created["resultType"], task["status"]) == ("task", "input_required")
    assert ended["result"]["content"] == [{"type": "text", "text": "Deleted f: True"}]
    assert cancelled["resultType"] == "complete"
