"""Async twins of sync methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from asgiref.sync import sync_to_async

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

END = object()


def async_twin(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """`asave = async_twin(save)`: the same method for async code, run in Django's sync thread as Django's
    own async ORM is. A subclass that overrides the method overrides its twin too."""
    name = method.__name__

    @wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        bound: Callable[P, R] = getattr(self, name)
        return await sync_to_async(bound)(*args, **kwargs)

    twin.__name__ = f"a{name}"
    twin.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.a{name}"
    twin.__doc__ = f"Async twin of :meth:`{name}`."
    return twin


def async_iterator_twin(
    method: Callable[Concatenate[S, P], Iterator[R]],
) -> Callable[Concatenate[S, P], AsyncIterator[R]]:
    """:func:`async_twin` of a method that answers an iterator: for `async for`, where each step runs in
    Django's sync thread. What the method itself raises is raised by the first step."""
    name = method.__name__

    @wraps(method)
    async def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        bound: Callable[P, Iterator[R]] = getattr(self, name)
        iterator = await sync_to_async(bound)(*args, **kwargs)
        # StopIteration cannot leave a coroutine.
        step = sync_to_async(lambda: next(iterator, END))
        while (piece := await step()) is not END:
            yield cast("R", piece)

    twin.__name__ = f"a{name}"
    twin.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.a{name}"
    twin.__doc__ = f"Async twin of :meth:`{name}`."
    return twin
