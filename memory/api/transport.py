"""JSON in and out, whatever the site's own Django REST Framework settings say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.throttling import ScopedRateThrottle

from memory.api.errors import BodyTooLarge
from memory.conf import memory_settings

if TYPE_CHECKING:
    from rest_framework.request import Request

MEDIA_TYPE = "application/json"


def read_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is none: broken, with NaN or Infinity, or nested too deeply to be read. The text says
            where.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"is no JSON: {name} is no number of it")


def body_length(request: Request) -> int:
    """The length of the body as the request tells it; 0 = there is none."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def is_unmeasured(request: Request) -> bool:
    """Whether a body comes in pieces and without its length: the framework takes it for none."""
    return "CONTENT_LENGTH" not in request.META and "HTTP_TRANSFER_ENCODING" in request.META


def is_json(request: Request) -> bool:
    """Whether the content type of a request says JSON."""
    return MEDIA_TYPE in str(request.META.get("CONTENT_TYPE", "")).lower()


class WireParser(BaseParser):
    """A JSON body of at most `HTTP_MAX_BODY` bytes."""

    media_type = MEDIA_TYPE

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The value of the body.

        Raises:
            BodyTooLarge: before more than the limit is read.
            ParseError: it is no UTF-8 or no JSON.
        """
        limit = memory_settings.HTTP_MAX_BODY
        if body_length((parser_context or {})["request"]) > limit:
            raise BodyTooLarge
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise BodyTooLarge
        try:
            return read_json(body.decode())
        except UnicodeDecodeError as error:
            raise ParseError(f"is no UTF-8: {error.reason} at byte {error.start}") from error
        except ValueError as error:
            raise ParseError(str(error)) from error


class WireRenderer(JSONRenderer):
    """Compact UTF-8, without what JSON does not know."""

    compact = True
    ensure_ascii = False
    strict = True

    def get_indent(self, accepted_media_type: str, renderer_context: Mapping[str, Any]) -> int | None:
        return None


class WireNegotiation(BaseContentNegotiation):
    """JSON always: clients send `Accept: */*`, and views refuse a body of another type themselves."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return next(iter(renderers)), MEDIA_TYPE


class WireThrottle(ScopedRateThrottle):
    """The rates of `MEMORY["HTTP_THROTTLE_RATES"]`, by the view's `throttle_scope`; apart from the site's."""

    cache_format = "memory_throttle_%(scope)s_%(ident)s"

    def get_rate(self) -> str | None:
        return memory_settings.HTTP_THROTTLE_RATES.get(self.scope or "")
