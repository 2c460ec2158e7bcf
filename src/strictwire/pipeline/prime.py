"""Taking the first step of a coroutine before anybody waits for it.

Most handlers never wait: their first step is their last, and they need neither a task nor a timer of their own. One that
does wait has its first step kept, and goes on where it stands when it is awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final


class _Waiting:
    """Not a value: the coroutine waits for something."""


WAITING: Final = _Waiting()


class Primed:
    """A coroutine whose first step is taken. `returned` is what it returned, or WAITING: then await it, once."""

    __slots__ = ("_coroutine", "_raised", "_wants", "returned")

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._raised: BaseException | None = None
        self.returned: Any = WAITING
        try:
            self._coroutine = function(*arguments)
            self._wants = self._coroutine.send(None)
        except StopIteration as end:
            self.returned = end.value
        except BaseException as exc:  # noqa: BLE001 - raised again where it is awaited
            self._raised = exc

    def __await__(self) -> Generator[Any, Any, Any]:
        """Go on from where the first step ended, as `await` on the coroutine itself would."""
        if self._raised is not None:
            raise self._raised
        coroutine = self._coroutine
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
