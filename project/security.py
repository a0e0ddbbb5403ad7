"""What browsers may load and run on the pages of the admin."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# The admin needs neither scripts nor styles within its pages, and nothing of other hosts.
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"


def admin_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: the header `Content-Security-Policy` on every page of an admin site, and on no other.

    Django 6 has such a middleware for whole sites. This one is for all supported versions, and leaves the
    pages of others, such as those that document an API, their own policies.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.resolver_match is not None and "admin" in request.resolver_match.app_names:
            response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return answer
