"""Packages of others: what they register never takes our place, and never makes a claim stronger."""

import json
from importlib.metadata import EntryPoint

import pytest

from tests.committed import REPORTS
from tests.records import read_all
from verifiable_dp.core import plugins
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import check as checking
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.record import conclude
from verifiable_dp.record.decision import Decision


@pytest.fixture
def points(monkeypatch):
    """Registers more entry points, for this test."""
    real = plugins.entry_points

    def put(*more):
        plugins._points.cache_clear()
        monkeypatch.setattr(
            plugins,
            "entry_points",
            lambda group: [*real(group=group), *(p for p in more if p.group == group)],
        )
        monkeypatch.setattr(checking, "_KINDS", {})
        monkeypatch.setenv(plugins.ALLOWED, "tests, no-such-module")

    yield put
    plugins._points.cache_clear()


def point(name, value, group="verifiable_dp.checks"):
    return EntryPoint(name, value, group)


def test_no_package_takes_our_place(points):
    """Control: the same object registered twice is one."""
    ours = checking.kind_of("black_box")
    points(point("black_box", "tests.unit.evidence.test_plugins:LIAR"))
    with pytest.raises(
        InputError, match=r"^checks: 'black_box' is registered by .* and .*; uninstall the package of"
    ):
        checking.kind_of("black_box")
    points(point("black_box", "verifiable_dp.evidence.blackbox.test:BLACK_BOX"))
    assert checking.kind_of("black_box") is ours


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:KIND", "checks: no_such_module:KIND cannot be imported: "),
        (f"{__name__}:NOTHING", f"checks: {__name__}:NOTHING cannot be imported: "),
        (f"{__name__}:test_no_package_takes_our_place", "checks: .* must be the Kind 'mute', got <function"),
        (f"{__name__}:MUTE", ".*a judge and a sentence"),
    ],
)
def test_what_cannot_be_had_is_named_in_a_line(points, value, why):
    points(point("mute", value))
    with pytest.raises(InputError, match=f"^{why}") as error:
        checking.kind_of("mute")
    assert "\n" not in str(error.value)
    assert checking.kind_of("exact").name == "exact"  # what nobody asks for spoils nothing


def test_a_kind_that_nobody_registers_is_named_with_those_there_are(points):
    points(point("mute", f"{__name__}:MUTE"))
    with pytest.raises(
        InputError, match=r"^checks: must be one of .*black_box.*mute.*, got 'loud'; install the"
    ):
        checking.kind_of("loud")


MUTE = Kind("mute", "privacy")
LIAR = Kind("liar", "privacy")


@LIAR.judged_by()
def _judge(numbers):
    return {"verdict": numbers["verdict"], "epsilon_lower": numbers["lower"], "detectable": 0.5}


@LIAR.worded_by
def _in_words(numbers, result):
    return "all is well"


def said(verdict, lower):
    numbers = {"verdict": verdict, "lower": lower, "epsilon": 1.0, "delta": 0.0}
    return Check.of("liar", "liar", numbers).as_dict()


def test_a_kind_of_others_speaks_against_a_claim_and_never_for_it(points):
    points(point("liar", "tests.unit.evidence.test_plugins:LIAR"))
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    box = next(check for check in record["checks"] if check["kind"] == "black_box")
    blind = {**box, "result": {**box["result"], "detectable": "inf"}}
    assert conclude.conclusion(read_all([blind])) == ("inconclusive", "weak")
    assert conclude.conclusion(read_all([blind, said("not_refuted", 0.1)])) == ("inconclusive", "weak")
    assert conclude.epsilon_lower(read_all([box, said("not_refuted", 50.0)])) == conclude.epsilon_lower(
        read_all([box])
    )
    assert conclude.conclusion(read_all([box]))[0] == "not_refuted"
    assert conclude.conclusion(read_all([box, said("refuted", 2.0)]))[0] == "refuted"


def test_what_audited_nothing_passed_nothing():
    from verifiable_dp.core.units import Role

    assert Decision(None, None, "none", None, None, Role.USER, 1.0, (), 0, ()).result == "undecided"
