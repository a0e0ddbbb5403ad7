"""One entry of a thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import models, router, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.content.controls import visible
from memory.content.dates import wire_date
from memory.content.incoming import MAX_TYPE_LENGTH
from memory.content.normalise import Content, empty_body, normalise_content
from memory.content.text import text_of
from memory.db.indexes import ContainmentIndex
from memory.exceptions import RecallError
from memory.ids import uuid7
from memory.schema import permissions
from memory.schema.thread import Thread
from memory.validation import MAX_ID_LENGTH, Check

Source = Literal["history", "include", "semantic", "context"]


@dataclass(frozen=True, slots=True)
class MessageRecall:
    """Why a message was recalled.

    Attributes:
        sources: `history` = on the page, `include` = named by the caller, `semantic` = found by the
            search, `context` = a neighbour of the two last.
        similarity: of a hit, 1 - cosine distance, rounded to 6 decimals.
    """

    sources: frozenset[Source] = frozenset()
    similarity: float | None = None


class Message(models.Model):
    """One message. Assign `content`; it fills `body`, `metadata` and `text`, the stored columns.

    Order is (created_at, id): equal timestamps keep the order in which they were saved.
    """

    class Role(models.TextChoices):
        USER = "user", pgettext_lazy("role of a message", "user")
        ASSISTANT = "assistant", pgettext_lazy("role of a message", "assistant")
        SYSTEM = "system", pgettext_lazy("role of a message", "system")
        TOOL = "tool", pgettext_lazy("role of a message", "tool")
        SIGNAL = "signal", pgettext_lazy("role of a message", "signal")

    uid = models.CharField(_("id"), max_length=MAX_ID_LENGTH, default=uuid7)
    thread: models.ForeignKey[Thread, Thread] = models.ForeignKey(
        "memory.Thread",
        verbose_name=_("thread"),
        on_delete=models.CASCADE,
        related_name="messages",
        db_index=False,  # memory_message_order begins with it
    )
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    type = models.CharField(_("type"), max_length=MAX_TYPE_LENGTH, blank=True, default="")
    body = models.JSONField(pgettext_lazy("of a message", "content"), default=empty_body)
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    text = models.TextField(_("text"), blank=True, editable=False, default="")
    created_at = models.DateTimeField(_("created at"), blank=True)
    redacted_at = models.DateTimeField(_("redacted at"), null=True, blank=True, editable=False)
    cloned_from = models.CharField(
        _("cloned from"), max_length=MAX_ID_LENGTH, blank=True, default="", editable=False
    )

    # Why a recall returned this instance; set by recalls only.
    recall: MessageRecall

    class Meta:
        abstract = True
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        permissions = permissions.MESSAGE
        constraints = [models.UniqueConstraint(fields=["uid"], name="memory_message_uid")]
        indexes = [
            models.Index(fields=["thread", "created_at", "id"], name="memory_message_order"),
            models.Index(fields=["created_at", "id"], name="memory_message_newest"),
            models.Index(
                fields=["cloned_from"], name="memory_message_clones", condition=~models.Q(cloned_from="")
            ),
            ContainmentIndex(fields=["metadata"], name="memory_message_metadata"),
            # What staff look for, and few messages are: without these, all would be read.
            models.Index(
                fields=["created_at", "id"],
                name="memory_message_redacted",
                condition=models.Q(redacted_at__isnull=False),
            ),
            models.Index(
                fields=["created_at", "id"], name="memory_message_no_text", condition=models.Q(text="")
            ),
            models.Index(
                fields=["role", "created_at", "id"],
                name="memory_message_rare_role",
                condition=~models.Q(role__in=["user", "assistant"]),
            ),
        ]

    def __str__(self) -> str:
        """The id, as it can be read: characters in it that turn or hide text by their names."""
        return visible(self.uid)

    @property
    def content(self) -> dict[str, Any]:
        """Format-2 content, metadata included. Assigning it takes a string, a list of parts or an object.

        Raises:
            RecallError: on assignment of something that is none of these.
        """
        if self.metadata or "metadata" in self.body:
            return {**self.body, "metadata": self.metadata}
        return dict(self.body)

    @content.setter
    def content(self, value: Any) -> None:
        check = Check()
        content = normalise_content(check, value, "content")
        check.finish()
        if content is not None:
            self.set_content(content)

    def set_content(self, content: Content) -> None:
        """Take over content that is normalised already; metadata that it does not name stays."""
        self.body = content.body
        if "metadata" in content.body:
            self.metadata = content.metadata
        self.text = text_of(content.body)

    def clean(self) -> None:
        try:
            self.prepare()
        except RecallError as error:
            raise ValidationError({"body": [issue.message for issue in error.issues]}) from error

    def prepare(self) -> None:
        """Make the columns storable and fill what is derived; called before every write of the content.

        Raises:
            RecallError: `body` or `metadata` was assigned something that is no content.
        """
        check = Check()
        check.identifier(self.uid, "uid")
        check.choice(self.role, "role", self.Role.values)
        if not isinstance(self.type, str) or len(self.type) > MAX_TYPE_LENGTH:
            check.fail("type", f"must be a string of at most {MAX_TYPE_LENGTH} characters")
        for name in ("body", "metadata"):
            if not isinstance(getattr(self, name), dict):
                check.fail(name, "must be an object")
        check.finish()
        self.content = self.content
        self.created_at = self.created_at or timezone.now()

    def save(self, *, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        if update_fields is not None:
            update_fields = set(update_fields)
            update_fields |= {"text"} if "body" in update_fields else set()
        if update_fields is None or {"body", "metadata"} & update_fields:
            self.prepare()
        using = options.get("using") or router.db_for_write(type(self), instance=self)
        # What follows a message does so by `post_save`, and shares the fate of the row.
        with transaction.atomic(using=using):
            super().save(update_fields=update_fields, **options)

    def as_dict(self) -> dict[str, Any]:
        """The wire's shape; needs the thread and its resource loaded."""
        shape: dict[str, Any] = {
            "id": self.uid,
            "role": self.role,
            "createdAt": wire_date(self.created_at),
            "threadId": self.thread.uid,
            "resourceId": self.thread.resource.uid,
            "content": self.content,
        }
        if self.type:
            shape["type"] = self.type
        return shape
