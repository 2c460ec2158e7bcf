"""An upstream that answers with bytes of its own making, as a process and over HTTP."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.abuse import json_text
from tests.abuse.arena import Arena, Attack, bearer, call
from tests.abuse.bad_upstream import GOOD
from tests.abuse.web_upstream import respond

ANSWER = '{"jsonrpc":"2.0","id":%i,"result":' + json.dumps(GOOD) + "}"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
RECOVERY_SECONDS = 40.0
"""In this time an upstream that behaves again is used again: the delay before a restart grows to 30 s."""
RETRY_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What an upstream does when it is called: steps of a process, or pieces of an HTTP response."""

    steps: Sequence[Any] = ()
    pieces: Iterable[bytes] | None = None


def latin(raw: bytes) -> str:
    """Bytes as the script of the process spells them."""
    return raw.decode("latin-1")


def written(*pairs: tuple[str, int]) -> Part:
    return Part(steps=[["write", text, times] for text, times in (*pairs, (ANSWER + "\n", 1))])


def brackets(random: Random) -> Part:
    """Lines that nobody asked for, of 8 MiB of brackets."""
    return written((random.choice("[{") * (8 << 20) + "\n", random.choice([1, 5])))


def long_error(random: Random) -> Part:
    """An error text on which a quadratic redaction takes minutes."""
    text = random.choice(["token:", "password=", "Bearer ", "/srv/a ", "eyJ.", "a@"]) * 10_000
    error = json.dumps({"code": 1, "message": text, "data": {"trace": text}})
    return Part(steps=[["write", f'{{"jsonrpc":"2.0","id":%i,"error":{error}}}\n', 1]])


def noise(random: Random) -> Part:
    return written((latin(random.randbytes(random.randint(1, 60_000))) + "\n", random.choice([1, 20])))


def damaged(random: Random) -> Part:
    return Part(steps=[["write", latin(json_text.damage(ANSWER.encode(), random)) + "\n", 1]])


def notifications(random: Random) -> Part:
    method = random.choice(["progress", "message", "tools/list_changed", "resources/updated", "cancelled", "x"])
    params = json.dumps({"progressToken": random.choice([1, "t", None]), "progress": 1, "level": "info", "data": "x" * 200})
    return written((f'{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}\n', 30_000))


def requests(random: Random) -> Part:
    """Requests to the client, without an end."""
    method = random.choice(["sampling/createMessage", "roots/list", "elicitation/create", "ping", "x"])
    return written((f'{{"jsonrpc":"2.0","id":{random.choice(["1", "%i"])},"method":"{method}"}}\n', 20_000))


def errors(_random: Random) -> Part:
    return Part(steps=[["error", "noise \x1b[2J\n", 500_000], ["write", ANSWER + "\n", 1]])


def endless_line(random: Random) -> Part:
    return Part(steps=[["write", random.choice("a[\x00") * (1 << 20), 60]])


def silence(_random: Random) -> Part:
    return Part(steps=[["sleep", 3.0]])


def exit_at_once(random: Random) -> Part:
    return Part(steps=[["write", ANSWER[: random.randrange(len(ANSWER))], 1], ["exit"]])


def web_damaged(random: Random) -> Part:
    return Part(pieces=[json_text.damage(respond(ANSWER.encode()), random, 5)])


def web_endless(random: Random) -> Part:
    """A body without an end, in chunks, a length or events."""
    head, piece = random.choice([
        (CHUNKED, b"100000\r\n" + b"a" * (1 << 20) + b"\r\n"),
        (EVENTS, b": comment\n\n" * 100_000),
        (EVENTS, b"data: " + b"a" * (1 << 20)),
        (respond(b"").replace(b"Length: 0", b"Length: 99999999999"), b"[" * (1 << 20)),
    ])  # fmt: skip
    return Part(pieces=[head, *([piece] * 64)])


def web_bomb(random: Random) -> Part:
    """A small body that inflates to 400 MB."""
    body = gzip.compress(random.choice([b"[", b" ", b"a"]) * (400 << 20), 1)
    return Part(pieces=[respond(body, more="Content-Encoding: gzip\r\n")])


def web_redirect(random: Random) -> Part:
    place = random.choice(["http://169.254.169.254/", "file:///etc/passwd", "//x", "\x00", "/mcp"])
    return Part(
        pieces=[
            respond(
                b"", random.choice(["302 Found", "307 Temporary Redirect", "401 Unauthorized"]), f"Location: {place}\r\n"
            )
        ]
    )


def web_header(random: Random) -> Part:
    return Part(
        pieces=[b"HTTP/1.1 200 OK\r\n" + random.choice([b"X: " + b"y" * (8 << 20), b"X: y\r\n" * 500_000]) + b"\r\n\r\n"]
    )


def web_silence(_random: Random) -> Part:
    return Part(pieces=[])


def check(case: Part, arena: Arena) -> None:
    """The call is answered without a fault of the guard, and the upstream is used again once it behaves."""
    guard, until = arena.guard, time.monotonic() + RECOVERY_SECONDS
    name = "bad_act" if case.pieces is None else "web_act"
    arena.script.write_text(json.dumps({"steps": list(case.steps)} if case.pieces is None else {}))
    arena.web.script = case.pieces
    try:
        answer = guard.post(call(name), bearer(call(name))).body
    finally:
        arena.script.write_text("{}")
        arena.web.script = None

    assert b'"result"' in answer or b'"error"' in answer
    assert b'"INTERNAL"' not in answer, answer[:500]
    answers = [answer]
    while b'"fine"' not in answers[-1] and time.monotonic() < until:
        time.sleep(RETRY_SECONDS)
        answers.append(guard.post(call(name), bearer(call(name))).body)
    assert b'"fine"' in answers[-1], f"the upstream is not used again: {answers[-1]!r}"
    arena.check_alive(guard)


ATTACK = Attack(
    name="upstreams",
    kinds={
        "brackets": brackets,
        "long_error": long_error,
        "noise": noise,
        "damaged": damaged,
        "notifications": notifications,
        "requests": requests,
        "errors": errors,
        "endless_line": endless_line,
        "silence": silence,
        "exit_at_once": exit_at_once,
        "web_damaged": web_damaged,
        "web_endless": web_endless,
        "web_bomb": web_bomb,
        "web_redirect": web_redirect,
        "web_header": web_header,
        "web_silence": web_silence,
    },
    check=check,
    lengthy=frozenset({"silence", "endless_line", "web_bomb"}),
)
