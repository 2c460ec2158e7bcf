"""Hostile JSON-RPC messages, for every transport: what can be nested, widened, repeated or damaged."""

from __future__ import annotations

import copy
import json
from random import Random

from tests.abuse.arena import call
from tests.fixtures.live import initialize, legacy, modern

MAX_BODY = 4 * 1024 * 1024 - 4096
"""Just below the default limit of a message."""

METHODS = ("tools/call", "tools/list", "server/discover", "initialize", "ping", "completion/complete", "x" * 500, "", "\x00")
SCALARS = (None, True, 0, -1, 2**53 + 1, 10**400, 1e308, "", "\ud800", "\x1b[2J\u202e", "x" * 5000, [], {}, [[]], {"": {}})
MARKER = "@@"


def fill(unit: str, end: str = "", size: int = MAX_BODY) -> bytes:
    """A tool call with one argument of about `size` bytes: a unit repeated, and an end."""
    whole = call("say", text=MARKER).decode()
    return whole.replace(f'"{MARKER}"', unit * (size // len(unit)) + end).encode()


def damage(raw: bytes, random: Random, count: int = 3) -> bytes:
    """Change a few bytes: flip, insert, remove, or repeat a slice."""
    text = bytearray(raw)
    for _ in range(random.randint(1, count)):
        at = random.randrange(len(text))
        changes = {
            "flip": bytes([random.randrange(256)]),
            "insert": bytes([random.randrange(256), text[at]]),
            "remove": b"",
            "repeat": bytes(text[at : at + random.randint(1, 40)]) * 2,
        }
        text[at : at + 1] = random.choice(list(changes.values()))
        if not text:
            return b"\x00"
    return bytes(text)


def odd(random: Random) -> bytes:
    """A request with values of wrong kinds in random places."""
    message = json.loads(random.choice([modern(1, "tools/list"), call("add", a=1, b=2), initialize(), legacy(2, "ping")]))
    for _ in range(random.randint(1, 3)):
        target = random.choice([message, message["params"]])
        target[random.choice(list(target) or ["x"])] = copy.deepcopy(random.choice(SCALARS))
        if not isinstance(message.get("params"), dict):
            break
    if random.random() < 0.3:
        message["method"] = random.choice(METHODS)
    return json.dumps(message).encode()


def deep(random: Random) -> bytes:
    """Brackets up to the size limit."""
    return fill(random.choice(["[", '{"a":', '[{"a":']))


def wide(random: Random) -> bytes:
    """Many tiny values up to the size limit."""
    unit = random.choice(["{},", "[],", "0,", '"",', "1e1,"])
    return fill(unit, "0]").replace(b'"text":', b'"text":[', 1)


def long_number(random: Random) -> bytes:
    """A number with very many digits."""
    return fill(random.choice("123456789"), random.choice(["", "e999999999", ".0"]), random.choice([5000, MAX_BODY]))


def long_name(random: Random) -> bytes:
    """The name of a tool that does not exist, up to the size limit."""
    name = random.choice("a\x1b\u202e") * random.choice([300, MAX_BODY // 8])
    return modern(1, "tools/call", {"name": name, "arguments": {}})


def many_names(random: Random) -> bytes:
    """An object with very many members."""
    start = random.randrange(1000)
    members = ",".join(f'"{number}":0' for number in range(start, start + 250_000))
    return call("say", text=MARKER).replace(f'"{MARKER}"'.encode(), f"{{{members}}}".encode())


def secret_text(random: Random) -> bytes:
    """Text on which a quadratic redaction would take minutes."""
    return call("say", text=random.choice(["token:", "password=", "Bearer ", "-----BEGIN ", "eyJ.", "/srv/", "a@"]) * 60_000)


def capabilities(random: Random) -> bytes:
    """A legacy client with capabilities up to the size limit."""
    return initialize(capabilities={"experimental": {str(n): {} for n in range(random.choice([100, 300_000]))}})
