"""One operation of the schema, from its declaration."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import uritemplate
from drf_spectacular.openapi import AutoSchema

from memory.api.fields import IdField, WireSerializer
from memory.api.openapi.failures import ErrorShape, failures, responses
from memory.api.openapi.texts import example_of, text_of
from memory.api.parameters import IncludeParameter, JSONParameter
from memory.api.transport import MEDIA_TYPE
from memory.validation import camel_case

if TYPE_CHECKING:
    from drf_spectacular.plumbing import ComponentRegistry

    from memory.api.operations import Operation

# Where the client library reaches some routes by a second path (`memory.api.urls`).
MIRROR = re.compile(r"memory/network/")
BRACKETS = " One level deep also as `{}[key]=value`, where every value is a string."
STANDARD = ("list", "create", "retrieve", "partial_update", "destroy")
MIRRORED = "The same as without `network/`: the client library reaches this route by two paths."


class PathParameters(WireSerializer):
    """What stands in paths."""

    thread_id = IdField()


class MemorySchema(AutoSchema):
    """Describes a view of this app by the :class:`~memory.api.operations.Operation` of its method."""

    view: Any

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, Any] | None:
        self.path, self.path_regex, self.path_prefix = path, path_regex, path_prefix
        self.method, self.registry = method.upper(), registry
        declared: Operation | None = getattr(self._handler(), "operation", None)
        if declared is None:
            return None
        summary, description = self._words()
        found: dict[str, Any] = {
            "operationId": self.get_operation_id(),
            "summary": summary,
            **({"description": description} if description else {}),
            "tags": self.get_tags(),
            "parameters": self._parameters(declared),
        }
        if declared.body is not None:
            found["requestBody"] = {
                "required": not declared.body_optional,
                "content": {MEDIA_TYPE: self._content(declared.body, "request")},
            }
        found["security"] = self.get_auth()
        found["responses"] = self._responses(declared)
        return found

    def get_operation_id(self) -> str:
        """The name of the route, and what is done where it can be more than one thing."""
        parts = ["memory", self.view.basename.replace("-", "_")]
        if self._is_mirror():
            parts.insert(1, "network")
        if self.view.action not in STANDARD or len(self.view.action_map.keys() - {"head"}) > 1:
            parts.append(self.view.action)
        return "_".join(parts)

    def get_tags(self) -> list[str]:
        """The module of the view; mirrors stand apart."""
        name = self.view.__class__.__module__.rpartition(".")[2]
        return ["memory: network" if self._is_mirror() else f"memory: {name.replace('_', ' ')}"]

    def _is_mirror(self) -> bool:
        return MIRROR.search(self.path_regex) is not None

    def _handler(self) -> Any:
        return getattr(self.view, self.view.action, None)

    def _words(self) -> tuple[str, str]:
        """The summary and the description, from what is written above the method and its view."""
        summary, _, more = (inspect.getdoc(self._handler()) or "").partition("\n\n")
        view = inspect.cleandoc(vars(self.view.__class__).get("__doc__") or "")
        mirror = MIRRORED if self._is_mirror() else ""
        return " ".join(summary.split()), "\n\n".join(filter(None, (more, view, mirror)))

    def _parameters(self, declared: Operation) -> list[dict[str, Any]]:
        names = {camel_case(name): name for name in uritemplate.variables(self.path)}
        found = [
            self._parameter(field, "path") | {"name": names[wire], "required": True}
            for wire, field in PathParameters().fields.items()
            if wire in names
        ]
        query = {} if declared.query is None else declared.query().fields
        return [*found, *(self._parameter(field, "query") for field in query.values())]

    def _parameter(self, field: Any, place: str) -> dict[str, Any]:
        text = text_of(field.parent, field.field_name)
        schema = {"schema": self._map_serializer_field(field, "request")}  # type: ignore[no-untyped-call]
        found: dict[str, Any] = {"in": place, "name": field.field_name, "description": text.words}
        if field.required:
            found["required"] = True
        if isinstance(field, JSONParameter):
            if not isinstance(field, IncludeParameter):
                found["description"] += BRACKETS.format(field.field_name)
            return {**found, "content": {MEDIA_TYPE: {**schema, "example": text.example}}}
        return {**found, **schema, "example": text.example}

    def _content(self, serializer: type[WireSerializer], direction: Any) -> dict[str, Any]:
        schema = self.resolve_serializer(serializer, direction).ref
        return {"schema": schema, "example": example_of(serializer())}

    def _responses(self, declared: Operation) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if declared.answer is not None:
            content = {MEDIA_TYPE: self._content(declared.answer, "response")}
            found["200"] = {"description": "Success.", "content": content}
        error = self.resolve_serializer(ErrorShape, "response").ref
        return found | responses(failures(self.view, self.method, declared), error)
