"""The system checks of the settings of the API."""

from __future__ import annotations

from typing import Any

import pytest

from memory.checks import check_settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RESOURCE_RESOLVER", None),
        ("HTTP_MAX_BODY", 0),
        ("HTTP_MAX_PER_PAGE", "5"),
        ("HTTP_MAX_UNPAGED", True),
        ("HTTP_THROTTLE_RATES", []),
        ("HTTP_THROTTLE_RATES", {"recal": "5/min"}),
        ("HTTP_THROTTLE_RATES", {"recall": 5}),
        ("HTTP_THROTTLE_RATES", {"recall": "often"}),
        ("HTTP_THROTTLE_RATES", {"recall": "0/min"}),
    ],
)
def test_wrong_values_are_told(settings: Any, name: str, value: Any) -> None:
    settings.MEMORY = {name: value}
    found = check_settings(None)
    assert [problem.id for problem in found] == ["memory.E002"]
    assert name in found[0].msg


def test_right_values_are_not(settings: Any) -> None:
    settings.MEMORY = {
        "HTTP_THROTTLE_RATES": {"recall": "60/min", "search": "1/s"},
        "RESOURCE_RESOLVER": "a.b",
    }
    assert check_settings(None) == []
