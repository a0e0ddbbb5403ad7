"""Conformance: 41 scenarios with the answers that the implementation the seeds describe really gave.

Where a recorded answer contradicts the contract, the contract decides: such calls stand in
:data:`tests.rulings.RULINGS` with the rule and the right answer, which is asserted all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import override_settings

from tests.oracle import Runner, difference, recorded_answer, settings_for
from tests.rulings import RULINGS
from tests.scenarios import FOLDER, NAMES, load

OnCommit = Callable[..., AbstractContextManager[list[Callable[[], Any]]]]


def test_all_scenarios_are_here() -> None:
    """Each scenario has its answers, and none got lost: an empty folder would pass every other test."""
    answers = sorted(path.stem for path in (FOLDER / "expected").glob("*.json"))
    assert answers == NAMES
    assert len(NAMES) == 41


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_scenario(name: str, on_commit: OnCommit) -> None:
    """Every call answers what was recorded, or what the contract says instead."""
    scenario = load(name)
    differences = []
    with override_settings(MEMORY=settings_for(scenario)):
        runner = Runner(scenario)
        with on_commit():
            runner.prepare()
        for call in scenario.calls:
            ruling = RULINGS.get((name, call.name))
            right = ruling.right if ruling else recorded_answer(call)
            with on_commit():
                answer = runner.answer(call)
            if found := difference(right, answer):
                rule = ruling.rule if ruling else "as recorded"
                differences.append(f"{call.name}, {call.method} ({rule})")
                differences.append("  right: {!r:.2000}\n  got:   {!r:.2000}".format(*found))
    assert not differences, "\n".join([name, *differences])


@pytest.mark.parametrize(("name", "call_name"), RULINGS)
def test_no_ruling_is_stale(name: str, call_name: str) -> None:
    """A ruling names a recorded call whose answer really contradicts the contract."""
    recorded = {call.name: recorded_answer(call) for call in load(name).calls}
    assert call_name in recorded
    assert difference(recorded[call_name], RULINGS[name, call_name].right)
