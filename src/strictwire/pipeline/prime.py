"""Taking the first step of a coroutine before anybody waits for it.

Most handlers never wait: their first step is their last, and they need neither a task nor a timer of their own. One that
does wait has its first step kept, and goes on where it stands when it is awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, Final

from strictwire.native import speed


class Primed:
    """A coroutine that did not return in its first step. Await it, once: it goes on, or raises what it raised."""

    __slots__ = ("_coroutine", "_raised", "_wants")

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any] | None, wants: object, raised: BaseException | None = None
    ) -> None:
        self._coroutine = coroutine
        self._wants = wants
        self._raised = raised

    def __await__(self) -> Generator[Any, Any, Any]:
        """Go on from where the first step ended, as `await` on the coroutine itself would."""
        coroutine = self._coroutine
        if self._raised is not None or coroutine is None:
            raise self._raised or RuntimeError("nothing to go on with")
        while True:
            try:
                given = yield self._wants
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as exc:  # noqa: BLE001 - handed on to the coroutine
                step = partial(coroutine.throw, exc)
            else:
                step = partial(coroutine.send, given)
            try:
                self._wants = step()
            except StopIteration as end:
                return end.value


def begin(function: Callable[[Any], Any], argument: Any) -> Any:
    """What a coroutine function returned in its first step, or the Primed rest of it. Raises nothing."""
    coroutine = None
    try:
        coroutine = function(argument)
        return step(coroutine, Primed)
    except BaseException as exc:  # noqa: BLE001 - raised again where it is awaited
        return Primed(coroutine, None, exc)


def step_in_python(coroutine: Any, waits: Callable[[Any, Any], Any]) -> Any:
    """What a coroutine returned in its first step; if it waits for something, what `waits` makes of the two."""
    try:
        wants = coroutine.send(None)
    except StopIteration as end:
        return end.value
    return waits(coroutine, wants)


step: Final[Callable[[Any, Callable[[Any, Any], Any]], Any]] = getattr(speed, "step", step_in_python)
"""`step_in_python`, by whoever is faster."""
