"""The pages of acts: one for a row, and one for rows that were selected in a list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import router
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext as _

from memory.admin.acts.base import GONE, Act, Outcome, ReasonForm
from memory.admin.acts.locking import locked
from memory.admin.answering import page
from memory.admin.reads import log_read
from memory.db.transactions import run_write
from memory.exceptions import ConversationMemoryError
from memory.schema import Message, Thread, WorkingMemory

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponseBase
    from django.urls import URLPattern

    from memory.admin.base import MemoryAdminMixin as _Base
else:
    _Base = object


class ActsMixin(_Base):
    """To be mixed into the admin class of the rows.

    Attributes:
        acts: what can be done with a row.
    """

    acts: ClassVar[tuple[type[Act], ...]] = ()

    def get_urls(self) -> list[URLPattern]:
        model = self.opts.model_name
        own = [
            path(
                f"<path:object_id>/{act.name}/",
                self.admin_site.admin_view(partial(self.act_view, act=act)),
                name=f"memory_{model}_{act.name}",
            )
            for act in self.acts
        ]
        return [*own, *super().get_urls()]

    @page
    def act_view(self, request: HttpRequest, object_id: str, act: type[Act]) -> HttpResponseBase:
        """What an act will do with a row (GET, which writes nothing), and the act itself (POST)."""
        rows = self.get_queryset(request)
        try:
            rows = rows.filter(pk=self.opts.pk.to_python(unquote(object_id)))
        except ValidationError:
            rows = rows.none()
        return self._answer(request, act, rows, sent=request.method == "POST")

    def act_on_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], act: type[Act], action: str
    ) -> HttpResponseBase | None:
        """The body of an action of a list: the page that asks, and once it was answered, the act.

        Args:
            request: as the action has it.
            queryset: the rows that were selected.
            act: what is done with them.
            action: the name of the action.
        """
        keys = list(queryset.values_list("pk", flat=True)[: act.max_rows + 1])
        if len(keys) > act.max_rows:
            text = _("At most %(number)d rows at once. Nothing has been changed.") % {"number": act.max_rows}
            self.message_user(request, text, messages.WARNING)
            return None
        hidden = [("action", action)]
        hidden += [(ACTION_CHECKBOX_NAME, str(key)) for key in keys]
        sent = "reason" in request.POST
        # By their keys, so that the act is about no other rows than the page, and they can be locked.
        selected = queryset.filter(pk__in=keys).defer(*self.unlisted)
        return self._answer(request, act, selected, sent=sent, hidden=hidden)

    def _answer(
        self,
        request: HttpRequest,
        act: type[Act],
        rows: QuerySet[Any],
        *,
        sent: bool,
        hidden: Sequence[tuple[str, str]] = (),
    ) -> HttpResponseBase:
        if not act.is_allowed(request) or not self.has_view_permission(request):
            raise PermissionDenied
        if sent:
            return self._act(request, act, rows, hidden)
        found = act(self, request, list(rows))
        return self._refuse(found) or self._ask(found, found.form(), hidden)

    def _act(
        self,
        request: HttpRequest,
        act: type[Act],
        rows: QuerySet[Any],
        hidden: Sequence[tuple[str, str]],
    ) -> HttpResponseBase:
        """Rows are read again, locked, and everything about them is decided again, within the transaction."""

        found, form = act(self, request, []), ReasonForm()
        using = router.db_for_write(self.model)

        def work() -> HttpResponseBase | Outcome:
            nonlocal found, form
            found = act(self, request, locked(rows) if act.atomic else list(rows.using(using)))
            if refused := self._refuse(found):
                return refused
            form = found.form(request.POST)
            return found.perform(form) if form.is_valid() else self._ask(found, form, hidden)

        try:
            outcome = run_write(using, self.opts.db_table, work) if act.atomic else work()
        except ConversationMemoryError as error:
            # Something changed between the form and the act.
            told = _("This cannot be done: %(error)s") % {"error": error}
            if not found.rows:
                self.message_user(request, told, messages.ERROR)
                return HttpResponseRedirect(found.list_url)
            form.add_error(None, told)
            return self._ask(found, form, hidden)
        if not isinstance(outcome, Outcome):
            return outcome
        self.message_user(request, str(outcome.text), outcome.level)
        return HttpResponseRedirect(outcome.url)

    def _refuse(self, act: Act) -> HttpResponseBase | None:
        """Back with a message, where there is nothing that could be acted on."""
        if not act.rows:
            text, url = str(GONE), act.list_url
        elif refusal := act.refusal():
            text, url = refusal, act.home()
        else:
            return None
        self.message_user(act.request, text, messages.WARNING)
        return HttpResponseRedirect(url)

    def _ask(self, act: Act, form: ReasonForm, hidden: Sequence[tuple[str, str]]) -> HttpResponseBase:
        context = {
            **self.admin_site.each_context(act.request),
            "title": act.label,
            "opts": self.opts,
            "act": act,
            "form": form,
            "facts": act.facts(),
            "counts": list(act.counts()),
            "sentences": list(act.sentences()),
            "hidden": hidden,
            "list_url": act.list_url,
            "home_url": act.home(),
            **act.context(),
        }
        # Of an owner and of a job nothing is shown but ids, and of several rows nothing but their number.
        if len(act.rows) == 1 and isinstance(act.row, Message | Thread | WorkingMemory):
            log_read(act.request, act.row)
        return TemplateResponse(act.request, act.template, context)
