"""The REST API: what each route takes and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rest_framework.test import APIClient

BASE = "/api/memory"


class Answer:
    """Status, headers and the decoded body; every answer of this API is JSON."""

    def __init__(self, response: Any) -> None:
        assert response["content-type"] == "application/json", (response.status_code, response.content)
        self.status: int = response.status_code
        self.headers = response.headers
        self.body: Any = json.loads(response.content)

    def __repr__(self) -> str:
        return f"{self.status} {self.body}"

    @property
    def fields(self) -> list[str]:
        """The paths of the issues."""
        return [issue["field"] for issue in self.body["issues"]]


class Caller:
    """A client that speaks for one user."""

    def __init__(self, user: Any) -> None:
        self.user = user
        self.client = APIClient()
        if user is not None:
            self.client.force_authenticate(user)

    def get(self, path: str, **query: Any) -> Answer:
        return self.send("GET", path, **query)

    def post(self, path: str, body: Any = None, **query: Any) -> Answer:
        return self.send("POST", path, body, **query)

    def patch(self, path: str, body: Any = None, **query: Any) -> Answer:
        return self.send("PATCH", path, body, **query)

    def delete(self, path: str, **query: Any) -> Answer:
        return self.send("DELETE", path, **query)

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """Objects and lists in `query` are sent as JSON, as the client library does."""
        data = b"" if body is None else json.dumps(body).encode()
        texts = {
            name: json.dumps(value) if isinstance(value, dict | list) else value
            for name, value in query.items()
        }
        return self.raw(method, path, data, **texts)

    def raw(
        self,
        method: str,
        path: str,
        data: bytes,
        *,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        return Answer(
            self.client.generic(
                method,
                f"{BASE}/{path}",
                data,
                content_type,
                query_params=query,
                headers={"accept": "*/*", **(headers or {})},
            )
        )


def ids(answer: Answer) -> list[str]:
    """Ids of the messages or threads that an answer holds."""
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.body.get("messages", answer.body.get("threads"))
    return [row["id"] for row in found]


def message(uid: str | None, thread: str, owner: str, text: str = "hello", **more: Any) -> dict[str, Any]:
    """A message as the client library sends it."""
    content = {"format": 2, "parts": [{"type": "text", "text": text}]}
    shape = {"threadId": thread, "resourceId": owner, "role": "user", "content": content, **more}
    return shape if uid is None else {"id": uid, **shape}
