"""What the numbers of receipts and events are called."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

# Those of an erasure, in the order in which they are shown.
ERASED = {
    "resources": _("resources"),
    "threads": _("threads"),
    "messages": _("messages"),
    "words": _("texts in the word index"),
    "embeddings": _("vectors"),
    "jobs": _("embedding jobs"),
    "working_memories": _("working memories"),
    "versions": _("versions of working memories"),
    "log_entries": _("entries of the admin's log whose texts are blank now"),
    "admin_events": _("admin events that name it by its hash now"),
    "copies_left": _("copies in threads of other resources, which stay"),
}

# Those of events of all kinds.
COUNTED = {
    **ERASED,
    "results": _("results"),
    "hits": _("hits"),
    "version": _("version number"),
    "user": _("number of the user account"),
    "former_user": _("number of the former user account"),
}
