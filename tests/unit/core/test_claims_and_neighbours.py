"""Claims and neighbouring inputs are checked at construction and survive a record."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiable_dp.core.adversaries import balance, flatter
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.neighbours import (
    InteractivePair,
    StreamPair,
    TablePair,
    groups,
    interactive,
    pair_of,
    streams,
    tables,
    users,
)
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as registry

TABLE = np.array([[0.0, 0.5], [1.0, 0.25], [1.0, 0.25]])


def one_line(error):
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta"),
        ({"epsilon": 1.0, "delta": -1e-9}, "delta"),
        ({"epsilon": 1.0, "delta": float("nan")}, "delta"),
        ({"epsilon": 1.0, "observe": "everything"}, "observe"),
    ],
)
def test_a_bad_claim_is_refused(given, name):
    with pytest.raises(InputError, match=name) as error:
        PrivacyClaim(**given)
    one_line(error)


def test_a_source_names_its_statement():
    with pytest.raises(InputError):
        Source("", "Theorem 1")
    with pytest.raises(InputError):
        Source("a paper", "")


def test_a_table_pair_differs_in_one_entry():
    pair = TablePair(TABLE, 1, 0, 0.0)
    left, right = pair.worlds()
    assert np.array_equal(left, TABLE)
    assert np.argwhere(left != right).tolist() == [[1, 0]]
    assert right[1, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        left[0, 0] = 1


def test_a_stream_pair_differs_in_one_round():
    pair = StreamPair(np.array([-1.0, 0.0, 1.0]), 2, -1.0, 1, (-1.0, 1.0))
    left, right = pair.worlds()
    assert left.shape == (3, 1)
    assert (left != right).sum() == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: TablePair(TABLE, 3, 0, 0.0),
        lambda: TablePair(TABLE, 0, 2, 0.0),
        lambda: TablePair(TABLE, 0, 0, 1.5),
        lambda: TablePair(TABLE, 0, 0, float("nan")),
        lambda: TablePair(np.array([[np.nan, 0.0]]), 0, 0, 1.0),
        lambda: TablePair(TABLE * 3, 0, 0, 1.0),
        lambda: TablePair(TABLE[:, 0], 0, 0, 1.0),
        lambda: StreamPair(np.array([0.0, 2.0]), 0, 1.0),
        lambda: StreamPair(np.array([0.0]), 1, 1.0),
        lambda: InteractivePair(balance((0.0, 1.0)), -1, 0.0, 1.0, (0.0, 1.0)),
        lambda: InteractivePair(balance((0.0, 1.0)), 0, 0.0, 2.0, (0.0, 1.0)),
    ],
)
def test_inputs_that_are_no_neighbours_are_refused(make):
    with pytest.raises(InputError) as error:
        make()
    one_line(error)


@given(st.data(), st.integers(3, 12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_pairs_of_every_relation_have_one_form(data, horizon):
    shape = {"horizon": horizon, "bounds": (-1.0, 2.0)}
    several = {"n_arms": 3, "size": 3, **shape}
    ways = (tables(n_arms=3, **shape), streams(n_arms=3, **shape), groups(**several), users(**several))
    for relation, strategy in zip(("table", "stream", "group", "user"), ways, strict=True):
        pair = data.draw(strategy)
        again = pair_of(json.loads(json.dumps(pair.as_dict())))
        assert type(again) is type(pair)
        assert again.relation == pair.relation == relation
        assert again.changes == pair.changes
        assert pair.left.shape == (horizon, 3)
        assert np.argwhere(pair.left != pair.right).tolist() == [[t, arm] for t, arm, _ in pair.changes]
        assert [pair.right[t, arm] for t, arm, _ in pair.changes] == [value for _, _, value in pair.changes]
        assert pair.steps()[-1].right.tolist() == pair.right.tolist()
        assert (pair.size == 1) >= (relation in ("table", "stream"))


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_strategies_give_neighbours_that_survive_json(data):
    horizon = data.draw(st.integers(1, 30))
    pair = data.draw(
        st.one_of(
            tables(n_arms=3, horizon=horizon, bounds=(-2.0, 5.0)),
            streams(horizon=horizon, bounds=(-2.0, 5.0)),
        )
    )
    left, right = pair.worlds()
    assert (left != right).sum() == 1
    assert min(left.min(), right.min()) >= -2
    assert max(left.max(), right.max()) <= 5
    again = pair_of(json.loads(json.dumps(pair.as_dict())))
    assert all(np.array_equal(a, b) for a, b in zip(pair.worlds(), again.worlds(), strict=True))
    assert again.describe() == pair.describe()


def test_pairs_that_differ_in_the_other_rewards_are_told_apart():
    def words(levels, when=0, arm=0):
        table = np.repeat(np.array(levels, np.float64), 3, axis=0)
        table[when, arm] = 0.0
        return TablePair(table, when, arm, 1.0).describe()

    differs = "round 1, arm 0: reward 0 against 1; other rewards"
    assert words([[0.5, 0.5]]) == f"{differs} 0.5"
    assert words([[0.0, 0.25]]) == f"{differs} 0/0.25"
    assert words([[0.5, 0.25], [1, 1]]) == f"{differs} 0.5/0.25, 1 from round 4"
    # The entry that differs begins no part, wherever it stands.
    for when in (1, 2, 3, 5):
        found = words([[0.5, 0.25], [1, 0.75]], when)
        expected = "reward 0 against 1; other rewards 0.5/0.25, 1/0.75 from round 4"
        assert found == f"round {when + 1}, arm 0: {expected}"
    many = words([[level, 0.5] for level in (0.1, 0.2, 0.3, 0.4)])
    assert many == f"{differs} 0.1/0.5, 0.2/0.5 from round 4, 0.3/0.5 from round 7, …"
    assert words([[0.1, 0.2, 0.3, 0.4, 0.5]]) == f"{differs} 0.1/0.2/0.3/0.4/…"
    assert TablePair(np.zeros((1, 2)), 0, 0, 1.0).describe() == differs.partition(";")[0]
    stream = "round 1: reward 0 against 1"
    assert StreamPair(np.array([0.0, 0.5, 0.5]), 0, 1.0).describe() == f"{stream}; other rewards 0.5"
    assert StreamPair(np.zeros(1), 0, 1.0).describe() == stream


def test_the_neighbours_of_an_auditor_are_told_apart():
    auditor = registry.auditor("dp-se")
    pairs = auditor.pairs(auditor.algorithm(**auditor.instance))
    assert len({pair.describe() for pair in pairs}) == len(pairs) > 10
    assert len({pair.describe().partition(";")[0] for pair in pairs}) < 4


@given(interactive(n_arms=3, horizon=9))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_an_adversary_pays_alike_but_for_the_challenge(pair):
    arm = np.array([0, 1, 2])
    pulls = np.array([[0, 1, 2], [3, 0, 0], [1, 1, 1]])
    for t in range(9):
        when = np.full(3, t)
        here, there = (pair.reward(world, when, arm, pulls) for world in (0, 1))
        if t == pair.challenge:
            assert (here == pair.low).all()
            assert (there == pair.high).all()
        else:
            assert np.array_equal(here, there)


def test_adversaries():
    arm, pulls = np.array([0, 1]), np.array([[2, 1], [2, 1]])
    when = np.zeros(2, np.int64)
    assert flatter((0.0, 1.0), 1)(when, arm, pulls).tolist() == [0.0, 1.0]
    assert balance((0.0, 1.0))(when, arm, pulls).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "plain", [{}, {"type": "table"}, {"type": "interactive", "rows": [], "bounds": [0, 1]}]
)
def test_what_is_no_pair_is_refused(plain):
    with pytest.raises(InputError):
        pair_of(plain)
