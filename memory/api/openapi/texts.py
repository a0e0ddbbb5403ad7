"""What only people need to know of a field: words, and an example.

One entry for each name on the wire; where the same name means something else in one shape, the shape stands
before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rest_framework.serializers import ListSerializer

from memory.api.fields import WireSerializer

if TYPE_CHECKING:
    from rest_framework.serializers import Field

    _Field = Field[Any, Any, Any, Any]


class Text(NamedTuple):
    """Words, and an example; `alone` = it cannot stand beside the other examples of its shape."""

    words: str
    example: Any = None
    alone: bool = False


_DATE = "2026-01-31T09:00:00.000Z"
_TEXT = "Where is the best ramen in Seoul?"
_CONTENT = {"format": 2, "parts": [{"type": "text", "text": _TEXT}], "metadata": {"priority": "high"}}

TEXTS: dict[str, Text] = {
    "agentId": Text("The name of an agent of the site; missing: `default`.", "default"),
    "resourceId": Text("The owner: a resource that the caller may touch.", "customer-7"),
    "threadId": Text("The thread.", "travel-2026"),
    "page": Text("The number of the page, from 0.", 0),
    "perPage": Text("Most rows of a page.", 20),
    "title": Text("The title of the thread.", "Travel"),
    "metadata": Text("Free data about the thread, a JSON object.", {"category": "travel"}),
    "orderBy": Text("The order.", {"field": "createdAt", "direction": "DESC"}),
    "filter": Text(
        "What messages must match: a range of dates, and metadata by type and value.",
        {"dateRange": {"start": "2026-01-01"}, "metadata": {"priority": "high"}},
    ),
    "include": Text(
        "Messages by id, with their neighbours, beside the page; `filter` does not concern them.",
        [{"id": "m-1", "withPreviousMessages": 1, "withNextMessages": 1}],
    ),
    "memoryConfig": Text("Options over those of the agent.", {"lastMessages": 20}),
    # Query parameters
    "ThreadListQuery.metadata": Text(
        "What the metadata of threads must hold, by type and value.", {"category": "travel"}
    ),
    "ThreadListQuery.orderBy": Text(
        "The order; missing: the newest first. Older clients name the field, beside `sortDirection`.",
        {"field": "updatedAt", "direction": "DESC"},
    ),
    "includeSystemReminders": Text("Show them with the name of an agent too; without one they are.", False),
    "searchQuery": Text("What is searched: a sentence, or words that all have to be there.", "ramen Seoul"),
    "limit": Text("Most results.", 20),
    "offset": Text("Results to pass over.", 0),
    "from": Text("The first moment.", "2026-01-01"),
    "to": Text("The last moment.", "2026-01-31T09:00:00Z"),
    # Bodies
    "newThreadId": Text("The id of the copy; missing: a new one.", "travel-2026-copy"),
    "ThreadBody.threadId": Text("The id of the thread; missing: a new one.", "travel-2026"),
    "options": Text("What is copied; missing: everything."),
    "messageLimit": Text("Only so many of the newest messages; 0: all.", 50),
    "messageFilter": Text("Only these messages."),
    "startDate": Text("From this moment on.", "2026-01-01"),
    "endDate": Text("Up to this moment, its whole millisecond.", "2026-12-31T09:00:00Z"),
    "messageIds": Text(
        "Ids of messages, or objects that hold one; a single one needs no list.", ["m-1", "m-2"]
    ),
    "SaveBody.messages": Text(
        "Messages to store, each with its thread and its resource.",
        [
            {
                "id": "m-1",
                "threadId": "travel-2026",
                "resourceId": "customer-7",
                "role": "user",
                "content": _CONTENT,
            }
        ],
    ),
    "vectorSearchString": Text("Search by meaning, where the agent has that on; blank: no search.", _TEXT),
    "RecallBody.perPage": Text(
        "Most messages of the page; false: all of them; 0: no history; missing: `lastMessages` of the agent.",
        20,
    ),
    "threadConfig": Text("Options over those of the agent.", {"semanticRecall": {"topK": 3}}),
    "includeTotal": Text("Whether `total` and `pendingEmbeddings` are counted.", True),
    "cursor": Text(
        "A `nextCursor` or `prevCursor`, as it came; not beside `page`.", "WyIyMDI2...", alone=True
    ),
    # Answers
    "id": Text("The id of the message.", "m-1"),
    "ThreadShape.id": Text("The id of the thread.", "travel-2026"),
    "createdAt": Text("When it was made.", _DATE),
    "updatedAt": Text("When it was last changed or written to.", _DATE),
    "role": Text("Who speaks.", "user"),
    "type": Text("What the sender called it, where that is not format 2.", "text", alone=True),
    "content": Text("What the message says.", _CONTENT),
    "NeighbourShape.content": Text("The text of the message.", _TEXT),
    "recall": Text("Why it is here."),
    "sources": Text("Where it came from.", ["history", "semantic"]),
    "similarity": Text("How near it is to the search string; null: it is no hit.", 0.83),
    "total": Text("All rows that match, on every page.", 1),
    "RecallShape.total": Text("Messages of the thread that match; null: `includeTotal` is false.", 1),
    "PageShape.page": Text("The number of the page.", 0),
    "RecallShape.page": Text("The number of the page; null: it was found by its cursor.", 0),
    "PageShape.perPage": Text("Most rows of the page; false: all.", 20),
    "hasMore": Text("Whether there is a row beyond this page.", False),
    "threads": Text("The threads of the page."),
    "messages": Text("The messages, in order."),
    "uiMessages": Text("Always null."),
    "usage": Text("What the search cost; null: there was none."),
    "tokens": Text("Tokens that the embedder counted.", 9),
    "pendingEmbeddings": Text("Messages that cannot be found by meaning yet; null: not counted.", 0),
    "nextCursor": Text("Where the next page begins; null: this is the last.", "WyIyMDI2..."),
    "prevCursor": Text("Where the page before ends; null: this is the first."),
    "thread": Text("The copy."),
    "clonedMessages": Text("Its messages."),
    "messageIdMap": Text("From the id of each message to that of its copy.", {"m-1": "m-1-copy"}),
    "result": Text("What was done.", "Thread deleted"),
    "StatusShape.result": Text("Always true: there is a memory.", True),
    "memoryType": Text("Where it is kept; missing for an unknown agent.", "local"),
    "success": Text("Always true.", True),
    "message": Text("What was done.", "2 messages deleted successfully"),
    "threadTitle": Text("The title of its thread, or the id of one without.", "Travel"),
    "context": Text("Its neighbours; missing where there are none."),
    "before": Text("Those before it."),
    "after": Text("Those after it."),
    "results": Text("The messages that were found."),
    "count": Text("How many there are.", 1),
    "query": Text("What was searched.", "ramen Seoul"),
    "searchScope": Text("Where it was searched.", "resource"),
    "searchType": Text("`semantic`: by meaning; `text`: by words, the newest first.", "text"),
    "workingMemory": Text("What is remembered; null: nothing.", "# Profile\n- **Name**: Ada"),
    "WorkingMemoryBody.workingMemory": Text(
        "What is to be remembered, all of it.", "# Profile\n- **Name**: Ada"
    ),
    "source": Text("Whose it is.", "resource"),
    "workingMemoryTemplate": Text("Its form; null: it has none."),
    "threadExists": Text("Whether the thread exists.", True),
    "format": Text("How it is written.", "markdown"),
    "TemplateShape.content": Text("The form itself.", "# Profile\n- **Name**:"),
    "ContentShape.format": Text("Always 2.", 2),
    "ContentShape.content": Text("The text as a whole, where it is not that of the parts."),
    "ContentShape.metadata": Text("What filters look at.", {"priority": "high"}),
    "parts": Text("The parts, in order."),
    "PartShape.type": Text("`text`, `tool-invocation`, `reasoning`, `file` and whatever else came.", "text"),
    "text": Text("The text of a part of this type.", _TEXT),
    "config": Text(
        "How the memory of the agent is configured; null for an unknown agent.",
        {
            "lastMessages": 10,
            "semanticRecall": False,
            "generateTitle": False,
            "workingMemory": {"enabled": False, "scope": "resource"},
            "readOnly": False,
        },
    ),
    # Errors
    "error": Text("What went wrong.", "There is no agent with this name."),
    "issues": Text("All that is wrong, where input was bad."),
    "field": Text("Its path, as the request spelled it.", "filter.dateRange.start"),
    "IssueShape.message": Text("What is wrong there, and what is allowed."),
}


def text_of(serializer: WireSerializer, name: str) -> Text:
    """What is said of a field.

    Raises:
        KeyError: nothing: a new field wants an entry in `TEXTS`.
    """
    for shape in type(serializer).__mro__:
        if found := TEXTS.get(f"{shape.__name__}.{name}"):
            return found
    return TEXTS[name]


def example_of(field: _Field) -> Any:
    """An example of a whole shape."""
    if isinstance(field, ListSerializer):
        return [example_of(field.child)] if field.child else []
    if not isinstance(field, WireSerializer):
        return None
    found = {}
    for name, nested in field.fields.items():
        text = text_of(field, name)
        if not text.alone:
            composed = isinstance(nested, WireSerializer | ListSerializer) and text.example is None
            found[name] = example_of(nested) if composed else text.example
    return found
