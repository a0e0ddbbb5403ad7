"""The rights of support staff: one for each act, beside Django's own for adding, changing and so on.

`user.has_perm("memory.redact_message")` asks for one, wherever it stands: the lists follow the models only
so that Django makes each once.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

MESSAGE = (
    # Without it text, titles, metadata and working memory are masked everywhere in the admin.
    ("view_message_content", _("Can see what messages say")),
    ("edit_message_text", _("Can edit the text of messages")),
    ("redact_message", _("Can redact messages")),
    ("move_message", _("Can move messages to another thread")),
    ("reembed_message", _("Can have messages embedded again")),
)

THREAD = (
    ("clone_thread", _("Can clone threads")),
    ("transfer_thread", _("Can give threads to another resource")),
)

RESOURCE = (
    # What lets a member of the staff act for every owner over HTTP.
    ("access_all_resources", _("Can act for every resource over the API")),
    ("export_resource", _("Can export resources and threads")),
    ("erase_resource", _("Can erase resources with all they own")),
    ("use_recall_playground", _("Can try out what is recalled")),
)

WORKING_MEMORY = (("edit_working_memory", _("Can edit and restore working memories")),)

EMBEDDING_JOB = (("retry_embedding", _("Can retry failed embedding jobs")),)
