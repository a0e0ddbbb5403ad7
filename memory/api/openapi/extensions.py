"""What drf-spectacular finds of this app. Importing this module registers it; nothing of the site changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import (
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
    OpenApiViewExtension,
)
from drf_spectacular.plumbing import ResolvedComponent

from memory.api.openapi.structures import component_name, schema_of, without_shared_enum
from memory.api.openapi.texts import text_of

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema
    from drf_spectacular.utils import Direction
    from rest_framework.views import APIView

# The site has components of its own, and tells ours from them by this.
PREFIX = "Memory"


class ViewExtension(OpenApiViewExtension):
    """Our views bring their schema class along, whatever `DEFAULT_SCHEMA_CLASS` the site has."""

    target_class = "memory.api.base.MemoryViewSet"
    match_subclasses = True

    def view_replacement(self) -> type[APIView]:
        from memory.api.openapi.schema import MemorySchema

        view: Any = self.target
        attributes = {"schema": MemorySchema(), "__module__": view.__module__, "__doc__": view.__doc__}
        return type(view.__name__, (view,), attributes)


class SerializerExtension(OpenApiSerializerExtension):
    """Shapes get their names, the words for their fields, and no unknown fields where they are strict."""

    target_class = "memory.api.fields.WireSerializer"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return PREFIX + type(self.target).__name__.removesuffix("Shape")

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        schema.pop("description", None)
        if words := vars(type(self.target)).get("__doc__"):
            schema["description"] = " ".join(words.split())
        for name, nested in schema["properties"].items():
            described = without_shared_enum(nested) | {"description": text_of(self.target, name).words}
            if "$ref" in described:
                described["allOf"] = [{"$ref": described.pop("$ref")}]
            schema["properties"][name] = described
        if self.target.strict:
            schema["additionalProperties"] = False
        return schema


class FieldExtension(OpenApiSerializerFieldExtension):
    """Fields that are read by the checks of the verbs."""

    target_class = "memory.api.fields.CheckedField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema, name = schema_of(self.target), component_name(self.target)
        if name is None:
            return schema
        # By its name: fields and parameters of one structure share a component.
        component = ResolvedComponent(PREFIX + name, ResolvedComponent.SCHEMA, schema, object=name)
        auto_schema.registry.register_on_missing(component)
        return component.ref


class ConfigurationExtension(FieldExtension):
    """The one answer that is described in the same way."""

    target_class = "memory.api.answers.ConfigurationShape"
