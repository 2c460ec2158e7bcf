"""How a task is written: the answer that creates it, the answer to tasks/get, and the notification of a change."""

from __future__ import annotations

from collections.abc import Mapping

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Ask
from strictwire.pipeline.clock import iso_millis
from strictwire.profiles.mcp.task_store import TaskEntry


def show_created(entry: TaskEntry, server: bytes) -> bytes:
    """The result that answers tools/call with a task. `server` is the `_meta` of every result."""
    return b'{"resultType":"task",%b,"_meta":%b}' % (render(_members(entry))[1:-1], server)


def show_task(entry: TaskEntry, questions: Mapping[str, Ask], server: bytes) -> bytes:
    """The result of tasks/get."""
    return b'{"resultType":"complete",%b,"_meta":%b}' % (_details(entry, questions), server)


def show_change(entry: TaskEntry, questions: Mapping[str, Ask], mark: JsonObject) -> bytes:
    """The notification of a subscription. `mark` is its `_meta`."""
    params = b'{%b,"_meta":%b}' % (_details(entry, questions), render(mark))
    return b'{"jsonrpc":"2.0","method":"notifications/tasks","params":%b}' % params


def _details(entry: TaskEntry, questions: Mapping[str, Ask]) -> bytes:
    """The members of a task, with open questions, the result or the error."""
    inside = b""
    if questions:
        asked: JsonObject = {key: {"method": ask.method, "params": ask.params} for key, ask in questions.items()}
        inside = b',"inputRequests":' + render(asked)
    elif entry.result is not None:
        inside = b',"result":' + entry.result
    elif entry.error is not None:
        inside = b',"error":' + entry.error
    return render(_members(entry))[1:-1] + inside


def _members(entry: TaskEntry) -> JsonObject:
    shown: JsonObject = {"taskId": entry.id, "status": entry.status.value}
    if entry.message is not None:
        shown["statusMessage"] = entry.message
    return shown | {
        "createdAt": iso_millis(entry.created_ms),
        "lastUpdatedAt": iso_millis(entry.updated_ms),
        "ttlMs": entry.ttl_ms,
        "pollIntervalMs": entry.poll_ms,
    }
