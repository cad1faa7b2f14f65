"""The pairs that a look compared: all that were asked for are there, and the best was tested."""

import numpy as np
import pytest

from verifiable_dp.auditing.design import AskedNeighbours
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.candidates import Candidates
from verifiable_dp.targets.sent import digest_of


def look(*rounds, chosen):
    """Candidates with these promises in each round, None where a round left one out, and of chosen events."""
    made = Candidates({"seed": 0})
    for promises in rounds:
        for number, promise in enumerate(promises):
            if promise is not None:
                made.note(number, pair(number), 100, promise, probe=True)
    for number, promise in chosen.items():
        made.note(number, pair(number), 100, promise, probe=False)
    return made


def pair(number):
    return {"words": f"pair {number}", "digest": None, "data": None}


NINE = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
RIGHT = {
    "one pair": (look(chosen={0: 1.0}), {0}),
    "one round": (look([1, 3, 2], chosen={1: 1.0, 2: 2.0}), {2}),
    "two rounds": (look(NINE, [*NINE[::-1][1:], None], chosen={7: 1.0}), {7}),
    "nothing differs": (look([-np.inf] * 3, chosen={1: -np.inf}), {1}),
}
WRONG = {
    "another event promised more": (look([1, 3, 2], chosen={1: 1.0, 2: 2.0}), {1}),
    "another pair was ranked higher": (look([1, 3, 2], chosen={0: 1.0}), {0}),
    "the first round put it last": (
        look(NINE, [*[1.0] * 7, None, 9.0], chosen={8: 1.0}),
        {8},
    ),
    "fewer than eight were kept": (look(NINE, [1.0, *[None] * 8], chosen={0: 1.0}), {0}),
    "a pair that was never ranked": (look([1, 3], chosen={2: 4.0}), {2}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_pair_that_promised_most(name):
    made, tested = RIGHT[name]
    assert made.best(tested)


@pytest.mark.parametrize("name", WRONG)
def test_another_pair_than_promised_most(name):
    made, tested = WRONG[name]
    assert not made.best(tested)


def test_a_number_is_that_of_one_pair():
    made = look([1, 2], chosen={})
    with pytest.raises(InputError, match="two pairs of inputs under one number"):
        made.note(0, pair(1), 100, 1.0, probe=True)


def test_the_pairs_that_were_asked_for():
    made = look([1, 2, 3], chosen={2: 1.0})
    found = {"pair 0"}.__contains__
    assert made.hold([["pair 1", "pair 2"], ["pair 9"]], lambda one: found(one["words"])) == 2
    with pytest.raises(InputError, match="did not compare the pairs of inputs that it was asked for"):
        made.hold([["pair 1", "pair 9"]], lambda one: True)
    with pytest.raises(InputError, match="compared pairs of inputs that it was not asked for"):
        made.hold([["pair 0", "pair 2"]], lambda one: found(one["words"]))


def test_few_runs_do_not_rank_pairs():
    """100 of them are enough for a test of 6,999 a side, among three pairs; not of 7,070."""
    made = look([1, 2, 3], chosen={2: 1.0})
    assert (made.too_few(6999), made.too_few(7070)) == (False, True)
    assert not look(chosen={0: 1.0}).too_few(1 << 20)  # nothing to rank


FORMS = [
    (lambda data: float(data), ["replace", "zero-out"]),
    (lambda data: np.sum(data), ["replace", "zero-out", "add-remove"]),
    (lambda data: float(data[0]), ["replace", "zero-out"]),
    (lambda data: data[4] if len(data) == 5 else data, ["replace"]),
]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-2.0, 3.0)])
@pytest.mark.parametrize("number", range(len(FORMS)))
def test_what_a_mechanism_is_tried_on_is_made_again(number, bounds):
    """Whatever data it takes: by code that has it, and by the request alone, as one of few lists."""
    from verifiable_dp.auditing import mechanisms

    of_data, kinds = FORMS[number]

    def release(data, size, rng):
        return of_data(data) + rng.laplace(0, 1, size)

    for kind in kinds:
        asked = AskedNeighbours(AuditRequest(None, "", Promise(1.0, adjacency=kind), Inputs(bounds=bounds)))
        here = {digest_of(one.worlds()) for one in mechanisms.data_pairs(release, bounds, None, kind)}
        there = [{digest_of(one.worlds()) for one in pairs} for pairs in asked.of_mechanism()]
        assert here in there
        assert not asked.open


def test_data_of_other_sizes():
    asked = AskedNeighbours(AuditRequest(None, "", Promise(1.0), Inputs()))
    assert asked.open
    assert asked.of_size([np.zeros(7), np.r_[np.zeros(6), 1.0]])
    assert not asked.of_size([np.zeros(7), np.r_[np.zeros(6), 0.5]])
    assert not asked.of_size([np.zeros(2000), np.r_[np.zeros(1999), 1.0]])
