"""Linking a resource to a user account, which opens over HTTP everything that the resource owns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from memory.admin.acts.base import Act, Outcome, ReasonForm
from memory.admin.owners import account_is
from memory.content.controls import visible
from memory.models import AdminEvent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.functional import _StrOrPromise


class AccountForm(ReasonForm):
    # Neither a list of all users, nor an autocompletion, which the site's admin of users may not offer.
    account = forms.CharField(
        label=gettext_lazy("Name of the user account"),
        max_length=255,
        required=False,
        help_text=gettext_lazy("Whole and exact. Empty: the resource is linked to no account."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "size": 40}),
    )

    def clean_account(self) -> Any:
        """The account; None for no account."""
        name: str = self.cleaned_data["account"]
        if not name:
            return None
        account = get_user_model()._default_manager.filter(account_is(name)).first()
        if account is None:
            raise forms.ValidationError(_("There is no user account with this name."))
        return account


class LinkResource(Act):
    """For those who may read: whoever links a resource to an account of their own reads it by the API."""

    name = "link"
    label = gettext_lazy("Link to a user account")
    button = pgettext_lazy("verb", "Link")
    permission = "memory.change_resource"
    action = AdminEvent.Action.LINK_RESOURCE
    content = True
    form_class = AccountForm

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("Over HTTP the account may read, change and delete everything that the resource owns.")
        yield _("An account that the resource is linked to now may not do so any more.")

    def facts(self) -> list[tuple[_StrOrPromise, Any]]:
        account = self.row.user
        return [*super().facts(), (_("user account"), "–" if account is None else visible(str(account)))]

    def form(self, data: Any = None) -> ReasonForm:
        return AccountForm(data, initial={"account": self.row.user and self.row.user.get_username()})

    def perform(self, form: Any) -> Outcome:
        account, former = form.cleaned_data["account"], self.row.user
        if account == former:
            text = _("The resource is linked like this already.")
            return Outcome(text, self.home(), messages.WARNING)
        self.row.user = account
        # The metadata may have been merged with others since the row was read.
        self.row.save(update_fields=["user"])
        self.record(form, [self.row], counts={**_number("user", account), **_number("former_user", former)})
        linked = _("The resource is linked to %(account)s.") % {"account": visible(str(account))}
        return Outcome(linked if account else _("The resource is linked to no account."), self.home())


def _number(name: str, account: Any) -> dict[str, int]:
    """The key of an account, where it is a number: events hold no names of customers."""
    return {name: account.pk} if account is not None and isinstance(account.pk, int) else {}
