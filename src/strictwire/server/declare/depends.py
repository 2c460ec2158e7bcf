"""`Depends`: parameters that the server fills in, from functions of the author. Everything is checked at declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin

from strictwire.server.declare.context import NO_LIFESPAN, Context
from strictwire.server.declare.hints import find_mismatch, read_hints
from strictwire.server.declare.refused import Place, name_of, place_of, type_name

Scope: TypeAlias = Literal["call", "server"]


@dataclass(frozen=True, slots=True)
class Depends:
    """Fills in a parameter with the value of a function: `pool: Annotated[Pool, Depends(get_pool)]`.

    The function may be plain or a coroutine function. A generator function, plain or async, yields the value and cleans up
    after its `yield`.
    """

    function: Callable[..., Any]
    _: KW_ONLY
    scope: Scope = "call"
    """`call`: the function runs for each call. `server`: it runs once, when the server starts."""


class Style(Enum):
    """How a function provides its value."""

    PLAIN = auto()
    COROUTINE = auto()
    GENERATOR = auto()
    ASYNC_GENERATOR = auto()


NEEDS_LOOP: Final = frozenset({Style.COROUTINE, Style.ASYNC_GENERATOR})
"""The styles that need the event loop. The others run on a thread."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dependency:
    """A function that provides a value, and what it needs itself."""

    provide: Callable[..., Any]
    """The function. For the generator styles it returns a context manager."""
    style: Style
    scope: Scope
    context: str | None
    """The name of the parameter that receives the Context."""
    needs: Mapping[str, Dependency]
    """What fills in its other parameters, by their names."""
    name: str
    key: object
    """The function and the scope. Dependencies with the same key have the same value in a call, or in a server."""

    def arguments(self, values: Mapping[object, Any], context: Context | None) -> dict[str, Any]:
        """The arguments of the function, from the values that were provided before."""
        given = {name: values[needed.key] for name, needed in self.needs.items()}
        return given if self.context is None else {**given, self.context: context}


def in_order(dependencies: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """The dependencies and those that they need, each once, in the order in which they are provided."""
    found: dict[object, Dependency] = {}

    def visit(each: Dependency) -> None:
        for needed in each.needs.values():
            visit(needed)
        found.setdefault(each.key, each)

    for each in dependencies:
        visit(each)
    return tuple(found.values())


def is_context(hint: Any) -> bool:
    """Whether a parameter receives the Context."""
    return hint is Context or get_origin(hint) is Context


def check_context(hint: Any, lifespan: Any, place: Place) -> None:
    """Check `Context[T]` against the type that the lifespan yields. Raises DeclarationRefused."""
    for wanted in get_args(hint):
        if lifespan is NO_LIFESPAN:
            raise place.refuse(f"is a {_shown(hint)}, but the server has no lifespan; write Server(..., lifespan=...)")
        other = find_mismatch(wanted, lifespan)
        if other is not None:
            raise place.refuse(f"is a {_shown(hint)}, but the lifespan yields {other}; write Context[{other}]")


def _shown(hint: Any) -> str:
    return f"Context[{', '.join(type_name(each) for each in get_args(hint))}]"


def find_depends(parameter: inspect.Parameter, hint: Any, place: Place) -> Depends | None:
    """The Depends of a parameter. Raises DeclarationRefused: it is in the wrong place."""
    if isinstance(parameter.default, Depends):
        raise place.refuse("has Depends(...) as its default; write Annotated[T, Depends(...)] as its type")
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Depends)]
    if any(each is Depends for each in getattr(hint, "__metadata__", ())):
        raise place.refuse("has Depends without a function; write Annotated[T, Depends(function)]")
    if len(found) > 1:
        raise place.refuse("has two Depends; keep one")
    if found and parameter.default is not inspect.Parameter.empty:
        raise place.refuse("has Depends and a default, which would never be used; remove the default")
    return found[0] if found else None


class DependencyReader:
    """Reads the dependencies of one function. `lifespan` is the type that the lifespan yields, or NO_LIFESPAN."""

    def __init__(self, lifespan: Any) -> None:
        self._lifespan = lifespan
        self._open: list[Callable[..., Any]] = []

    def read(self, depends: Depends, hint: Any, place: Place) -> Dependency:
        """The dependency of a parameter. Raises DeclarationRefused."""
        function = depends.function
        if not callable(function):
            raise place.refuse(f"has Depends({function!r}), which is no function; pass the function itself, without ()")
        if depends.scope not in get_args(Scope):
            raise place.refuse(f"has Depends(..., scope={depends.scope!r}); use scope='call' or scope='server'")
        if function in self._open:
            path = " -> ".join(name_of(each) for each in [*self._open[self._open.index(function) :], function])
            raise place.refuse(f"depends on itself: {path}; move what they share into a third function")
        self._open.append(function)
        try:
            made = self._read_function(function, depends.scope)
        finally:
            self._open.pop()
        _check_provided(function, hint, place)
        return made

    def _read_function(self, function: Callable[..., Any], scope: Scope) -> Dependency:
        place = place_of(function)
        hints = read_hints(function)
        context, needs = None, {}
        for name, parameter in inspect.signature(function).parameters.items():
            hint, at = hints.get(name), place.parameter(name)
            depends = find_depends(parameter, hint, at)
            if depends is not None:
                needs[name] = self.read(depends, hint, at)
            elif is_context(hint):
                check_context(hint, self._lifespan, at)
                context = name
            elif parameter.default is inspect.Parameter.empty and parameter.kind not in _OPEN_KINDS:
                raise at.refuse("is not filled in; make it a Context or Annotated[T, Depends(...)], or give it a default")
        if scope == "server":
            _check_server_scope(place, context, needs)
        provide, style = _style_of(function)
        return Dependency(
            provide=provide,
            style=style,
            scope=scope,
            context=context,
            needs=needs,
            name=place.function,
            key=(function, scope),
        )


_OPEN_KINDS: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _check_server_scope(place: Place, context: str | None, needs: Mapping[str, Dependency]) -> None:
    if context is not None:
        raise place.parameter(context).refuse(
            "is a Context, which exists only during a call; use scope='call', or remove the parameter"
        )
    for name, each in needs.items():
        if each.scope == "call":
            raise place.parameter(name).refuse(
                f"depends on {each.name}, which runs for each call, but scope='server' runs once; use scope='server' for "
                f"{each.name}, or scope='call' for {place.function}"
            )


def _style_of(function: Callable[..., Any]) -> tuple[Callable[..., Any], Style]:
    """How a function provides its value. A function decorated with a context manager of contextlib is a generator."""
    inner = inspect.unwrap(function)
    if inspect.isasyncgenfunction(inner):
        return asynccontextmanager(function) if inner is function else function, Style.ASYNC_GENERATOR
    if inspect.isgeneratorfunction(inner):
        return contextmanager(function) if inner is function else function, Style.GENERATOR
    is_coroutine = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    return function, Style.COROUTINE if is_coroutine else Style.PLAIN


def _check_provided(function: Callable[..., Any], hint: Any, place: Place) -> None:
    """Check the type that a function returns or yields against the type of the parameter. Raises DeclarationRefused."""
    wanted = hint.__origin__ if get_origin(hint) is Annotated else hint
    for provided in _provided_types(function):
        other = find_mismatch(wanted, provided)
        if other is not None:
            raise place.refuse(
                f"is a {type_name(wanted)}, but {name_of(function)} provides {other}; correct the type or the function"
            )


def _provided_types(function: Callable[..., Any]) -> Iterator[Any]:
    if isinstance(function, type):
        yield function
        return
    returned = read_hints(function).get("return", Any)
    inner = inspect.unwrap(function)
    if inspect.isasyncgenfunction(inner) or inspect.isgeneratorfunction(inner):
        yield from get_args(returned)[:1]
    else:
        yield returned
