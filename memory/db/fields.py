"""A vector column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from django.db import models

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    _Field = models.Field[Any, Any]
else:
    _Field = models.Field

Vector: TypeAlias = Sequence[float] | npt.NDArray[np.float32]

# Little-endian single precision: what a BLOB holds off PostgreSQL, whatever machine wrote it.
FLOAT32 = np.dtype("<f4")


class VectorField(_Field):
    """A vector of any length: `vector` of pgvector on PostgreSQL, a BLOB of float32 elsewhere.

    Without a length in the type, vectors of several models stand in one table. A zero vector, which
    points nowhere, is stored as NULL: no comparison finds it.
    """

    description = "Vector"

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "vector" if connection.vendor == "postgresql" else "BLOB"

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> str | bytes | None:
        if value is None or isinstance(value, str | bytes):
            return value
        array = np.asarray(value, dtype=FLOAT32)
        if is_zero(array):
            return None
        return vector_text(array) if connection.vendor == "postgresql" else array.tobytes()

    def from_db_value(
        self, value: Any, expression: Any, connection: BaseDatabaseWrapper
    ) -> list[float] | None:
        if value is None:
            return None
        if isinstance(value, str):
            return [float(number) for number in value[1:-1].split(",")]
        if isinstance(value, bytes | memoryview):
            numbers: list[float] = np.frombuffer(value, dtype=FLOAT32).tolist()
            return numbers
        # Another app has registered pgvector's own adapter on this connection.
        return list(map(float, value.to_list() if hasattr(value, "to_list") else value))


def vector_text(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    from pgvector import Vector

    return Vector(np.asarray(vector, dtype=FLOAT32)).to_text()


def is_zero(vector: Vector) -> bool:
    """A vector without a direction, in the precision in which it would be stored."""
    return not np.asarray(vector, dtype=FLOAT32).any()
