"""The store of tasks in memory: what it keeps, what it refuses, and what it forgets."""

from __future__ import annotations

import asyncio

from msgspec import structs

from strictwire.profiles.mcp.task_store import MemoryTaskStore, Status, TaskEntry, TaskLimits


def entry(task_id: str, principal: str = "ann", *, created_ms: int = 0, reserved: int = 10) -> TaskEntry:
    return TaskEntry(
        id=task_id,
        principal=principal,
        status=Status.WORKING,
        created_ms=created_ms,
        updated_ms=created_ms,
        ttl_ms=1000,
        poll_ms=100,
        reserved_bytes=reserved,
    )


def test_a_task_is_kept_as_it_was_saved_last_until_its_time_is_up() -> None:
    async def main() -> None:
        store, first = MemoryTaskStore(), entry("a")
        ended = structs.replace(first, status=Status.COMPLETED, result=b"{}")
        assert await store.add(first)
        await store.save(ended)
        assert (await store.expire(999), await store.find("a")) == ([], ended)
        assert (await store.expire(1000), await store.find("a")) == (["a"], None)

    asyncio.run(main())


def test_saving_a_task_that_has_expired_does_not_bring_it_back() -> None:
    async def main() -> None:
        store = MemoryTaskStore()
        await store.add(entry("a"))
        await store.expire(1000)
        await store.save(entry("a"))
        assert await store.find("a") is None

    asyncio.run(main())


def test_a_limit_is_reached_exactly_and_freed_by_expiry() -> None:
    async def main() -> None:
        store = MemoryTaskStore(TaskLimits(total=3, per_principal=2, result_bytes=35))
        assert [await store.add(entry("a")), await store.add(entry("b"))] == [True, True]
        assert not await store.add(entry("c"))  # of one principal
        assert not await store.add(entry("c", "bob", reserved=16))  # bytes
        assert await store.add(entry("c", "bob", created_ms=500, reserved=15))
        assert not await store.add(entry("d", "eve", reserved=0))  # in all
        assert sorted(await store.expire(1000)) == ["a", "b"]
        assert [await store.add(entry("e")), await store.add(entry("f"))] == [True, True]

    asyncio.run(main())
