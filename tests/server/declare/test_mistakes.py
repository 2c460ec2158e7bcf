"""Every mistake of an author is refused when the function is declared. The message names function, parameter and remedy."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import functools
import inspect
import pathlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, make_dataclass
from typing import IO, Annotated, Any

import annotated_types
import msgspec
import pydantic
import pytest
from mcp.server.mcpserver import Context as ForeignContext

from strictwire import Caps, Context, Depends, Image, Server, TaskPolicy
from strictwire.server.declare.refused import DeclarationRefused


class Unknown:
    """Metadata that no library defines."""


class Opaque:
    """A class without fields."""


class NeedsPackage:
    """A type whose validation needs a package that is not installed, as EmailStr does."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        raise ImportError("email-validator is not installed, run `pip install 'pydantic[email]'`")


@dataclass
class Data:
    number: int


class Struct(msgspec.Struct):
    opaque: Opaque


def read(source: IO[bytes]) -> str: ...
def read_many(sources: list[IO[bytes]]) -> str: ...
def call_back(done: Callable[[int], int]) -> str: ...
def impedance(z: complex) -> str: ...
def find(pattern: re.Pattern[str]) -> str: ...
def queue(jobs: collections.deque[int]) -> str: ...
def samples(values: array.array) -> str: ...
def opaque(value: Opaque) -> str: ...
def in_struct(value: Struct) -> str: ...
def float_keys(values: dict[float, str]) -> str: ...
def needs_package(address: NeedsPackage) -> str: ...
def untyped(a, b: int) -> str: ...  # type: ignore[no-untyped-def]
def no_context(ctx, a: int) -> str: ...  # type: ignore[no-untyped-def]


def method(self, a: int) -> str: ...  # type: ignore[no-untyped-def]


def foreign(a: int, ctx: ForeignContext[Any, Any]) -> str: ...


def optional(a: int, ctx: Context | None = None) -> str: ...


def many(*values: int) -> str: ...
def named(**values: int) -> str: ...
def positional(a: int, /) -> str: ...
def nowhere(a: Nowhere) -> str: ...  # type: ignore[name-defined]  # noqa: F821
def unknown_metadata(a: Annotated[int, Unknown()]) -> str: ...
def unknown_metadata_inside(a: list[Annotated[int, Unknown()]]) -> str: ...
def wrong_constraint(a: Annotated[int, msgspec.Meta(min_length=1)]) -> str: ...
def bounded_text(a: str = pydantic.Field("x", ge=1)) -> str: ...
def bounded_part(a: list[Annotated[str | None, pydantic.Field(lt=5)]]) -> str: ...
def bounded_union(a: Annotated[int | str, pydantic.Field(ge=1)]) -> str: ...
def long_number(a: Annotated[decimal.Decimal, pydantic.Field(max_length=3)]) -> str: ...
def number_pattern(a: int = pydantic.Field(pattern="a")) -> str: ...
def multiple_text(a: Annotated[str, annotated_types.MultipleOf(2)]) -> str: ...
def bounded_flag(a: Annotated[bool, pydantic.Field(ge=1)]) -> str: ...
def bounded_list(a: Annotated[list[int], pydantic.Field(ge=1)]) -> str: ...
def bounded_date(a: Annotated[dt.date, pydantic.Field(ge=1)]) -> str: ...
def wrong_default(limit: int = "ten") -> str: ...  # type: ignore[assignment]
def none_default(limit: int = None) -> str: ...  # type: ignore[assignment]  # noqa: RUF013
def low_default(limit: Annotated[int, pydantic.Field(ge=1)] = 0) -> str: ...
def low_field_default(limit: int = pydantic.Field(default=0, ge=1)) -> str: ...
def not_json_default(limit: Any = Opaque()) -> str: ...  # noqa: B008
def bytes_result() -> bytes: ...
def opaque_result() -> Opaque: ...
def mixed_result() -> tuple[Data, Image]: ...
def decimal_result(a: Annotated[decimal.Decimal, msgspec.Meta(ge=1)]) -> str: ...


def steps() -> Iterator[int]:
    yield 1


async def async_steps() -> AsyncIterator[int]:
    yield 1


TYPES: list[tuple[Callable[..., Any], str]] = [
    (read, "read(): parameter 'source' has type typing.IO[bytes], which has no JSON Schema; use str or bytes"),
    (
        read_many,
        "read_many(): parameter 'sources' has type list[typing.IO[bytes]], which has no JSON Schema; use str or bytes",
    ),
    (
        call_back,
        "call_back(): parameter 'done' has type collections.abc.Callable[[int], int], which has no JSON Schema; use a",
    ),
    (impedance, "impedance(): parameter 'z' has type complex, which has no JSON Schema; use tuple[float, float]"),
    (find, "find(): parameter 'pattern' has type re.Pattern[str], which has no JSON Schema; use str"),
    (queue, "queue(): parameter 'jobs' has type collections.deque[int], which has no JSON Schema; use list"),
    (samples, "samples(): parameter 'values' has type array, which has no JSON Schema; use list"),
    (opaque, "opaque(): parameter 'value' has type Opaque, which has no JSON Schema; use str, int, float"),
    (in_struct, "in_struct(): parameter 'value' has type Struct, which has"),
    (
        float_keys,
        "float_keys(): parameter 'values' has type dict[float, str], which has keys that JSON cannot represent; use",
    ),
    (needs_package, "which needs another package: email-validator is not installed, run `pip install 'pydantic[email]'`"),
    (untyped, "untyped(): parameter 'a' has no type hint; add one"),
    (no_context, "no_context(): parameter 'ctx' has no type hint; write `ctx: Context`"),
    (method, "method(): parameter 'self' has no type hint; declare the method of an object, as in `server.tool(shop.find)`"),
    (foreign, "foreign(): parameter 'ctx' is a Context of mcp; write `from strictwire import Context`"),
    (optional, "optional(): parameter 'ctx' is optional, but every call has a Context; write `ctx: Context`"),
    (many, "many(): parameter 'values' is *args, **kwargs or positional-only; use a parameter that can be passed by name"),
    (named, "named(): parameter 'values' is *args, **kwargs or positional-only; use"),
    (positional, "positional(): parameter 'a' is *args, **kwargs or positional-only; use"),
    (nowhere, "nowhere(): its type hints cannot be resolved (name 'Nowhere' is not defined); use"),
    (
        unknown_metadata,
        (
            "unknown_metadata(): parameter 'a' has type typing.Annotated[int, UNKNOWN], which has metadata of class "
            "MODULE.Unknown, which is not understood; use msgspec.Meta, annotated_types or pydantic.Field, or remove it"
        ),
    ),
    (unknown_metadata_inside, "which has metadata of class MODULE.Unknown, which is not understood; use msgspec.Meta"),
    (wrong_constraint, "wrong_constraint(): parameter 'a' has type"),
    (
        bounded_text,
        "which has ge, which applies to numbers and dates only; use min_length, max_length, pattern for str, or change",
    ),
    (bounded_part, "bounded_part(): parameter 'a' has type list["),
    (bounded_union, "which has ge, which applies to numbers and dates only; use min_length, max_length, pattern for str"),
    (long_number, "which has max_length, which applies to text and collections only; use ge, gt, le, lt, multiple_of for"),
    (number_pattern, "which has pattern, which applies to str only; use ge, gt, le, lt, multiple_of for int, or change"),
    (multiple_text, "which has multiple_of, which applies to numbers only; use min_length, max_length, pattern for str"),
    (bounded_flag, "which has ge, which applies to numbers and dates only; remove it, or change the type"),
    (bounded_list, "which has ge, which applies to numbers and dates only; use min_length, max_length for list[int], or"),
    (bounded_date, "which is refused by pydantic: ValueError: 'ge' must be coercible to a date instance"),
    (wrong_default, "parameter 'limit' has the default 'ten', which does not fit its type; correct the default or the type"),
    (none_default, "parameter 'limit' has the default None, which does not fit its type; write `| None` in the type"),
    (low_default, "low_default(): parameter 'limit' has the default 0, which does not fit its type; correct"),
    (low_field_default, "low_field_default(): parameter 'limit' has the default 0, which does not fit its type; correct"),
    (not_json_default, "not_json_default(): parameter 'limit' has the default OPAQUE, which is not JSON; use None"),
    (
        bytes_result,
        "bytes_result(): the result has bytes, which JSON cannot represent; return Image, Audio, Embedded",
    ),
    (opaque_result, "opaque_result(): the result has type Opaque, which has no JSON Schema; use str"),
    (mixed_result, "mixed_result(): the result mixes content such as Image with other values; return Result[T]"),
    (decimal_result, "decimal_result(): parameter 'a' has type"),
    (steps, "steps(): it is a generator, but a call has one result; return a list, and report steps with Context.progress"),
    (async_steps, "async_steps(): it is a generator, but a call has one result; return a list"),
]


def refused(declare: Callable[[Server], object]) -> str:
    """The message of the refusal, without what depends on the machine."""
    with pytest.raises(DeclarationRefused) as caught:
        declare(Server("s", version="1.0.0"))
    text = str(caught.value).replace(__name__, "MODULE")
    text = re.sub(r"<MODULE\.Unknown object at 0x[0-9a-f]+>", "UNKNOWN", text)
    return re.sub(r"<MODULE\.Opaque object at 0x[0-9a-f]+>", "OPAQUE", text)


@pytest.mark.parametrize(("function", "message"), TYPES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_type_that_cannot_be_a_contract_is_refused(function: Callable[..., Any], message: str) -> None:
    text = refused(lambda server: server.tool(function))

    assert message in text
    assert text.startswith(f"{function.__name__}(): ")


def fine(a: int = 1) -> str:
    return str(a)


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"task": "sometimes"}, "fine(): task='sometimes' is unknown; use one of never, optional, required, or a TaskPolicy"),
    ({"task": True}, "fine(): task=True is unknown; use one of never, optional, required, or a TaskPolicy"),
    ({"task": "require"}, "fine(): task='require' is unknown; did you mean 'required'?"),
    ({"task": TaskPolicy(timeout_ms=0)}, "fine(): task has timeout_ms=0; use a number above 0"),
    ({"task": TaskPolicy(result_bytes=2**40)}, "fine(): task has result_bytes=1099511627776; use at most 89478485"),
    ({"task": TaskPolicy(start="later")}, "fine(): task has start='later'; use 'call' or 'handler'"),  # type: ignore[arg-type]
    ({"dialect": "mpc"}, "fine(): dialect='mpc' is unknown; did you mean 'mcp'?"),
    ({"dialect": "canonical"}, "fine(): dialect='canonical' is unknown; use one of mcp, resolve/v0, system/1.0, mcp/v1"),
    ({"tier": "cor"}, "fine(): tier='cor' is unknown; did you mean 'core'?"),
    ({"needs": ["elicit"]}, "fine(): needs='elicit' is unknown; did you mean 'elicitation'?"),
    ({"caps": Caps(timeout_ms="2s")}, "fine(): caps has timeout_ms='2s'; use a whole number above 0"),  # type: ignore[arg-type]
    ({"caps": Caps(concurrency=0)}, "fine(): caps has concurrency=0; use a whole number above 0"),
    ({"caps": {"timeout_ms": 5}}, "fine(): caps={'timeout_ms': 5} is no Caps; write caps=Caps(timeout_ms=2_000)"),
    ({"safty": "read-only"}, "fine(): @server.tool has no option 'safty'; did you mean 'safety'?"),
    ({"safety": "harmless"}, "fine(): safety 'harmless' is unknown; use one of read-only, mutating"),
    ({"safety": "destructive", "annotations": {"readOnlyHint": True}}, "fine(): safety is destructive, but readOnlyHint is"),
    ({"annotations": {"destructiveHint": True}}, "fine(): destructiveHint is given without readOnlyHint; add readOnlyHint"),
    ({"annotations": {"readOnly": True}}, "fine(): annotation 'readOnly' is unknown; did you mean 'readOnlyHint'?"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=str)
def test_an_unknown_option_or_value_is_refused(options: dict[str, Any], message: str) -> None:
    assert message in refused(lambda server: server.tool(**options)(fine))


def test_a_tool_with_a_schema_takes_one_dict() -> None:
    def two(a: int, b: int, c: int) -> str: ...

    text = refused(lambda server: server.tool(input_schema={"type": "object"})(two))

    assert text == (
        "two(): it has 3 parameters, but with `input_schema` it takes the arguments as one dict, and a Context if it has a "
        "second parameter"
    )


def test_two_classes_of_one_name_are_refused() -> None:
    one, two = (
        make_dataclass("Item", [(field, pathlib.Path)], namespace={"__module__": __name__}) for field in ("first", "second")
    )

    def take(a: Any, b: Any) -> None: ...

    take.__annotations__ = {"a": one, "b": two}

    assert "take(): it needs two different definitions named 'Item'; rename one of the classes" in refused(
        lambda server: server.tool(take)
    )


def test_a_callable_without_a_name_needs_one() -> None:
    unnamed = functools.partial(fine, 1)

    assert "it has no name; write @server.tool(name=...)" in refused(lambda server: server.tool(unnamed))


def test_a_decorator_without_parentheses_works_and_one_with_a_name_says_what_to_write() -> None:
    server = Server("s", version="1.0.0")
    assert server.tool(fine) is fine
    assert server.prompt(fine) is fine

    assert list(server.catalog.offers.registry.tools) == ["fine"]
    assert "'fine' is not a function; write @server.tool(name=...)" in refused(lambda other: other.tool("fine"))  # type: ignore[call-overload]
    assert "fine(): @server.resource needs the URI" in refused(lambda other: other.resource(fine))  # type: ignore[arg-type]


def note(id: int) -> str: ...  # noqa: A002
def page(number: int, q: str) -> str: ...
def listed(id: list[int]) -> str: ...  # noqa: A002
def two(id: int, other: str = "") -> str: ...  # noqa: A002


RESOURCES: list[tuple[str, Callable[..., Any], str]] = [
    ("notes://{id*}", note, "note(): the URI template {id*} is not supported; use {+name} for a path of several segments"),
    ("notes://{id:3}", note, "note(): the URI template {id:3} is not supported; use {name} and check the length"),
    ("notes://{#id}", note, "note(): the URI template {#id} is not supported; use {name}, {+name}, {?name} or {&name}"),
    ("notes://{id", note, "note(): the URI template 'notes://{id' has a brace that is not part of an expression"),
    ("notes://{id}/{id}", note, "note(): the URI template 'notes://{id}/{id}' has {id} twice"),
    ("notes://{?id}/x", note, "note(): the URI template 'notes://{?id}/x' continues after {?...}; put the query at the end"),
    (
        "notes://{a,b}",
        note,
        "note(): the URI template {a,b} is not supported; write one expression for each variable",
    ),
    ("notes://{other}", note, "note(): it has no parameter for {other} of 'notes://{other}'; add other: str"),
    ("notes://{id}", two, "two(): parameter 'other' is not in 'notes://{id}'; add {other} to the URI, or remove"),
    (
        "notes://{number}{?q}",
        page,
        "page(): parameter 'q' comes from the query, which a URI may leave out; give it",
    ),
    ("notes://{id}", listed, "listed(): parameter 'id' is not a simple value, but a URI holds text; use str, int"),
]


@pytest.mark.parametrize(("uri", "function", "message"), RESOURCES, ids=[each[0] for each in RESOURCES])
def test_a_resource_that_would_never_be_read_is_refused(uri: str, function: Callable[..., Any], message: str) -> None:
    assert message in refused(lambda server: server.resource(uri)(function))


def test_a_completion_function_with_other_parameters_is_refused() -> None:
    assert "fine(): a completion function takes three parameters" in refused(lambda server: server.completion(fine))


class Pool:
    """A type that dependencies provide."""


def get_pool() -> Pool: ...
async def get_text() -> str: ...
def get_context(ctx: Context) -> Pool: ...
def get_named(name: str) -> Pool: ...
def get_first(second: Annotated[Pool, Depends(lambda: None)]) -> Pool: ...
def get_cyclic(other: Annotated[Pool, Depends(lambda: None)]) -> Pool: ...


get_first.__annotations__["second"] = Annotated[Pool, Depends(get_cyclic)]
get_cyclic.__annotations__["other"] = Annotated[Pool, Depends(get_first)]


def takes(hint: Any, default: Any = inspect.Parameter.empty) -> Callable[..., Any]:
    """A tool `use` with one parameter `pool` of this type."""

    def use(pool: Any) -> str: ...
    def use_default(pool: Any = default) -> str: ...

    chosen = use if default is inspect.Parameter.empty else use_default
    chosen.__name__, chosen.__annotations__ = "use", {"pool": hint, "return": str}
    return chosen


def takes_scoped(pool: Annotated[Pool, Depends(get_pool)]) -> Pool: ...


DEPENDENCIES: list[tuple[Callable[..., Any], str]] = [
    (
        takes(Pool, Depends(get_pool)),
        "use(): parameter 'pool' has Depends(...) as its default; write Annotated[T, Depends(...)] as its type",
    ),
    (
        takes(Annotated[Pool, Depends]),
        "use(): parameter 'pool' has Depends without a function; write Annotated[T, Depends(function)]",
    ),
    (
        takes(Annotated[Pool, Depends(get_pool)], None),
        "use(): parameter 'pool' has Depends and a default, which would never be used; remove the default",
    ),
    (takes(Annotated[Pool, Depends(get_pool), Depends(get_pool)]), "use(): parameter 'pool' has two Depends; keep one"),
    (
        takes(Annotated[Pool, Depends("get_pool")]),  # type: ignore[arg-type]
        "use(): parameter 'pool' has Depends('get_pool'), which is no function; pass the function itself, without ()",
    ),
    (
        takes(Annotated[Pool, Depends(get_pool, scope="session")]),  # type: ignore[arg-type]
        "use(): parameter 'pool' has Depends(..., scope='session'); use scope='call' or scope='server'",
    ),
    (
        takes(Annotated[Pool, Depends(get_text)]),
        "use(): parameter 'pool' is a Pool, but get_text() provides str; correct the type or the function",
    ),
    (
        takes(Annotated[Pool, Depends(get_named)]),
        "get_named(): parameter 'name' is not filled in; make it a Context or Annotated[T, Depends(...)], or",
    ),
    (
        takes(Annotated[Pool, Depends(get_first)]),
        "depends on itself: get_first() -> get_cyclic() -> get_first(); move what they share into a third function",
    ),
    (
        takes(Annotated[Pool, Depends(get_context, scope="server")]),
        "get_context(): parameter 'ctx' is a Context, which exists only during a call; use scope='call', or remove",
    ),
    (
        takes(Annotated[Pool, Depends(takes_scoped, scope="server")]),
        (
            "takes_scoped(): parameter 'pool' depends on get_pool(), which runs for each call, but scope='server' runs "
            "once; use scope='server' for get_pool(), or scope='call' for takes_scoped()"
        ),
    ),
    (
        takes(Context[Pool]),
        "use(): parameter 'pool' is a Context[Pool], but the server has no lifespan; write Server(..., lifespan=...)",
    ),
    (takes(list[Annotated[Pool, Depends(get_pool)]]), "use(): parameter 'pool' has type list["),
]


@pytest.mark.parametrize(("function", "message"), DEPENDENCIES, ids=[each[1][:50] for each in DEPENDENCIES])
def test_a_dependency_that_cannot_be_provided_is_refused(function: Callable[..., Any], message: str) -> None:
    assert message in refused(lambda server: server.tool(function))


async def yields_pool(server: Server) -> AsyncIterator[Pool]:
    yield Pool()


async def no_yield(server: Server) -> Pool: ...
def not_async(server: Server) -> Iterator[Pool]: ...


async def no_server() -> AsyncIterator[Pool]:
    yield Pool()


LIFESPANS: list[tuple[Any, str]] = [
    (no_yield, "no_yield(): is no lifespan; write `async def lifespan(server)` with one `yield`"),
    (not_async, "not_async(): is no lifespan; write `async def lifespan(server)` with one `yield`"),
    (no_server, "no_server(): a lifespan takes one parameter, the server; add or remove parameters"),
    (5, "5: is no lifespan; pass an async function of the server that yields once"),
]


@pytest.mark.parametrize(("lifespan", "message"), LIFESPANS)
def test_a_function_that_cannot_be_a_lifespan_is_refused(lifespan: Any, message: str) -> None:
    with pytest.raises(DeclarationRefused) as caught:
        Server("s", version="1.0.0", lifespan=lifespan)

    assert str(caught.value) == message


def test_a_context_of_another_type_than_the_lifespan_yields_is_refused() -> None:
    server = Server("s", version="1.0.0", lifespan=yields_pool)
    server.tool(name="same")(takes(Context[Pool]))
    server.tool(name="above")(takes(Context[object]))

    with pytest.raises(DeclarationRefused) as caught:
        server.tool(takes(Context[Opaque]))

    assert str(caught.value) == (
        "use(): parameter 'pool' is a Context[Opaque], but the lifespan yields Pool; write Context[Pool]"
    )


def as_text() -> str: ...


def as_object() -> dict[str, int]: ...


def as_count() -> int: ...


NOT_RESOURCES: list[tuple[str, Callable[..., Any], str]] = [
    ("notes/all", as_text, "as_text(): the URI 'notes/all' has no scheme; write a URI such as 'notes://notes/all'"),
    ("notes://a", as_object, "as_object(): the result has type dict[str, int], but a resource is text or bytes; return str"),
    ("notes://a", as_count, "as_count(): the result has type int, but a resource is text or bytes; return str"),
]


@pytest.mark.parametrize(("uri", "function", "message"), NOT_RESOURCES)
def test_a_resource_that_no_client_can_use_is_refused(uri: str, function: Callable[..., Any], message: str) -> None:
    assert message in refused(lambda server: server.resource(uri)(function))
