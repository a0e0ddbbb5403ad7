"""What all views share: they check a request in stages, and hand over to the managers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from django.utils.functional import cached_property
from rest_framework import permissions, viewsets
from rest_framework.response import Response

from memory.api import errors
from memory.api.access import Access, access_of
from memory.api.fields import WireSerializer
from memory.api.transport import (
    MEDIA_TYPE,
    WireNegotiation,
    WireParser,
    WireRenderer,
    WireThrottle,
    body_length,
    is_json,
    is_unmeasured,
)
from memory.conf import memory_settings
from memory.exceptions import Issue
from memory.facade import Memory
from memory.recall import MemoryConfig
from memory.validation import Check

if TYPE_CHECKING:
    from rest_framework.request import Request

DEFAULT_AGENT = "default"


class MemoryViewSet(viewsets.ViewSet):
    """A view of this API. Only the authentication is the site's own.

    The checks of a request come in the order authentication, JSON, query, body, path; the first stage in
    which anything is wrong answers with all that is wrong in it.

    Attributes:
        renamed: where parameters of the managers' verbs have another place on the wire than their names tell.
    """

    http_method_names = ["get", "post", "patch", "delete", "head"]
    parser_classes = [WireParser]
    renderer_classes = [WireRenderer]
    content_negotiation_class = WireNegotiation
    permission_classes = [permissions.IsAuthenticated]
    throttle_classes = [WireThrottle]
    versioning_class = None
    request: Request
    renamed: Mapping[str, str] = {}

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return errors.handle

    def get_authenticate_header(self, request: Request) -> str:
        """The first scheme that has a name: sessions, which have none, may come before tokens."""
        named = (authenticator.authenticate_header(request) for authenticator in self.get_authenticators())
        return next(filter(None, named), "")

    @cached_property
    def access(self) -> Access:
        """Which resources the caller may touch; looked up once a request."""
        return access_of(self.request)

    def read_query(self, serializer: type[WireSerializer]) -> dict[str, Any]:
        """The checked query parameters, under their snake_case names.

        Raises:
            InvalidInput, ResourceNotFound: something is wrong with them.
        """
        return self._read(serializer, self.request.query_params, "query parameters")

    def parse_body(self) -> None:
        """Read the JSON of the body, where there is one: broken JSON is told before anything else.

        Raises:
            BodyTooLarge, ParseError.
        """
        if body_length(self.request) and is_json(self.request):
            self.request.data  # noqa: B018 - parsed by being asked for

    def read_body(self, serializer: type[WireSerializer], *, optional: bool = False) -> dict[str, Any]:
        """The checked body likewise; a missing one is empty where that is allowed."""
        where = "request body"
        if is_unmeasured(self.request):
            raise errors.InvalidInput(where, [Issue("root", "must be sent with a Content-Length")])
        if not body_length(self.request):
            if not optional:
                raise errors.InvalidInput(where, [Issue("root", "is missing")])
            return self._read(serializer, {}, where)
        if not is_json(self.request):
            raise errors.InvalidInput(where, [Issue("root", f"must have the content type {MEDIA_TYPE}")])
        return self._read(serializer, self.request.data, where)

    def _read(self, serializer: type[WireSerializer], data: Any, where: str) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise errors.InvalidInput(where, [Issue("root", "must be an object")])
        reader = serializer(data=data)
        if not reader.is_valid():
            raise errors.InvalidInput(where, reader.issues)
        values: dict[str, Any] = reader.validated_data
        if "resource_id" in values:
            self.access.check(values["resource_id"])
        return values

    @cached_property
    def thread_id(self) -> str:
        """The thread in the path.

        Raises:
            InvalidInput: it is no id.
        """
        check = Check()
        uid = check.identifier(self.kwargs["thread_id"], "threadId")
        if uid is None:
            raise errors.InvalidInput("path", check.issues)
        return uid


def is_agent(name: str | None) -> bool:
    """Whether a name is that of a configured agent; none named means the default one."""
    return name in (None, DEFAULT_AGENT) or name in memory_settings.AGENTS


def memory_of(agent_id: str | None, options: Mapping[str, Any] | None = None) -> Memory:
    """The memory of an agent.

    Raises:
        AgentNotFound: it is not configured.
    """
    if not is_agent(agent_id):
        raise errors.AgentNotFound
    return Memory(agent_id or DEFAULT_AGENT, **(options or {}))


def config_of(agent_id: str | None, options: Mapping[str, Any] | None = None) -> MemoryConfig:
    """Its configuration, with options of the request merged over it.

    Raises:
        AgentNotFound, RecallError: the agent is not configured; an option is wrong.
    """
    return memory_of(agent_id).config(options)
