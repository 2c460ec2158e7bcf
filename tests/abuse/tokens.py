"""Token timing: whether the time of a refusal tells how much of a token is right."""

from __future__ import annotations

import http.client
import time
from contextlib import closing
from dataclasses import dataclass
from random import Random

from tests.abuse.arena import ATTACKER, Arena, Attack, bearer, call

SAMPLES = 300
"""Requests with each of the two tokens, in random order. The standard error of the statistic is then 0.024."""
MAX_ADVANTAGE = 0.15
"""More than six standard errors, so chance and load do not reach it. 0 is no difference, 0.5 a certain one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Two wrong tokens, in the order in which they are tried. The first is nearer to a right one."""

    near: str
    far: str
    order: tuple[bool, ...]


def guesses(near: str, far: str, random: Random) -> Guesses:
    order = [True] * SAMPLES + [False] * SAMPLES
    random.shuffle(order)
    return Guesses(near=near, far=far, order=tuple(order))


def prefix(random: Random) -> Guesses:
    return guesses(ATTACKER[:-1] + "X", "X" * len(ATTACKER), random)


def length(random: Random) -> Guesses:
    return guesses("X" * len(ATTACKER), "X" * (len(ATTACKER) + 1), random)


def scheme(random: Random) -> Guesses:
    """The right token under a wrong scheme, against a wrong token under the same scheme."""
    return guesses(f"Basic {ATTACKER}", f"Basic {'X' * len(ATTACKER)}", random)


def check(case: Guesses, arena: Arena) -> None:
    """A randomly chosen near guess takes longer than a far one in about half of all pairs."""
    times: dict[bool, list[float]] = {True: [], False: []}
    with closing(http.client.HTTPConnection("127.0.0.1", arena.server.port, timeout=20)) as connection:
        for is_near in case.order:
            times[is_near].append(_seconds(connection, case.near if is_near else case.far))

    advantage = abs(_share_longer(times[True], times[False]) - 0.5)

    assert advantage < MAX_ADVANTAGE, f"advantage {advantage:.2f}"
    arena.check_alive(arena.server)


def _seconds(connection: http.client.HTTPConnection, token: str) -> float:
    body = call("add", a=1, b=2)
    given = token if " " in token else f"Bearer {token}"
    headers = {**bearer(body), "Authorization": given, "Accept": "application/json, text/event-stream"}
    began = time.perf_counter()
    connection.request("POST", "/mcp", body, {**headers, "Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    took = time.perf_counter() - began

    assert response.status == 401
    return took


def _share_longer(some: list[float], others: list[float]) -> float:
    """The share of pairs in which the first is longer: the Mann-Whitney statistic."""
    return sum((one > other) + (one == other) / 2 for one in some for other in others) / (len(some) * len(others))


ATTACK = Attack(name="tokens", kinds={"prefix": prefix, "length": length, "scheme": scheme}, check=check)
