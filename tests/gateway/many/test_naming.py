"""Names between client and upstream, and clashes between two upstreams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.gateway.many.naming import Intrusion, NameClash, Naming, ShownNames, find_clashes, find_owners

FILES = Naming(prefix="fs_", rename={"list": "ls", "fs_odd": "odd"})


@pytest.mark.parametrize(("own", "shown"), [("read", "fs_read"), ("list", "ls"), ("fs_odd", "odd"), ("fs_x", "fs_fs_x")])
def test_clients_see_a_name_with_its_prefix_or_its_new_name(own: str, shown: str) -> None:
    assert FILES.to_client(own) == shown
    assert FILES.to_upstream(shown) == own


@pytest.mark.parametrize("shown", ["read", "fs_list", "fs_fs_odd", "list", "fs_", ""])
def test_a_name_that_clients_do_not_see_has_no_own_name(shown: str) -> None:
    assert FILES.to_upstream(shown) is None


def test_prompts_have_only_the_prefix() -> None:
    assert FILES.for_method("prompts/list").to_client("list") == "fs_list"


@pytest.mark.parametrize(
    ("naming", "plain"), [(Naming(), True), (Naming(prefix="a"), False), (Naming(rename={"a": "b"}), False)]
)
def test_a_naming_without_prefix_and_renames_is_the_identity(naming: Naming, plain: bool) -> None:
    assert naming.is_identity is plain


names = st.text("ab_", min_size=1, max_size=4)


@given(st.text("ab_", max_size=3), st.dictionaries(names, names, max_size=3), names)
def test_names_round_trip_unless_a_new_name_hides_an_old_one(prefix: str, rename: dict[str, str], own: str) -> None:
    naming = Naming(
        prefix=prefix, rename={key: value for key, value in rename.items() if list(rename.values()).count(value) == 1}
    )
    shown = naming.to_client(own)

    assert naming.to_upstream(shown) == own or (shown in naming.rename.values() and own not in naming.rename)


def shown(upstream: str, *names: str, prefix: str = "") -> ShownNames:
    return ShownNames(upstream=upstream, naming=Naming(prefix=prefix), names=names)


NAMINGS = [Naming(), Naming(prefix="good_"), Naming(prefix="good_er_"), Naming(rename={"x": "good_er_x"}), Naming()]


@pytest.mark.parametrize(
    ("name", "owners"),
    [("hello", [0, 3, 4]), ("good_hello", [1]), ("good_", []), ("good_er_y", [2]), ("good_er_x", [3]), ("x", [0, 4])],
)
def test_a_name_belongs_to_the_upstream_with_the_longest_prefix(name: str, owners: list[int]) -> None:
    assert find_owners(name, NAMINGS) == owners


def test_a_name_in_the_namespace_of_another_upstream_is_a_clash() -> None:
    clashes = find_clashes("tool", [shown("bad", "good_hello", "mine"), shown("good", "good_bye", prefix="good_")])

    assert clashes == [Intrusion(kind="tool", name="good_hello", upstream="bad", owners=("good",))]
    assert str(clashes[0]) == (
        "the tool 'good_hello' of upstream 'bad' has a name that is reserved for 'good': "
        'set prefix = "bad_" in [guard.upstreams.bad]'
    )


def test_a_clash_names_both_upstreams_and_a_solution() -> None:
    clashes = find_clashes("tool", [shown("a", "x", "y", "x"), shown("b", "z"), shown("c", "y")])

    assert clashes == [NameClash(kind="tool", name="y", first="a", second="c")]
    assert str(clashes[0]) == (
        "the tool 'y' is offered by two upstreams, 'a' and 'c': set prefix = \"c_\" in [guard.upstreams.c], "
        "or give it another name in its `rename` table: rename = { y = ... }"
    )
