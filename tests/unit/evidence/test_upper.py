"""Upper bounds follow from their certificates, and acquit within the claim while their premises hold."""

import math

import pytest

from tests.records import read_all
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.premises import Premise, Taken
from verifiable_dp.evidence.upper import Method, UpperBound, evaluated
from verifiable_dp.record import conclude

REPLAYED = Premise(Taken.POST_PROCESSING, tested_by="alignment")


def sums(*states):
    rows = [{"state": str(number), "terms": list(terms)} for number, terms in enumerate(states)]
    return {"form": "sums", "states": rows}


def bound(certificate, *premises, **others):
    return UpperBound.of(certificate, method=Method.STATES, premises=premises, **others)


def alignment(verdict="not_refuted", **result):
    numbers = {"epsilon": 1.0, "visible": True, "max_cost": 1.0}
    return {
        "name": "alignment",
        "kind": "alignment",
        "statistics": numbers,
        "result": {"verdict": verdict, "epsilon_lower": 0.5, **result},
    }


@pytest.mark.parametrize(
    ("states", "epsilon"),
    [
        ([], 0.0),
        ([[[1, 2, 1]]], 0.5),
        ([[[1, 2, 1], [1, 4, 2]], [[1, 2, 1]]], 1.0),
        ([[[1, 0, 1]]], math.inf),
        ([[[0, 0, 1]], [[1, 0, 0]]], 0.0),
    ],
)
def test_the_largest_sum_of_costs_counts(states, epsilon):
    assert bound(sums(*states)).epsilon == epsilon
    assert bound(sums(*states)).check(1.0).result["epsilon_upper"] == (
        epsilon if math.isfinite(epsilon) else "inf"
    )


@pytest.mark.parametrize(
    "certificate",
    [
        {"form": "hearsay"},
        {},
        sums([[-1, 1, 1]]),
        sums([[1, -1, 1]]),
        {"form": "digest", "epsilon": -1},
    ],
)
def test_what_gives_no_epsilon_is_refused(certificate):
    with pytest.raises(InputError, match="certificate"):
        evaluated(certificate, 0.0)


def test_a_bound_says_what_its_certificate_gives():
    with pytest.raises(InputError, match="epsilon must be what the certificate gives"):
        UpperBound(0.4, 0.0, "certified", None, Method.STATES, (), sums([[1, 2, 1]]))
    with pytest.raises(InputError, match="scope must be"):
        bound(sums(), scope="always")
    with pytest.raises(InputError, match="method must be one of"):
        UpperBound.of(sums(), method="guesswork", premises=())
    with pytest.raises(InputError, match="premise must be one of"):
        Premise("hearsay")


def test_it_is_judged_again_from_its_certificate():
    check = bound(sums([[1, 1, 1]]), REPLAYED, paths=3, scope="n paths").check(1.0)
    assert check.result == {"verdict": "not_refuted", "epsilon_upper": 1.0}
    dearer = {**check.statistics, "certificate": sums([[1.01, 1, 1]])}
    assert judged(check.kind, dearer) == {"verdict": "inconclusive", "epsilon_upper": 1.01}
    assert (
        in_words(Check.read(check.as_dict()))
        == "epsilon at most 1 (3 paths, by unfolding all public states), claimed 1"
    )


def test_it_acquits_within_the_claim_and_only_while_its_premises_hold():
    within = bound(sums([[1, 1, 1]]), REPLAYED).check(1.0).as_dict()
    above = bound(sums([[2, 1, 1]]), REPLAYED).check(1.0).as_dict()
    for checks, verdict, epsilon in (
        ([alignment(), within], "not_refuted", 1.0),
        ([alignment(), above], "inconclusive", 2.0),
        ([alignment(), above, {**within, "name": "another"}], "not_refuted", 1.0),
        ([alignment("refuted"), within], "refuted", None),
        ([alignment("inconclusive"), within], "inconclusive", None),
        ([alignment(holds=False), within], "inconclusive", None),
        ([within], "inconclusive", None),
    ):
        found = conclude.epsilon_upper(read_all(checks))
        assert (found and found.epsilon) == epsilon
        assert conclude.privacy(read_all(checks)) == verdict
