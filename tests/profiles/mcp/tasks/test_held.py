"""The memory of running tasks is counted by principal."""

from __future__ import annotations

from strictwire.profiles.mcp.tasks.held import VALUE_BYTES, HeldLimits, HeldRequests, memory_of


def test_no_principal_takes_the_share_of_all_others() -> None:
    held = HeldRequests(HeldLimits(total=10, per_principal=6))

    taken = [held.take("ann", 6), held.take("ann", 1), held.take("bob", 4), held.take("eve", 1)]
    held.release("ann", 6)

    assert taken == [True, False, True, False]
    assert (held.take("eve", 6), held.take("ann", 1)) == (True, False)


def test_values_count_beside_bytes() -> None:
    assert memory_of(b'{"a,[":[1,2,3]}') == 15 + VALUE_BYTES * 5
