"""The sampler of production in an audit of the catalogue."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.records import reviewed
from verifiable_dp.auditing import production
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries
from verifiable_dp.render import audited as rows_audited
from verifiable_dp.render import page, summary_card


def rule():
    return vdp.make("dp-se", n_arms=2, epsilon=1.0, horizon=720, beta=0.999)


def audited(**options):
    return vdp.audit(rule(), budget="smoke", mutants=False, numerics=True, **options)


@pytest.fixture(scope="module")
def report():
    return audited()


def of_bits(report):
    (check,) = report.parsed.of_kind("numerics")
    return check


def test_the_sampler_of_production_is_tested_and_named(report):
    check = of_bits(report)
    assert check.verdict == "not_refuted"
    assert check.statistics["sampler"].startswith("OpenDP ")
    assert report.verdict == "not_refuted"
    assert "sampler" not in [left.id for left in report.parsed.not_covered]


def test_textbook_noise_in_its_place_is_refuted(monkeypatch):
    """Negative control: value + noise in floats, as a session with a seed draws."""
    monkeypatch.setattr(production, "Secure", lambda: Seeded(0))
    found = audited()
    assert of_bits(found).verdict == "refuted"
    assert found.verdict == "refuted"


def test_a_page_says_what_was_tested(report):
    """Control: without `numerics` it says that production was not audited."""
    plain = vdp.audit(rule(), budget="smoke", mutants=False)
    told, silent = (reviewed(one.record) for one in (report, plain))
    assert "whose last bits were tested: not refuted" in rows_audited.sampler(told)
    assert "was not tested here" in rows_audited.sampler(silent)
    caveats = [[line for line, _ in summary_card.of(one).caveats] for one in (told, silent)]
    assert not any("The noise generator you will run" in line for line in caveats[0])
    assert any("The noise generator you will run" in line for line in caveats[1])
    assert "OpenDP" in page.render(told, drawn=False)


def test_a_re_run_compares_the_verdict_of_what_is_never_drawn_again(report, tmp_path):
    """The counts of secure noise differ; all others are compared exactly."""
    path = tmp_path / "record.json"
    path.write_text(report.to_json())
    again = audited().record
    mine, theirs = (of_bits(one).statistics for one in (report, vdp.Report(again)))
    assert {key: mine[key] for key in ("k1", "k0")} != {key: theirs[key] for key in ("k1", "k0")}
    assert verify(path, rerun=lambda record: again).rerun
    other = json.loads(json.dumps(again))
    other["checks"][0]["statistics"]["examined"] += 1
    with pytest.raises(InputError, match="a re-run differs"):
        verify(path, rerun=lambda record: other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ucb1", "numerics works only with your own mechanism"),
        ("dp-lin-ucb", "numerics works only with your own mechanism"),
        ("shuffled-linear", "a single report or draw may cost more than epsilon; audit it without numerics"),
    ],
)
def test_what_has_no_such_noise_is_refused(name, words):
    auditor = entries.auditor(name)
    algorithm = auditor.algorithm(**auditor.instance)
    with pytest.raises(InputError, match=words):
        vdp.audit(algorithm, budget="smoke", numerics=True)


@pytest.mark.parametrize(("name", "numerics"), [("shuffled-linear", False), ("dp-se", True), ("ucb1", False)])
def test_what_may_be_asked_is_planned(name, numerics, monkeypatch):
    """Broken variant: what promises a delta is refused without numerics, too."""

    class Planned(Exception):
        pass

    def plan_of(*_):
        raise Planned

    monkeypatch.setattr("verifiable_dp.auditing.algorithms.plan_of", plan_of)
    auditor = entries.auditor(name)
    with pytest.raises(Planned):
        vdp.audit(auditor.algorithm(**auditor.instance), budget="smoke", numerics=numerics)


def test_the_record_is_whole(report):
    assert Record.of(report.record).plan.numerics is True


@pytest.mark.parametrize(
    ("scales", "values", "hidden", "found"),
    [
        ((2.0, 2.0), (0.0, 1.0), None, [(0.0, 1.0, 2.0)]),
        ((2.0, 2.0), (1.0, 1.0), None, []),  # nothing differs
        ((2.0, 1.0), (0.0, 1.0), None, []),  # nor is it the same noise
        ((0.0, 0.0), (0.0, 1.0), None, []),  # nor any
        ((2.0, 2.0), (0.0, 1.0), "outcome", [(0.0, 1.0, 2.0)]),  # half the claim
        ((1.0, 1.0), (0.0, 1.0), "outcome", [(0.0, 1.0, 1.0)]),  # the claim
        ((0.9, 0.9), (0.0, 1.0), "outcome", []),  # shown it would cost more
    ],
)
def test_which_entries_of_two_draws_are_compared(scales, values, hidden, found):
    one, two = (
        SimpleNamespace(
            normal=False,
            freedom=0,
            value=np.array([[value]]),
            scale=np.array([[scale]]),
            where=np.array([[True]]),
            hidden=hidden,
            count=None,
            excess=0.0,
        )
        for value, scale in zip(values, scales, strict=True)
    )
    made = production._pairs(one, two, 1.0)
    assert [(float(pair.left[0]), float(pair.right[0]), pair.scale) for pair in made] == found
