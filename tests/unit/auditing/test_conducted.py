"""What an audit that is conducted here makes of the last word of the code's process."""

import contextlib

import pytest

from verifiable_dp.auditing import conducted
from verifiable_dp.auditing.conducted import Conducted
from verifiable_dp.auditing.request import AuditRequest, Promise
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.heard import Heard

DRAFT = {"checks": [], "claim": {"epsilon": 1.0, "delta": 0.0}}


def made(monkeypatch, found, told):
    monkeypatch.setattr(conducted.child, "served", lambda *given: (found, told))
    asked = AuditRequest("x", "x", Promise(epsilon=1.0))
    one = Conducted(asked, None, None, None, Heard([0], "key"))
    return one.made(lambda line: None, Caged("none", seconds=1.0), contextlib.nullcontext)


def test_what_both_processes_have_spent_is_noted(monkeypatch):
    found = (None, {"draft": DRAFT, "started": 0.0, "cpu_seconds": 1.5})
    done = made(monkeypatch, found, {"cpu_seconds": 2.0})
    assert done["cpu_seconds"] == 3.5
    assert done["draft"] == DRAFT
    assert done["kept"] == {"counted": {"asked_again": 0, "key": "key"}}


@pytest.mark.parametrize(
    "told", [{"cpu_seconds": "2"}, {"cpu_seconds": -1.0}, {"cpu_seconds": float("inf")}, 3, {}]
)
def test_another_last_word_is_no_verdict(told, monkeypatch):
    found = (None, {"draft": DRAFT, "started": 0.0, "cpu_seconds": 1.5})
    with pytest.raises(InputError, match="something that it was not asked for"):
        made(monkeypatch, found, told)


def test_a_verdict_that_nobody_asked_for_is_none(monkeypatch):
    with pytest.raises(InputError, match="something that it was not asked for"):
        made(monkeypatch, None, {"cpu_seconds": 2.0})
