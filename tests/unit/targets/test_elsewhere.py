"""Runs that are sent are counted as where they were made; of pairs that are only ranked little is sent."""

import json

import numpy as np
import pytest

from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox.test import PROBE, Plan, count, counted_by, select
from verifiable_dp.targets.count_terms import CountTerms
from verifiable_dp.targets.counting import Counting
from verifiable_dp.targets.elsewhere import Elsewhere
from verifiable_dp.targets.load import DataPair, PlaySampler, ReleaseSampler

TERMS = CountTerms(0, 1e-6, 0.95, numerics=False, curve=False, joint=False, sure=0.999)
PLAN = Plan(16, 100, 200, finalists=2)


def release(data, size, rng):
    return data + rng.laplace(0, 0.2, size)


def play(rewards, rng):
    return [0, int(rewards[0, 0] + rng.laplace(0, 0.2) > 0.5)]


FORMS = {
    "release": (ReleaseSampler(release, 0), [DataPair(0.0, x) for x in (0.1, 1.0, 0.5)]),
    "play": (PlaySampler(play, False, 2, 2, 0), [TablePair(np.zeros((2, 2)), 0, arm, 1.0) for arm in (0, 1)]),
}


@pytest.mark.parametrize("name", FORMS)
def test_pairs_are_ranked_and_events_counted_as_where_they_were_made(name):
    sampler, pairs = FORMS[name]
    asked, parent = [], Counting(TERMS)

    def ask(message, frames):
        asked.append(json.loads(json.dumps(message)))
        return parent.answer(asked[-1], frames)

    def found():
        (best,), ranked = select(sampler, pairs, PLAN, delta=0.0, workers=1)
        return best.number, best.event.describe(), ranked, count(sampler, best, (200, 200), 1)

    here = found()
    with counted_by(Elsewhere(ask)):
        assert found() == here
    (look,) = parent.looks
    assert look.best({here[0]})
    probes = [one["pair"] for one in asked if one["path"][0] == PROBE]
    assert len(look.pairs) == len(pairs)
    assert all((one["data"] is None) == (name == "play") and one["digest"] for one in probes)
