"""How a page of the admin is answered: in the viewer's zone, within a time limit, kept by nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.contrib import messages
from django.db import connections, router, transaction
from django.db.utils import OperationalError
from django.http import HttpResponseRedirect
from django.template.response import SimpleTemplateResponse, TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from memory.admin.zones import zone_of
from memory.conf import memory_settings

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.http import HttpRequest, HttpResponse

View = TypeVar("View", bound=Callable[..., Any])

# PostgreSQL's code for a statement that was cancelled.
CANCELLED = "57014"

GONE = gettext_lazy("It is not there any more.")

# For a page that only shows: other methods than GET and HEAD are answered with 405.
read_only = method_decorator(require_safe)


def page(view: View) -> View:
    """A method of an admin class that answers a request.

    Dates are read and shown in the viewer's zone. A statement of a GET that PostgreSQL does not finish within
    `MEMORY["ADMIN_TIMEOUT"]` ends it, with a page that says so. Neither the browser nor anything between
    keeps the answer, and other sites do not learn its address from a link.
    """

    @wraps(view)
    def limited(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method not in ("GET", "HEAD"):
            return view(self, request, *args, **kwargs)
        return within_limit(lambda: view(self, request, *args, **kwargs), self, request)

    return unlimited_page(cast("View", limited))


def unlimited_page(view: View) -> View:
    """:func:`page` without the limit: for one that also waits for others, and sets limits itself."""

    @wraps(view)
    def answer(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        # Templates and links keep to the site that answers.
        request.current_app = self.admin_site.name
        with timezone.override(zone_of(request)):
            response = _rendered(view(self, request, *args, **kwargs))
        response.headers.setdefault("Cache-Control", "no-store, private")
        # Not `no-referrer`: with it, browsers send `Origin: null` from the forms of the page, such as that
        # for logging out, and Django refuses them.
        response.headers["Referrer-Policy"] = "same-origin"
        return response

    return cast("View", answer)


@contextmanager
def time_limit(using: str) -> Iterator[None]:
    """A block of statements of which none may take longer than the setting says; on PostgreSQL only."""
    if connections[using].vendor != "postgresql":
        yield
        return
    with transaction.atomic(using=using):
        with connections[using].cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(memory_settings.ADMIN_TIMEOUT)}")
        yield


def within_limit(answer: Callable[[], Any], admin: Any, request: HttpRequest) -> Any:
    """What `answer` returns, rendered; the page that says so where it takes too long."""
    try:
        with time_limit(router.db_for_read(admin.model)):
            return _rendered(answer())
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != CANCELLED:
            raise
        return _too_slow(admin.admin_site, request)


def _rendered(response: Any) -> Any:
    """Templates ask the database too."""
    if isinstance(response, SimpleTemplateResponse):
        response.render()
    return response


def _too_slow(site: AdminSite, request: HttpRequest) -> HttpResponse:
    context = {**site.each_context(request), "title": _("This took too long")}
    return TemplateResponse(request, "admin/memory/too_slow.html", context, status=503).render()


def gone(admin: Any, request: HttpRequest) -> HttpResponse:
    """Away from the page of a row that is not there."""
    admin.message_user(request, str(GONE), messages.WARNING)
    return HttpResponseRedirect(reverse("admin:index", current_app=request.current_app))
