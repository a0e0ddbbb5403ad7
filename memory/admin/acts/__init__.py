"""What support staff can do: one class for each act, each with its own permission.

Every act has a page that says what will happen, asks for a reason, and is written down twice: in the log of
the admin, and as an `AdminEvent`, which outlives the object and the account.
"""

from __future__ import annotations

from memory.admin.acts.base import Act
from memory.admin.acts.delete import DeleteMessages, DeleteThreads
from memory.admin.acts.edit import EditText
from memory.admin.acts.erase import EraseResource
from memory.admin.acts.export import ExportResource, ExportThread
from memory.admin.acts.link import LinkResource
from memory.admin.acts.moving import CloneThread, MoveMessage, TransferThread
from memory.admin.acts.redact import Redact
from memory.admin.acts.reembed import Reembed, RetryEmbedding
from memory.admin.acts.versions import EditWorkingMemory, RestoreWorkingMemory
from memory.admin.acts.views import ActsMixin
from memory.admin.links import LINKS

# By the model whose rows they are about, in the order of their links.
ACTS: dict[str, tuple[type[Act], ...]] = {
    "message": (EditText, Redact, MoveMessage, Reembed, DeleteMessages),
    "thread": (ExportThread, CloneThread, TransferThread, Reembed, DeleteThreads),
    "resource": (ExportResource, LinkResource, EraseResource),
    "workingmemory": (EditWorkingMemory, RestoreWorkingMemory),
    "embeddingjob": (RetryEmbedding,),
}

for _model, _acts in ACTS.items():
    LINKS[_model] += [act.link(_model) for act in _acts]

__all__ = ["ACTS", "Act", "ActsMixin", "DeleteMessages", "DeleteThreads", "Reembed", "RetryEmbedding"]
