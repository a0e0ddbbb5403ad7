"""What all admin classes of this app share: they only read, within limits, what the viewer may see."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import label_for_field
from django.core.checks import Error
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpResponseRedirect
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.admin.addresses import list_url
from memory.admin.answering import page
from memory.admin.display import TEXTS, column, shown_text
from memory.admin.filters import typed_ids
from memory.admin.links import ShownLink, links_to
from memory.admin.masks import can_read, hidden
from memory.admin.owners import owners_of
from memory.admin.paging import CappedPaginator, bounded
from memory.admin.reads import log_choices, log_read, log_search
from memory.conf import memory_settings
from memory.db.expressions import IsOneOf
from memory.models import AdminEvent, Message, Resource, Thread, WorkingMemory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.core.checks import CheckMessage
    from django.db.models import Model
    from django.http import HttpRequest, HttpResponse
    from django.utils.functional import _StrOrPromise

    AdminBase = admin.ModelAdmin[Any]
    _Mixin = admin.ModelAdmin[Any]
else:
    try:
        # Read once: classes cannot change their bases.
        AdminBase = import_string(memory_settings.ADMIN_BASE)
    except ImportError as error:
        raise ImproperlyConfigured(f"MEMORY['ADMIN_BASE'] cannot be imported: {error}") from error
    _Mixin = object

# Models whose pages lead to each other.
TOGETHER = (Resource, Thread, Message)


class MemoryAdminMixin(_Mixin):
    """To be mixed into `ModelAdmin` or what is derived from it.

    Nothing can be added, changed or deleted: rows are written through the managers, by pages of their own.
    Nothing is counted beyond 10,000 rows, sorted without an index, or filtered by what is not declared.

    Attributes:
        content: names of columns, fields and filters that show or ask what messages say. They are hidden
            from viewers without the permission `memory.view_message_content`.
        owner_paths: lookups that lead to the id of the owning resource; none where rows have no owner.
        id_paths: lookups of the ids by which rows are found, those of rows they belong to included.
        open_lookups: what an address of the list may ask apart from its filters.
        unlisted: columns that the list does not show, and does not read; they may have megabytes.
        memory_lookup: what asks the list of working memories for that of a row; none where rows have none.
    """

    content: ClassVar[frozenset[str]] = frozenset()
    owner_paths: ClassVar[tuple[str, ...]] = ()
    id_paths: ClassVar[tuple[str, ...]] = ()
    open_lookups: ClassVar[frozenset[str]] = frozenset()
    unlisted: ClassVar[tuple[str, ...]] = ()
    memory_lookup: ClassVar[str] = ""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    search_help_text = _("An id, whole and exact")
    # Not Django's own action that deletes: it is an act of the managers.
    actions: Any = None
    sortable_by: ClassVar[tuple[str, ...]] = ()

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """See Django; and that a site has all that the pages lead to."""
        problems: list[CheckMessage] = super().check(**kwargs)
        missing = [model.__name__ for model in TOGETHER if not self.admin_site.is_registered(model)]
        if self.model in TOGETHER and missing:
            hint = f"Register {', '.join(missing)} too, with its mixin of memory.admin."
            text = f"The admin site {self.admin_site.name!r} has only a part of the conversation memory."
            problems.append(Error(text, hint=hint, obj=self.__class__, id="memory.E007"))
        return problems

    class Media:
        css: ClassVar = {"all": ["memory/admin.css"]}
        js: ClassVar = ["memory/zone.js"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows of the viewer's resources: all pages begin here."""
        rows: QuerySet[Any] = super().get_queryset(request)
        owners = owners_of(request)
        if owners is None or not self.owner_paths:
            return rows
        ways = (Q(IsOneOf(path, sorted(owners))) for path in self.owner_paths)
        return rows.filter(reduce(operator.or_, ways))

    def rows_of(self, request: HttpRequest, model: type[Model]) -> Any | None:
        """What the viewer sees of another model in its own admin; None where it may not look there."""
        try:
            other = self.admin_site.get_model_admin(model)
        except NotRegistered:
            return None
        return other.get_queryset(request) if other.has_view_permission(request) else None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        base: Any = super().get_changelist(request, **kwargs)
        return bounded(base)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        rows: Any = super().get_changelist_instance(request)
        if not can_read(request):
            # Words find nothing.
            rows.search_help_text = MemoryAdminMixin.search_help_text
        return rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return [
            (title, {**options, "fields": [self._masked_line(request, line) for line in options["fields"]]})
            for title, options in super().get_fieldsets(request, obj)
        ]

    def _masked_line(self, request: HttpRequest, line: Any) -> Any:
        """A field, or several that stand side by side."""
        fields = self.masked(request, line if isinstance(line, list | tuple) else [line])
        return fields if isinstance(line, list | tuple) else fields[0]

    def get_list_display(self, request: HttpRequest) -> Any:
        return self.masked(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.masked(request, super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.masked(request, super().get_readonly_fields(request, obj))

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = super().get_list_filter(request)
        if can_read(request):
            return filters
        return [entry for entry in filters if getattr(entry, "parameter_name", None) not in self.content]

    def masked(self, request: HttpRequest, names: Iterable[Any]) -> list[Any]:
        """Names of columns or fields, with something that shows nothing in the place of content, and with
        every character of ids and such visible."""
        closed = frozenset() if can_read(request) else self.content

        def as_shown(name: Any) -> Any:
            if name not in closed and name not in TEXTS:
                return name
            label = label_for_field(name, self.model, self)
            return column(name, label, hidden if name in closed else shown_text)

        return [as_shown(name) for name in names]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Without this, anybody could ask for any column, and read off the number of rows what it holds."""
        allowed = set(self.open_lookups)
        for entry in self.get_list_filter(request):
            if isinstance(entry, str):
                allowed |= {entry, f"{entry}__exact"}
            else:
                allowed |= {entry.parameter_name, *getattr(entry, "parameters", ())}
        return lookup in allowed

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """What :meth:`searched` finds."""
        found = self.searched(request, queryset, search_term)
        # Lists record their searches with the number that they show.
        match = request.resolver_match
        if match is not None and match.url_name == "autocomplete":
            log_choices(request, found)
        return found, False

    def searched(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> QuerySet[Any]:
        """Rows of an id, that of the row first; else, for viewers of content, what :meth:`find` finds."""
        term = search_term.replace("\x00", "")
        if not term.strip():
            return queryset
        for path in self.id_paths:
            named = queryset.filter(**{f"{path}__in": self.ids_in(term)})
            if named.exists():
                return named
        if not can_read(request):
            return queryset.none()
        request._memory_words = True  # type: ignore[attr-defined]
        return self.find(queryset, term.strip())

    def ids_in(self, term: str) -> list[str]:
        """The ids that may be meant by a search for `term`."""
        return typed_ids(term)

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Rows whose content has the words of `term`."""
        return rows.none()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if self.content:
            log_read(request, context["original"])
        row = context["original"]
        links = [*links_to(request, row), *self.lists_of(request, row)]
        context |= {"links": links, "can_read": can_read(request)}
        return super().render_change_form(request, context, *args, **kwargs)

    def lists_of(self, request: HttpRequest, row: Any) -> list[ShownLink]:
        """Links to lists of what else there is about a row, where the viewer may look at these. No query."""
        wanted: list[tuple[type[Model], _StrOrPromise, dict[str, Any]]] = []
        if self.memory_lookup:
            wanted.append((WorkingMemory, _("Working memory"), {self.memory_lookup: row.pk}))
        if hasattr(row, "uid"):
            wanted.append((AdminEvent, _("Admin events"), {"q": row.uid}))
        return [
            ShownLink(label, list_url(str(model._meta.model_name), request.current_app, **query))
            for model, label, query in wanted
            if self.rows_of(request, model) is not None
        ]

    @page
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if request.method == "POST" and not {"index", ACTION_CHECKBOX_NAME} & set(request.POST):
            # No action: only a GET is answered with the list, within its time limit.
            return HttpResponseRedirect(request.get_full_path())
        if not can_read(request) and self.content.intersection(request.GET):
            # An address that somebody else has sent, who may.
            text = gettext("You may see that there are messages, but not what they say.")
            self.message_user(request, text, messages.WARNING)
            return HttpResponseRedirect(request.path)
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.clean(key, None)
        except ValidationError:
            return HttpResponseRedirect(request.get_full_path())
        response = super().changelist_view(request, extra_context)
        rows = (getattr(response, "context_data", None) or {}).get("cl")
        if rows is not None and (self._is_search(rows, request) or self._shows_content(request)):
            log_search(request, rows.result_count)
        return response

    def _is_search(self, rows: Any, request: HttpRequest) -> bool:
        """Whether a list tells which rows have a word, a value or an owner."""
        return bool(rows.query or self.content.intersection(request.GET) or request.GET.get("owner"))

    def _shows_content(self, request: HttpRequest) -> bool:
        return can_read(request) and bool(self.content.intersection(self.list_display))

    @page
    def changeform_view(
        self, request: HttpRequest, object_id: Any = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return super().changeform_view(request, object_id, form_url, extra_context)

    @page
    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        return super().history_view(request, object_id, extra_context)
