"""A vector column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

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

    description = _("Vector")

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "vector" if connection.vendor == "postgresql" else "BLOB"

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> str | bytes | None:
        if value is None or isinstance(value, bytes):
            return value
        array = np.asarray(self.to_python(value), dtype=FLOAT32)
        if is_zero(array):
            return None
        return vector_text(array) if connection.vendor == "postgresql" else array.tobytes()

    def to_python(self, value: Any) -> Any:
        """A vector from text: as pgvector writes it, and as fixtures hold it."""
        if not isinstance(value, str):
            return value
        try:
            return [float(number) for number in value.strip("[]").split(",")]
        except ValueError as error:
            raise ValidationError(_("A vector is a list of numbers in brackets.")) from error

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)

    def from_db_value(
        self, value: Any, expression: Any, connection: BaseDatabaseWrapper
    ) -> list[float] | None:
        if value is None:
            return None
        if isinstance(value, str):
            value = self.to_python(value)
        elif isinstance(value, bytes | memoryview):
            value = np.frombuffer(value, dtype=FLOAT32).tolist()
        # Another app has registered pgvector's own adapter on this connection.
        return list(map(float, value.to_list() if hasattr(value, "to_list") else value))


def unit(vector: Vector) -> npt.NDArray[np.float32]:
    """`vector` scaled to length 1, in which the databases compute alike; a zero vector stays one."""
    array = np.asarray(vector, dtype=np.float64)
    length = np.linalg.norm(array)
    return (array / length if length else array).astype(FLOAT32)


def vector_text(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    from pgvector import Vector

    return Vector(np.asarray(vector, dtype=FLOAT32)).to_text()


def is_zero(vector: Vector) -> bool:
    """A vector without a direction, in the precision in which it would be stored."""
    return not np.asarray(vector, dtype=FLOAT32).any()
