"""When garbage is collected: never while a big tree grows, often while many specs are read."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: How many objects more than are freed make a collection due, then how many of these a larger one.
_FEW_OBJECTS = (20_000, 5, 5)


def settle() -> None:
    """Sets the garbage collector to collect early, so that memory stays level from here on."""
    gc.set_threshold(*_FEW_OBJECTS)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Turns the garbage collector off inside the `with` block: while a big tree grows it would walk
    it over and over, and find nothing to free."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
