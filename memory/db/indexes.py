"""Indexes that exist on PostgreSQL only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.db import models
from django.db.backends.ddl_references import Statement

if TYPE_CHECKING:
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class ContainmentIndex(models.Index):
    """GIN index with `jsonb_path_ops` over one JSON field: what `metadata @> ...` uses.

    Elsewhere it is a comment in the SQL: no index there helps a containment test, and Django's own
    GinIndex would leave a B-tree over the JSON text.
    """

    def __init__(self, *, fields: list[str], name: str) -> None:
        super().__init__(fields=fields, name=name, opclasses=["jsonb_path_ops"])

    def deconstruct(self) -> tuple[str, Any, dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        return path, args, {"fields": kwargs["fields"], "name": kwargs["name"]}

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Statement:
        if schema_editor.connection.vendor != "postgresql":
            return Statement(f"-- {self.name} exists on PostgreSQL only")
        return super().create_sql(model, schema_editor, using=" USING gin", **kwargs)

    def remove_sql(  # type: ignore[override]
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor, **kwargs: Any
    ) -> Statement:
        if schema_editor.connection.vendor != "postgresql":
            return Statement(f"-- {self.name} exists on PostgreSQL only")
        return cast("Statement", super().remove_sql(model, schema_editor, **kwargs))
