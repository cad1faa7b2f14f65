"""Upper bounds follow from their certificates, and acquit within the claim while their premises hold."""

import json
import math

import pytest

from tests.records import read_all
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.premises import Premise, Taken
from verifiable_dp.evidence.upper import (
    LARGEST,
    Method,
    UpperBound,
    condensed,
    evaluated,
    examined,
    unfounded,
)
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


def traced(units=1, **more):
    """Of one path, on which a sum with Laplace noise of scale 2 is shown."""
    shifts = [{"type": "linear", "terms": [[0, 0.0, [[0, -0.5]]]]}] * 2
    pattern = {"frame": 0, "entries": [[0.0, 1.0, [[0, 1.0]], False]], "up": shifts[0], "down": shifts[1]}
    return {
        "form": "paths",
        "version": 1,
        "frames": [{"draws": [["laplace", 0.0]], "rows": [["=", [[0, 2.0]]]]}],
        "patterns": [pattern],
        "profiles": [{"groups": [[0, 7, 1]]}],
        "paths": [{"path": 0, "units": [[0, list(range(units))]]}],
        **more,
    }


def tracing(certificate):
    return UpperBound.of(certificate, method=Method.TRACING, premises=(), scope="every path", paths=1)


def test_a_bound_of_traced_code_is_the_judges():
    """An older one, or one of another form, adds up costs that somebody wrote down."""
    assert tracing(traced()).epsilon == 0.5
    with pytest.raises(InputError, match="certificate must be of the form paths for tracing"):
        tracing(sums([[1, 2, 1]]))
    with pytest.raises(InputError, match="version must be 1, got None; older ones add up costs"):
        tracing({"form": "paths", "paths": [{"path": 0, "unit": 0, "terms": [[7, 0.5, 0.0]]}]})
    wrong = traced()
    wrong["patterns"][0]["up"]["terms"] = [[0, 0.0, [[0, 0.5]]]]
    with pytest.raises(InputError, match="certificate: row 0 moves"):
        tracing(wrong)
    assert "form paths" in unfounded(
        {**tracing(traced()).check(1.0).statistics, "premises": FOUNDED, "certificate": sums()}
    )


FOUNDED = [
    {"id": str(taken), "values": {}, "tested_by": ""}
    for taken in (Taken.NO_STATE, Taken.AS_TRACED, Taken.IDEAL_NOISE_OF_CODE)
]


def test_a_record_holds_a_certificate_whole_or_by_its_digest():
    small = tracing(traced(calls=[1])).check(1.0)
    assert small.statistics["certificate"] == traced(calls=[1])
    words = (
        "epsilon at most 0.5 if its premises hold (every path, by tracing with any rewards within the "
        "bounds; 1 row {}), "
    )
    assert in_words(small) == words.format("checked, 0 charges taken on trust") + "claimed 1"
    assert condensed(small.as_dict()) == small.as_dict()
    whole = tracing(traced(LARGEST // 4, calls=[1])).check(1.0)
    large = Check.read(condensed(whole.as_dict()))
    held = large.statistics["certificate"]
    assert len(json.dumps(held)) < 300
    assert (held["form"], held["of"], held["calls"], held["rows"]) == ("digest", "paths", [1], 1)
    assert large.result == whole.result == small.result
    with pytest.raises(InputError, match="sent an upper bound without its certificate"):
        condensed(large.as_dict())
    assert (
        in_words(large)
        == words.format("not checked (the record has only a digest), 0 charges taken on trust") + "claimed 1"
    )
    assert unfounded({**large.statistics, "premises": FOUNDED, "certificate": {**held, "calls": []}}) != ""
    other = condensed(tracing(traced(LARGEST // 4 + 1, calls=[1])).check(1.0).as_dict())
    assert other["statistics"]["certificate"]["sha256"] != held["sha256"]


def test_what_was_checked_is_told():
    """Replays need a re-run; of other bounds there is nothing to tell."""
    statistics = tracing(traced()).check(1.0).statistics
    assert examined(statistics) == "1 row checked, 0 charges taken on trust, replays not run again"
    assert examined(statistics, rerun=True).endswith("replays run again")
    assert examined(bound(sums()).check(1.0).statistics) == ""


def test_it_is_judged_again_from_its_certificate():
    check = bound(sums([[1, 1, 1]]), REPLAYED, paths=3, scope="n paths").check(1.0)
    assert check.result == {"verdict": "not_refuted", "epsilon_upper": 1.0}
    dearer = {**check.statistics, "certificate": sums([[1.01, 1, 1]])}
    assert judged(check.kind, dearer) == {"verdict": "inconclusive", "epsilon_upper": 1.01}
    assert (
        in_words(Check.read(check.as_dict()))
        == "epsilon at most 1 if its premises hold (3 paths, by unfolding all public states), claimed 1"
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
