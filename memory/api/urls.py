"""The routes, without trailing slashes: `path("api/memory/", include("memory.api.urls"))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from django.urls import include, path, re_path
from rest_framework.exceptions import NotFound
from rest_framework.routers import SimpleRouter

from memory.api.base import MemoryViewSet
from memory.api.messages import DeleteMessagesViewSet, SaveMessagesViewSet, ThreadMessageViewSet
from memory.api.recall import RecallViewSet
from memory.api.search import SearchViewSet
from memory.api.status import BufferStatusViewSet, ConfigViewSet, ObservationViewSet, StatusViewSet
from memory.api.threads import MirroredThreadViewSet, ThreadViewSet
from memory.api.working_memory import WorkingMemoryViewSet

if TYPE_CHECKING:
    from rest_framework.request import Request

app_name = "memory-api"

METHODS = ["get", "post", "put", "patch", "delete", "options"]
OF_THREAD = r"threads/(?P<thread_id>[^/]+)"


class UnknownRouteViewSet(MemoryViewSet):
    """JSON for what is no route of this API, whoever asks."""

    http_method_names = METHODS
    permission_classes = []
    authentication_classes = []

    def unknown(self, request: Request, **path: str) -> NoReturn:
        raise NotFound("There is no such route.")


mirrored = SimpleRouter(trailing_slash=False)
mirrored.register(OF_THREAD + "/messages", ThreadMessageViewSet, basename="thread-messages")
mirrored.register("save-messages", SaveMessagesViewSet, basename="save-messages")
mirrored.register("messages/delete", DeleteMessagesViewSet, basename="delete-messages")
mirrored.register("status", StatusViewSet, basename="status")

router = SimpleRouter(trailing_slash=False)
router.register("threads", ThreadViewSet, basename="threads")
router.register(OF_THREAD + "/working-memory", WorkingMemoryViewSet, basename="working-memory")
router.register("recall", RecallViewSet, basename="recall")
router.register("search", SearchViewSet, basename="search")
router.register("config", ConfigViewSet, basename="config")
router.register("observational-memory", ObservationViewSet, basename="observations")
router.register("observational-memory/buffer-status", BufferStatusViewSet, basename="buffer-status")

# The client library reaches some routes by a second path.
network = SimpleRouter(trailing_slash=False)
network.register("threads", MirroredThreadViewSet, basename="threads")

unknown = UnknownRouteViewSet.as_view(dict.fromkeys(METHODS, "unknown"))

urlpatterns = [
    *router.urls,
    *mirrored.urls,
    path("network/", include(([*network.urls, *mirrored.urls], "network"))),
    re_path(r"^.*$", unknown),
]
