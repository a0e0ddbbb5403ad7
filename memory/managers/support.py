"""The verbs of support staff, which the managers inherit: deleting many, redacting, exporting,
erasing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from memory.asynchronous import async_iterator_twin, async_twin
from memory.managers.deleting import delete_threads
from memory.managers.erasing import Erasure, count_owned
from memory.managers.exporting import Export
from memory.managers.redacting import Redaction, find_copies, find_titled_threads

if TYPE_CHECKING:
    from memory.export import ExportOptions
    from memory.recall import EraseReceipt, RedactReceipt
    from memory.schema import Message, Thread


class MessageSupport:
    """Of `Message.objects`."""

    db: str
    write_db: str

    def redact_messages(
        self,
        ids: str | Sequence[str | Mapping[str, Any]],
        *,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
        clear_titles: bool = False,
    ) -> RedactReceipt:
        """Take what messages say out of the database: type, text, parts, metadata, vectors, jobs, words.

        A tombstone stays in the place of each (contract section 3); the `updated_at` of its thread rises.
        Messages redacted before are left alone. Working memories may tell the same: they are not touched.
        Copies are other messages: see :meth:`find_copies`. On SQLite it ends with the merge of the word
        index, 0.3 s with 100,000 messages.

        Args:
            ids: one id, or ids and `{"id"}` objects. Unknown ids are ignored.
            resource_id: only messages of this owner; others count as unknown.
            owners: messages of other resources than these count as unknown; None = of none.
            clear_titles: empty the titles that show a piece of the text: see :meth:`find_titled_threads`.

        Returns:
            The ids and numbers; at most 18 queries.

        Raises:
            RecallError: bad input; nothing was written.
        """
        return Redaction(
            ids, resource_id=resource_id, owners=owners, clear_titles=clear_titles, using=self.write_db
        ).run()

    def find_copies(
        self, ids: str | Sequence[str | Mapping[str, Any]], *, owners: Collection[str] | None = None
    ) -> list[Message]:
        """The other messages that cloning has made of these, or these of, over any number of clones; oldest
        first, without those that are redacted. 3 queries, and 2 more for each generation of clones.

        Args:
            ids: one id, or ids and `{"id"}` objects.
            owners: only messages of these resources; None = of all.

        Raises:
            RecallError: bad input.
        """
        return find_copies(ids, owners=owners, using=self.db)

    def find_titled_threads(
        self, ids: str | Sequence[str | Mapping[str, Any]], *, owners: Collection[str] | None = None
    ) -> list[Thread]:
        """The threads of these messages whose title shows a piece of their text, or is shown by it. 1 query.

        The title that a thread gets at once is the first sentence of its user. One that a model wrote, in
        other words, is not recognised.

        Args:
            ids: one id, or ids and `{"id"}` objects.
            owners: only threads of these resources; None = of all.

        Raises:
            RecallError: bad input.
        """
        return find_titled_threads(ids, owners=owners, using=self.db)

    aredact_messages = async_twin(redact_messages)
    afind_copies = async_twin(find_copies)
    afind_titled_threads = async_twin(find_titled_threads)


class ThreadSupport:
    """Of `Thread.objects`."""

    db: str
    write_db: str

    def delete_threads(self, ids: Sequence[str], *, owners: Collection[str] | None = None) -> list[str]:
        """:meth:`delete_thread` for many, in one transaction; unknown ids are ignored. The number of queries
        depends neither on theirs nor on that of their messages.

        Args:
            ids: the threads.
            owners: threads of other resources than these count as unknown; None = of none.

        Returns:
            The ids of the threads that were deleted.

        Raises:
            RecallError: bad input; nothing was deleted.
        """
        return delete_threads(ids, owners=owners, using=self.write_db)

    def export_thread(
        self,
        thread_id: str,
        *,
        owners: Collection[str] | None = None,
        **options: Unpack[ExportOptions],
    ) -> Iterator[str]:
        """A thread with its messages in order, as text.

        Args:
            thread_id: the thread.
            owners: threads of other resources than these count as missing; None = of none.
            options: see :class:`memory.export.ExportOptions`.

        Returns:
            Pieces of the text, made as they are asked for: 1 query, and 1 for each 25 messages and 25
            versions. Memory does not grow with the length.

        Raises:
            RecallError: bad input.
            ThreadNotFound: there is no such thread. Both are raised by the call, before the first piece.
        """
        return Export(owners=owners, using=self.db, **options).of_thread(thread_id)

    adelete_threads = async_twin(delete_threads)
    aexport_thread = async_iterator_twin(export_thread)


class ResourceSupport:
    """Of `Resource.objects`."""

    db: str
    write_db: str

    def count_owned(self, resource_id: str, *, cap: int = 10_000) -> dict[str, int]:
        """How much an owner has, counted up to `cap` + 1 of each kind: what a page that asks for
        confirmation shows. At most 5 queries; all 0 for an owner that does not exist.

        Returns:
            The numbers of `threads`, `messages` and `versions` of working memories.

        Raises:
            RecallError: bad input.
        """
        return count_owned(resource_id, cap=cap, using=self.db)

    def export_resource(
        self,
        resource_id: str,
        *,
        owners: Collection[str] | None = None,
        **options: Unpack[ExportOptions],
    ) -> Iterator[str]:
        """An owner with everything it owns, as text: threads by date, each with its messages in order.

        Args:
            resource_id: the resource.
            owners: resources other than these count as missing; None = of none.
            options: see :class:`memory.export.ExportOptions`.

        Returns:
            Pieces of the text, made as they are asked for: 2 queries, 1 for each 100 threads, and
            for each thread 1 for 25 messages and 1 for 25 versions. Memory does not grow with the length.

        Raises:
            RecallError: bad input.
            ResourceNotFound: there is no such resource. Both are raised by the call, before the first piece.
        """
        return Export(owners=owners, using=self.db, **options).of_resource(resource_id)

    def erase_resource(
        self,
        resource_id: str,
        *,
        vacuum: bool = False,
        advance: Callable[[int], object] | None = None,
        finish: Callable[[dict[str, int]], object] | None = None,
    ) -> EraseReceipt:
        """Erase an owner with everything it owns: threads, messages, vectors, jobs, words, working memories
        with their versions, and its row. For good.

        The texts of Django's admin log about these objects, and those deleted before that events name, are
        blanked, and `AdminEvent`s name them by hashes from now on. The account that the owner is linked to
        stays: it is the site's.

        Up to 100 threads and 2,000 messages go in one transaction, whatever the size of the owner. When it
        is interrupted, call it again. An owner that does not exist, or that is gone already, is no error. A
        save at the same time either comes first and is erased, or makes a new owner.

        Args:
            resource_id: the owner.
            vacuum: free the space too: on PostgreSQL in the tables of this app, on SQLite by writing the
                file anew, which also takes away what earlier edits left of former texts. Slow, and not
                inside a transaction.
            advance: called with the number of messages that were just erased.
            finish: called with the counts in the last transaction, the one that takes the owner's row; what
                it writes is there if, and only if, the owner is gone. Where that transaction has to be
                repeated, so is the call.

        Returns:
            The receipt: counts, a hash of the id, when, and when the bytes leave the disk.

        Raises:
            RecallError: bad input; nothing was erased.
        """
        return Erasure(resource_id, vacuum=vacuum, advance=advance, finish=finish, using=self.write_db).run()

    acount_owned = async_twin(count_owned)
    aexport_resource = async_iterator_twin(export_resource)
    aerase_resource = async_twin(erase_resource)
