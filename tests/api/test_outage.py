"""What the API answers when its database does not."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from django.db import InterfaceError, OperationalError

from tests.api import Caller

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_a_database_that_is_away_is_503_in_json(
    staff: Caller, failure: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    """While the caller is being looked up, too: no other exception leaves a view (section 6)."""
    for target in ("memory.api.base.access_of", "rest_framework.views.APIView.perform_authentication"):
        with patch(target, side_effect=failure("connection refused")):
            answer: Any = staff.get("threads")
        assert answer.status == 503
        assert answer.body == {"error": "The database cannot be reached. Try again later."}
        assert answer.headers["Retry-After"] == "10"
    assert "connection refused" in caplog.text
