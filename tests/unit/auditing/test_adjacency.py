"""What neighbouring inputs are can be said: each control is refuted under one adjacency only."""

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code import adjacent
from verifiable_dp.auditing import mechanisms
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, promised
from verifiable_dp.core.neighbours import GroupPair, TablePair, neighbour, pair_of
from verifiable_dp.core.units import ADJACENCIES
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.trials import data_pairs
from verifiable_dp.record.model import Record
from verifiable_dp.render.diff import compare
from verifiable_dp.targets import load

TABLE = np.array([[0.0, 1.0], [0.25, 0.75], [0.5, 0.5]])
KINDS = tuple(map(str, ADJACENCIES))
CASES = [
    pytest.param(function, bounds, kind, kind in broken, id=f"{function.__name__}-{kind}")
    for function, bounds, broken in (*adjacent.MECHANISMS, *adjacent.BANDITS)
    for kind in KINDS
]


def audited(function, bounds, kind):
    bandit = any(function is row[0] for row in adjacent.BANDITS)
    sizes = {"n_arms": 2, "horizon": adjacent.HORIZON, "runs": 3000} if bandit else {"runs": 2000}
    return vdp.audit(function, epsilon=adjacent.EPSILON, bounds=bounds, adjacency=kind, seed=0, **sizes)


FAST = ("sum_of_signs-replace", "sum_of_signs-zero-out", "skips_missing-zero-out")


@pytest.mark.parametrize(
    ("function", "bounds", "kind", "refuted"),
    [
        case if case.id in FAST else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        for case in CASES
    ],
)
def test_a_control_is_refuted_under_its_adjacency_only(function, bounds, kind, refuted):
    report = audited(function, bounds, kind)
    assert (report.verdict == "refuted") == refuted
    assert report.record["claim"]["adjacency"] == kind
    assert promised(report.record["plan"], report.record["claim"]).adjacency == kind


def test_one_reward_takes_both_values():
    pair = neighbour("replace", TABLE, (1, 0), (0.0, 1.0), (0.0, 1.0))
    assert isinstance(pair, TablePair)
    assert pair.left[1].tolist() == [0.0, 0.75]
    assert pair.right[1].tolist() == [1.0, 0.75]
    assert TABLE[1, 0] == 0.25


def test_one_reward_is_zero_instead_even_outside_the_bounds():
    pair = neighbour("zero-out", 1 + TABLE, (1, 0), (1.0, 2.0), (1.0, 2.0))
    assert (pair.left[1, 0], pair.right[1, 0], pair.bounds) == (1.0, 0.0, (0.0, 2.0))
    assert neighbour("zero-out", TABLE, (1, 0), (0.0, 1.0), (0.0, 1.0)).left[1, 0] == 1.0


def test_a_round_is_left_out_and_later_ones_move_up():
    pair = neighbour("add-remove", TABLE, (1, 0), (0.25, 1.0), (0.0, 1.0))
    assert isinstance(pair, GroupPair)
    assert pair.left.tolist() == TABLE.tolist()
    assert pair.right.tolist() == [[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]
    schema = json.loads(resources.files("verifiable_dp.record").joinpath("schema/record-4.json").read_text())
    whole = json.loads(json.dumps(pair.as_dict()))
    jsonschema.validate(whole, {"$defs": schema["$defs"], "$ref": "#/$defs/pair"})
    again = pair_of(whole)
    assert again.right.tolist() == pair.right.tolist()
    last = neighbour("add-remove", TABLE, (2, 0), (0.5, 1.0), (0.0, 1.0))
    assert (last.changes, last.left[2, 0]) == (((2, 0, 0.5),), 1.0)
    flat = neighbour("add-remove", np.zeros((3, 2)), (1, 0), (0.0, 1.0), (0.0, 1.0))
    assert flat.left[1, 0] == 1.0
    assert not flat.right.any()


@pytest.mark.parametrize(("kind", "size"), [("replace", 5), ("zero-out", 5), ("add-remove", 4)])
def test_neighbouring_data_differ_in_one_entry(kind, size):
    base = np.full(5, -1.0)
    first = {"replace": np.r_[1.0, base[1:]], "zero-out": np.r_[0.0, base[1:]], "add-remove": base[1:]}[kind]
    found = data_pairs(base, first, (-1.0, 1.0), kind)
    assert len(found) >= 6
    for left, right in found:
        assert (len(left), len(right)) == (5, size)
        if kind == "add-remove":
            assert any(np.array_equal(np.delete(left, place), right) for place in range(5))
        else:
            [place] = np.flatnonzero(left != right)
            assert right[place] == 0.0 if kind == "zero-out" else abs(right[place] - left[place]) == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: Promise(1.0, adjacency="swap"), "adjacency"),
        (lambda: Promise(1.0, adjacency="zero-out", group=2), "group must be left out"),
        (
            lambda: AuditRequest(None, "f", Promise(1.0, adjacency="replace"), Inputs(pairs=[])),
            "adjacency must be left out with pairs",
        ),
        (lambda: vdp.audit(stated, epsilon=1.0, adjacency="replace", runs=500), "neighbours are stated"),
        (lambda: vdp.audit("dp-se", adjacency="add-remove"), "adjacency works only with your own code"),
    ],
)
def test_an_adjacency_that_cannot_apply_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        asked()


def stated(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)


stated.neighbours = [(np.zeros(2), np.ones(2))]


def test_guarantees_under_other_adjacencies_are_not_compared():
    function, bounds, _ = adjacent.MECHANISMS[0]
    old = audited(function, bounds, "zero-out").record
    new = {**old, "claim": {**old["claim"], "adjacency": "add-remove"}}
    assert any("adjacency" in reason for reason in compare(Record.of(old), Record.of(new)).not_comparable)
    assert not compare(Record.of(old), Record.of(old)).not_comparable


def _total(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def _mean_of_some(data, size, rng):
    """Right for a number, and wrong for data with more entries that are 0 than not."""
    some = np.asarray(data)[np.asarray(data) > 0]
    return (some.mean() if some.size else 0.0) + rng.laplace(0, 1 / np.size(data), size)


def _each(data, size, rng):
    return np.asarray(data, dtype=float) + rng.laplace(size=(size, np.size(data)))


def _number(data, size, rng):
    return float(data) + rng.laplace(size=size)


def _handed_on(data, rng):
    """For a number; five entries share its noise."""
    return data + rng.laplace()


def _turned(data, rng):
    """For a number, of which it tells two."""
    return np.array([data, data**2]) + rng.laplace(0, 2, 2).reshape((2,) + (1,) * np.ndim(data))


def _from_elsewhere(data, rng):
    return data + np.random.Generator(np.random.PCG64()).laplace()


def _totals(data, size, rng):
    """Running totals with the noise of one: a number has one."""
    return np.cumsum(data) + rng.laplace(size=(size, np.size(data)))


def test_vectors_are_shown_to_what_mixes_their_entries_and_not_to_code_for_numbers():
    """The leak passed as one number."""
    sizes = {
        f.__name__: {np.size(p.left) for p in mechanisms.data_pairs(load.adapted(f)[1], (0.0, 1.0), None)}
        for f in (_handed_on, _turned, _from_elsewhere, _totals)
    }
    assert sizes == {"_handed_on": {1}, "_turned": {1}, "_from_elsewhere": {1}, "_totals": {5}}
    assert vdp.audit(_totals, epsilon=1, runs=400, seed=0).verdict == "refuted"


@pytest.mark.parametrize("right", [_handed_on, _each])
def test_right_code_for_numbers_is_not_accused_of_what_five_would_share(right):
    assert vdp.audit(right, epsilon=1, runs=400, seed=0).verdict == "not_refuted"


def _first_above(data, rng):
    """One of the data that exceed a noisy bar, the first one: what stands before it is told exactly."""
    bar, told = 0.5 + rng.laplace(), []
    for value in list(data):
        told.append(float(value >= bar))
        if told[-1]:
            break
    return np.array(told + [-1.0] * (len(data) - len(told)))


def test_what_takes_vectors_alone_and_tells_of_each_entry_is_shown_several():
    """One entry has no other before it: there it keeps its epsilon, and so it passed."""
    _, mechanism = load.adapted(_first_above)
    assert {np.size(pair.left) for pair in mechanisms.data_pairs(mechanism, (0.0, 1.0), None)} == {5}
    found = vdp.audit(_first_above, epsilon=2, budget="smoke", seed=0)
    assert (found.verdict, found.epsilon_upper) == ("refuted", None)
    single = [(np.zeros(1), np.ones(1))]
    assert vdp.audit(_first_above, epsilon=2, budget="smoke", seed=0, pairs=single).verdict == "not_refuted"


def test_what_adds_up_its_data_is_shown_data_sets_and_what_takes_numbers_is_not():
    """A number alone hides what a data set shows; control: the leak passes where only numbers are tried."""
    sizes = {
        f.__name__: sorted({np.size(pair.left) for pair in mechanisms.data_pairs(f, (0.0, 1.0), None)})
        for f in (_total, _each, _number)
    }
    assert sizes == {"_total": [1, 5], "_each": [5], "_number": [1]}
    assert vdp.audit(_mean_of_some, epsilon=1, budget="smoke", seed=0).verdict == "refuted"
    numbers = [(0.0, 1.0)]
    assert vdp.audit(_mean_of_some, epsilon=1, budget="smoke", seed=0, pairs=numbers).verdict != "refuted"
