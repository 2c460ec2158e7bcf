"""Calls that are put off: at the end of what came together, in order, and none is lost."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.pipeline.soon import soon_of


def test_calls_come_at_the_end_of_what_came_together_and_otherwise_in_the_next_turn() -> None:
    async def main() -> None:
        soon, seen = soon_of(asyncio.get_running_loop()), []
        with soon:
            soon.call(lambda: seen.append("first"))
            soon.call(lambda: soon.call(lambda: seen.append("put off by the second")))
            soon.call(lambda: seen.append("third"))
            assert seen == []
        assert seen == ["first", "third", "put off by the second"]
        soon.call(lambda: seen.append("later"))
        assert len(seen) == 3
        await asyncio.sleep(0)

        assert seen[3:] == ["later"]

    asyncio.run(main())


def test_inside_another_block_calls_wait_for_the_end_of_that() -> None:
    async def main() -> list[str]:
        soon, seen = soon_of(asyncio.get_running_loop()), []

        def again() -> None:
            with soon:
                soon.call(lambda: seen.append("third"))
            seen.append("second")

        with soon:
            with soon:
                soon.call(lambda: seen.append("first"))
            soon.call(again)
            assert seen == []
        return seen

    assert asyncio.run(main()) == ["first", "second", "third"]


def test_a_call_that_fails_takes_no_other_with_it() -> None:
    async def main() -> list[int]:
        soon, seen = soon_of(asyncio.get_running_loop()), []

        def together() -> None:
            with soon:
                soon.call(lambda: seen.append(1))
                soon.call(lambda: 1 / 0)
                soon.call(lambda: seen.append(2))

        with pytest.raises(ZeroDivisionError):
            together()
        await asyncio.sleep(0)
        return seen

    assert asyncio.run(main()) == [1, 2]


def test_there_is_one_for_each_event_loop() -> None:
    async def main() -> tuple[object, object]:
        return soon_of(asyncio.get_running_loop()), soon_of(asyncio.get_running_loop())

    (one, same), (other, _) = asyncio.run(main()), asyncio.run(main())

    assert one is same
    assert one is not other
