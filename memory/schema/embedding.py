"""Embedding spaces, the vectors of messages in them, and the work that is still to be done."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.db.fields import VectorField
from memory.schema import permissions
from memory.schema.message import Message
from memory.schema.resource import Resource
from memory.schema.thread import Thread

TEXT_RULE = "text-1"


class EmbeddingSpace(models.Model):
    """Vectors that can be compared: one model, one number of dimensions, one rule of what is embedded.

    `alias` is the key in `MEMORY["EMBEDDERS"]`; at most one space of an alias is active.
    """

    class State(models.TextChoices):
        BUILDING = "building", pgettext_lazy("state of an embedding space", "building")
        ACTIVE = "active", pgettext_lazy("state of an embedding space", "active")
        RETIRED = "retired", pgettext_lazy("state of an embedding space", "retired")

    alias = models.CharField(_("alias"), max_length=64)
    model = models.CharField(pgettext_lazy("of an embedder", "model"), max_length=255)
    dimensions = models.PositiveIntegerField(_("dimensions"))
    rule = models.CharField(_("rule"), max_length=64, default=TEXT_RULE)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.ACTIVE)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)

    class Meta:
        abstract = True
        verbose_name = _("embedding space")
        verbose_name_plural = _("embedding spaces")
        constraints = [
            models.UniqueConstraint(
                fields=["alias"], condition=models.Q(state="active"), name="memory_space_active"
            )
        ]

    def __str__(self) -> str:
        return f"{self.alias}: {self.model} ({self.dimensions})"


class Embedding(models.Model):
    """One vector of a message: of its whole text, or of one chunk of a long one.

    Thread and resource are those of the message, repeated here so that a search in their scope reads this
    table by an index; moves and transfers are followed. A zero vector is NULL.
    """

    message: models.ForeignKey[Message, Message] = models.ForeignKey(
        "memory.Message",
        verbose_name=_("message"),
        on_delete=models.CASCADE,
        related_name="embeddings",
        db_index=False,
    )
    space: models.ForeignKey[EmbeddingSpace, EmbeddingSpace] = models.ForeignKey(
        "memory.EmbeddingSpace",
        verbose_name=_("embedding space"),
        on_delete=models.PROTECT,
        related_name="embeddings",
        db_index=False,
    )
    thread: models.ForeignKey[Thread, Thread] = models.ForeignKey(
        "memory.Thread",
        verbose_name=_("thread"),
        on_delete=models.CASCADE,
        related_name="embeddings",
        db_index=False,
    )
    resource: models.ForeignKey[Resource, Resource] = models.ForeignKey(
        "memory.Resource",
        verbose_name=_("resource"),
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    chunk = models.PositiveIntegerField(_("chunk"), default=0)
    # Names the whole embedded text of the message; see memory.content.text.text_hash.
    text_hash = models.CharField(_("text hash"), max_length=64)
    vector = VectorField(_("vector"), null=True)

    class Meta:
        abstract = True
        verbose_name = _("embedding")
        verbose_name_plural = _("embeddings")
        constraints = [
            models.UniqueConstraint(fields=["message", "space", "chunk"], name="memory_embedding_chunk")
        ]
        indexes = [
            models.Index(fields=["thread", "space"], name="memory_embedding_thread"),
            models.Index(fields=["resource", "space"], name="memory_embedding_resource"),
            models.Index(fields=["space", "text_hash"], name="memory_embedding_text"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id}/{self.space_id}/{self.chunk}"


class EmbeddingJob(models.Model):
    """A message whose present text is not embedded in a space yet: the outbox (contract section 4).

    Written in the transaction that saved the message, deleted in the one that stores its vectors.
    """

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("state of an embedding job", "open")
        FAILED = "failed", pgettext_lazy("state of an embedding job", "failed")

    message: models.ForeignKey[Message, Message] = models.ForeignKey(
        "memory.Message",
        verbose_name=_("message"),
        on_delete=models.CASCADE,
        related_name="embedding_jobs",
        db_index=False,
    )
    space: models.ForeignKey[EmbeddingSpace, EmbeddingSpace] = models.ForeignKey(
        "memory.EmbeddingSpace",
        verbose_name=_("embedding space"),
        on_delete=models.CASCADE,
        related_name="jobs",
    )
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    error = models.TextField(_("error"), blank=True, default="")
    available_at = models.DateTimeField(_("available at"), default=timezone.now)
    leased_until = models.DateTimeField(_("leased until"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)

    class Meta:
        abstract = True
        verbose_name = _("embedding job")
        verbose_name_plural = _("embedding jobs")
        permissions = permissions.EMBEDDING_JOB
        constraints = [models.UniqueConstraint(fields=["message", "space"], name="memory_job_message_space")]
        indexes = [models.Index(fields=["state", "available_at"], name="memory_job_due")]

    def __str__(self) -> str:
        return f"{self.message_id}/{self.space_id}"
