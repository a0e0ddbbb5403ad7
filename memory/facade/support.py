"""The verbs of support staff: redacting, exporting, erasing. No configuration of an agent changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memory.asynchronous import async_iterator_twin, async_twin
from memory.facade import managers
from memory.facade.base import Agent

if TYPE_CHECKING:
    from memory.export import ExportOptions
    from memory.recall import EraseReceipt, RedactReceipt
    from memory.schema import Message


class SupportVerbs(Agent):
    """Part of :class:`memory.Memory`."""

    def redact_messages(
        self,
        ids: str | Sequence[str | Mapping[str, Any]],
        *,
        resource_id: str | None = None,
        clear_titles: bool = False,
    ) -> RedactReceipt:
        """See :meth:`MessageManager.redact_messages`."""
        return managers.messages(self.using).redact_messages(
            ids, resource_id=resource_id, clear_titles=clear_titles
        )

    def find_copies(self, ids: str | Sequence[str | Mapping[str, Any]]) -> list[Message]:
        """See :meth:`MessageManager.find_copies`."""
        return managers.messages(self.using).find_copies(ids)

    def export_thread(self, thread_id: str, **options: Unpack[ExportOptions]) -> Iterator[str]:
        """See :meth:`ThreadManager.export_thread`."""
        return managers.threads(self.using).export_thread(thread_id, **options)

    def export_resource(self, resource_id: str, **options: Unpack[ExportOptions]) -> Iterator[str]:
        """See :meth:`ResourceManager.export_resource`."""
        return managers.resources(self.using).export_resource(resource_id, **options)

    def erase_resource(
        self,
        resource_id: str,
        *,
        vacuum: bool = False,
        advance: Callable[[int], object] | None = None,
        finish: Callable[[dict[str, int]], object] | None = None,
    ) -> EraseReceipt:
        """See :meth:`ResourceManager.erase_resource`."""
        return managers.resources(self.using).erase_resource(
            resource_id, vacuum=vacuum, advance=advance, finish=finish
        )

    aredact_messages = async_twin(redact_messages)
    afind_copies = async_twin(find_copies)
    aexport_thread = async_iterator_twin(export_thread)
    aexport_resource = async_iterator_twin(export_resource)
    aerase_resource = async_twin(erase_resource)
