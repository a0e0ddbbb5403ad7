"""The admin of the conversation memory, where support staff work.

Every class is a mixin over `MEMORY["ADMIN_BASE"]`. A site that wants other classes unregisters these, and
registers its own of the same mixins.
"""

from __future__ import annotations

from django.contrib import admin

from memory.admin.adminevent import AdminEventAdminMixin
from memory.admin.base import AdminBase
from memory.admin.embedding import EmbeddingAdminMixin, EmbeddingJobAdminMixin, EmbeddingSpaceAdminMixin
from memory.admin.message import MessageAdminMixin
from memory.admin.resource import ResourceAdminMixin
from memory.admin.thread import ThreadAdminMixin
from memory.admin.working_memory import WorkingMemoryAdminMixin
from memory.models import (
    AdminEvent,
    Embedding,
    EmbeddingJob,
    EmbeddingSpace,
    Message,
    Resource,
    Thread,
    WorkingMemory,
)

__all__ = [
    "AdminBase",
    "AdminEventAdminMixin",
    "EmbeddingAdminMixin",
    "EmbeddingJobAdminMixin",
    "EmbeddingSpaceAdminMixin",
    "MessageAdminMixin",
    "ResourceAdminMixin",
    "ThreadAdminMixin",
    "WorkingMemoryAdminMixin",
]


@admin.register(Resource)
class ResourceAdmin(ResourceAdminMixin, AdminBase):
    pass


@admin.register(Thread)
class ThreadAdmin(ThreadAdminMixin, AdminBase):
    pass


@admin.register(Message)
class MessageAdmin(MessageAdminMixin, AdminBase):
    pass


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(EmbeddingSpaceAdminMixin, AdminBase):
    pass


@admin.register(Embedding)
class EmbeddingAdmin(EmbeddingAdminMixin, AdminBase):
    pass


@admin.register(EmbeddingJob)
class EmbeddingJobAdmin(EmbeddingJobAdminMixin, AdminBase):
    pass


@admin.register(WorkingMemory)
class WorkingMemoryAdmin(WorkingMemoryAdminMixin, AdminBase):
    pass


@admin.register(AdminEvent)
class AdminEventAdmin(AdminEventAdminMixin, AdminBase):
    pass
