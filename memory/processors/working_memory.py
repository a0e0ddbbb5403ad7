"""`WorkingMemory`: what an agent keeps in mind, in its prompt and as a tool (contract section 5)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory.asynchronous import async_twin
from memory.exceptions import ConversationMemoryError, RecallError, ThreadNotFound
from memory.models import Thread
from memory.models import WorkingMemory as WorkingMemoryRow
from memory.processors.base import Processor, RequestContext, Storage, logger
from memory.processors.message_list import MessageList
from memory.processors.working_memory_text import TAG, TOOL_NAME, system_text, tool_definition
from memory.recall import WorkingMemoryConfig
from memory.recall.config import Scope
from memory.validation import Check


class WorkingMemory(Processor):
    """Shows the model its working memory, and lets it write there by a tool.

    Args:
        storage, logger: see :class:`Processor`.
        template: the form as Markdown; the tool replaces the whole text.
        schema: the form as a JSON schema, in place of a template; the tool's object is merged.
        scope: "resource" for one memory of all the owner's threads, "thread" for one of each.
        read_only: the model only reads; there is no tool.

    What is not given is that of the storage's agent.

    Raises:
        RecallError: a wrong option.
    """

    id = "working-memory"
    name = "WorkingMemory"

    def __init__(
        self,
        storage: Storage | str | None = None,
        *,
        template: str | None = None,
        schema: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
        read_only: bool | None = None,
        logger: logging.Logger = logger,
    ) -> None:
        super().__init__(storage, logger=logger)
        given = {"template": template, "schema": schema, "scope": scope, "read_only": read_only}
        self.options = {
            "enabled": True,
            **{name: value for name, value in given.items() if value is not None},
        }
        check = Check()
        WorkingMemoryConfig.read(check, self.options, "working_memory")
        check.finish()

    def form(self, context: RequestContext) -> WorkingMemoryConfig:
        """Scope and form for a run."""
        config = self.config(context, working_memory=self.options)
        return replace(config.working_memory, read_only=config.working_memory.read_only or config.read_only)

    def on_input(self, messages: MessageList, context: RequestContext) -> MessageList:
        """Add the system message with the form and the present text. At most 2 queries.

        Raises:
            RecallError: the scope is "resource" and the context names none.
            ThreadNotOwned: the thread is not the context's resource's.
        """
        form = self.form(context)
        value = WorkingMemoryRow.objects.db_manager(self.using).get_value(
            config=form, thread_id=context.thread_id, resource_id=context.resource_id
        )
        return messages.add_system(system_text(value, form), tag=TAG)

    def tools(self, context: RequestContext) -> list[dict[str, Any]]:
        """The tool in the form of the OpenAI API; none where the model may only read."""
        form = self.form(context)
        return [] if form.read_only else [tool_definition(form)]

    def call(self, arguments: str | Mapping[str, Any], context: RequestContext) -> dict[str, Any]:
        """Carry out a call of the tool.

        Args:
            arguments: what the model sent, as JSON or read already: `{"memory": text or object}`.
            context: the conversation. A thread of the scope "thread" that does not exist is made.

        Returns:
            `{"success": True}`, or `{"success": False, "message": what was wrong}` for the model to read.
        """
        form = self.form(context)
        if form.read_only:
            return {"success": False, "message": "The working memory is read-only."}
        try:
            value = _read_arguments(arguments, form)
            if value is None or value == {}:
                return {"success": True}
            self._apply(value, form, context)
        except ConversationMemoryError as error:
            return {"success": False, "message": str(error)}
        return {"success": True}

    acall = async_twin(call)

    def _apply(
        self, value: str | Mapping[str, Any], form: WorkingMemoryConfig, context: RequestContext
    ) -> None:
        apply = WorkingMemoryRow.objects.db_manager(self.using).apply_tool_call
        # A thread is named only where its memory is meant: a conversation may be younger than its owner's.
        thread_id = context.thread_id if form.scope == "thread" else None
        try:
            apply(value, config=form, thread_id=thread_id, resource_id=context.resource_id)
        except ThreadNotFound:
            if context.resource_id is None:
                raise
            Thread.objects.db_manager(self.using).create_thread(
                context.resource_id, thread_id=context.thread_id
            )
            apply(value, config=form, thread_id=thread_id, resource_id=context.resource_id)


def is_working_memory_tool(name: str) -> bool:
    """Whether a call of a model is one of this tool."""
    return name == TOOL_NAME


def _read_arguments(
    arguments: str | Mapping[str, Any], form: WorkingMemoryConfig
) -> str | Mapping[str, Any] | None:
    """The text or object that the model sent; None = it has nothing to say."""
    value = _read_json(arguments, "arguments") if isinstance(arguments, str) else arguments
    if not isinstance(value, Mapping):
        raise RecallError.at("arguments", 'must be a JSON object: {"memory": ...}')
    memory = value.get("memory")
    if memory is None:
        return None
    if form.schema is None:
        return memory if isinstance(memory, str) else json.dumps(memory, ensure_ascii=False)
    if isinstance(memory, str):
        memory = _read_json(memory, "memory")
    if not isinstance(memory, Mapping):
        raise RecallError.at("memory", "must be an object by the schema")
    return memory


def _read_json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecallError.at(path, f"must be JSON: {error}") from error
