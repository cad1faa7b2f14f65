"""Claims and neighbouring inputs are checked at construction and survive a record."""

import copy
import json
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from verifiable_dp.core.adversaries import balance, flatter
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.contexts import AheadError, Contexts, shape_of, words_of
from verifiable_dp.core.contextual import Rule, UserTable, arms_of, clipped, matrix, outer
from verifiable_dp.core.mechanisms import NormalTree
from verifiable_dp.core.neighbours import (
    ContextGame,
    ContextPair,
    InteractivePair,
    StreamPair,
    TablePair,
    contexts,
    groups,
    interactive,
    pair_of,
    streams,
    tables,
    users,
)
from verifiable_dp.core.populations import Linear, Logistic
from verifiable_dp.core.query import Query
from verifiable_dp.core.reactions import KINDS, Reaction, everyone
from verifiable_dp.core.ridge import LinUCB
from verifiable_dp.core.units import Protected
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


# Bandits that are told contexts: what users answer, and who is seen.


RNG = np.random.default_rng(0)


def test_entries_of_outer_products_have_their_frobenius_norm_and_lead_back():
    z, w = RNG.standard_normal((2, 50, 4))
    made = matrix(outer(z), 4)
    assert np.allclose(made, z[:, :, None] * z[:, None, :])
    apart = made - matrix(outer(w), 4)
    assert np.allclose(np.linalg.norm(outer(z) - outer(w), axis=1), np.linalg.norm(apart, axis=(1, 2)))


def test_equal_noise_of_the_entries_does_not_depend_on_the_axes():
    """The law of trace(A Z) depends on the Frobenius norm of A alone: the least and largest of all, 4 sd."""
    noise = matrix(RNG.standard_normal((20_000, 6)), 3)
    for axis in (
        np.diag([1.0, 0, 0]),
        np.full((3, 3), 1 / 3),
        np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) / 2**0.5,
    ):
        spread = np.einsum("ij,nij->n", axis, noise).std()
        assert abs(spread - 1) < 6 / (2 * 20_000) ** 0.5


def test_two_items_are_at_most_sqrt_2_times_their_norm_apart_and_some_are_as_far():
    z, w = clipped(RNG.standard_normal((2, 20_000, 3)) * 5, 1.3)
    apart = np.linalg.norm(outer(z) - outer(w), axis=1)
    most = 2**0.5 * 1.3**2
    assert 0.99 * most < apart.max() <= most * (1 + 1e-12)
    here, there = outer(np.array([[1.0, 0, 1], [-1.0, 0, 1]]))
    assert np.linalg.norm(here - there) == pytest.approx(2**0.5 * 2)


def test_clipping_keeps_directions_and_what_is_short():
    x = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    assert np.allclose(clipped(x, 1.0), [[0.6, 0.8], [0.3, 0.4], [0, 0]])


@pytest.mark.parametrize("arms", [2, 5, 70])
def test_arms_are_read_off_the_codes_of_what_was_played(arms):
    chosen = RNG.integers(0, arms, 40)
    ones = np.eye(arms, dtype=bool)[chosen]
    codes = Query(np.zeros(40, int), np.ones(40, int), ones, np.ones(40, bool)).codes()
    assert np.array_equal(arms_of(codes, arms), chosen)


@dataclass(frozen=True)
class Longest(Rule):
    """The arm with the longest context; users answer with context and reward."""

    run: np.ndarray

    @property
    def size(self):
        return 3

    def choose(self, contexts):
        return np.linalg.norm(contexts, axis=2).argmax(axis=1)

    def items(self, context, reward):
        return np.hstack([context, reward[:, None]])


def test_users_choose_and_answer_and_one_may_be_unseen():
    form = Contexts(2, (2, 2))
    contexts = np.array([[[1.0, 0], [0, 0.5]], [[0.1, 0], [0, 0.2]]])
    table = form.table(contexts, [[0.3, 0.4], [0.6, 0.7]])

    def asked(round_):
        return Query(
            np.full(1, round_),
            np.ones(1, int),
            np.zeros((1, 2), bool),
            np.ones(1, bool),
            Longest(np.zeros(1, int)),
        )

    users, unseen = UserTable(form, table), UserTable(form, table, unseen=1)
    for round_, arm, item in ((0, 0, [1, 0, 0.3]), (1, 1, [0, 0.2, 0.7])):
        query = asked(round_)
        assert users.meet(query, np.zeros(1, int)).active.tolist() == [[arm == 0, arm == 1]]
        assert users.answer(query, np.zeros(1, int)).tolist() == [item]
    assert unseen.meet(asked(0), np.zeros(1, int)).active.any()
    assert not unseen.meet(asked(1), np.zeros(1, int)).active.any()
    assert unseen.answer(asked(1), np.zeros(1, int)).tolist() == [[0, 0.2, 0.7]]


def test_a_normal_tree_spends_its_mu_on_as_many_nodes_as_the_first_item_is_in():
    tree = NormalTree(64, 0.5, sensitivity=2.0)
    assert tree.levels == 7
    assert tree.scale == pytest.approx(2 * 7**0.5 / 0.5)
    assert tree.nodes_of(1) * (2 / tree.scale) ** 2 == pytest.approx(0.5**2)
    for bad in ({"mu": 0.0}, {"sensitivity": -1.0}, {"leaves": 0}):
        with pytest.raises(InputError, match=next(iter(bad))):
            NormalTree(**{"leaves": 4, "mu": 1.0, **bad})


# Contexts and pairs that differ in one user: forms, what is refused, and what comes back from a record.


ONE, EACH = Contexts(2, (3,)), Contexts(2, (2, 3), 2.0, (-1.0, 1.0))


@pytest.mark.parametrize(
    ("given", "shape"), [(5, (5,)), ("5", (5,)), ("10x5", (10, 5)), ((10, 5), (10, 5)), ([4], (4,))]
)
def test_a_shape_is_a_dimension_or_arms_and_dimension(given, shape):
    assert shape_of(given) == shape == shape_of(words_of(shape))


@pytest.mark.parametrize("given", ["", "x5", "5x", "2x3x4", "-1", 0, (2, 0), (1, 2, 3), 2.5, "5 x 2", None])
def test_other_shapes_are_refused(given):
    with pytest.raises(InputError, match="contexts must"):
        shape_of(given)


def test_contexts_for_each_arm_are_of_so_many_arms():
    with pytest.raises(InputError, match=r"contexts must be D, or 3xD .* got 2x3"):
        Contexts(3, (2, 3))


@pytest.mark.parametrize("form", [ONE, EACH])
def test_a_table_holds_both_and_gives_them_back(form):
    rng = np.random.default_rng(0)
    given = rng.standard_normal((7, *form.shape)) / 5
    paid = rng.random((7, 2))
    back, rewards = form.split(form.table(given, paid))
    assert np.array_equal(back, given)
    assert np.array_equal(rewards, paid)


def test_what_is_out_of_range_is_refused():
    zeros = np.zeros((4, 2))
    with pytest.raises(InputError, match="norm of at most 1"):
        ONE.table(np.full((4, 3), 0.6), zeros)  # each entry is small, the norm is 1.04
    ONE.table(np.full((4, 3), 0.57), zeros)
    with pytest.raises(InputError, match="norm of at most 1"):
        ONE.table(np.full((4, 3), np.nan), zeros)
    with pytest.raises(InputError, match="shape"):
        ONE.table(np.zeros((3, 3)), zeros)
    with pytest.raises(InputError, match="bounds"):
        ONE.table(np.zeros((4, 3)), zeros + 2)


def test_a_pair_differs_in_one_users_round():
    base = np.tile(EACH.unit(0), (5, 1, 1))
    pair = ContextPair(EACH, base, np.zeros((5, 2)), 3, context=-base[0], reward=[1.0, 0.0])
    left, right = pair.worlds()
    assert np.flatnonzero((left != right).any(axis=1)).tolist() == [3] == [pair.round]
    given, paid = EACH.split(right)
    assert np.array_equal(given[3], -base[0])
    assert paid[3].tolist() == [1.0, 0.0]
    assert pair.size == 1
    assert "user of round 4" in pair.describe()
    with pytest.raises(InputError, match="must not both equal"):
        ContextPair(EACH, base, np.zeros((5, 2)), 3, context=base[0])
    with pytest.raises(InputError, match="norm"):
        ContextPair(EACH, base, np.zeros((5, 2)), 3, context=3 * base[0])


@pytest.mark.parametrize("form", [ONE, EACH])
@pytest.mark.parametrize("reward_only", [False, True])
def test_pairs_that_are_searched_come_back_from_a_record(form, reward_only):
    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(contexts(form, 6, reward_only=reward_only))
    def check(pair):
        back = pair_of(json.loads(json.dumps(pair.as_dict())))
        assert isinstance(back, ContextPair)
        assert all(np.array_equal(*both) for both in zip(pair.worlds(), back.worlds(), strict=True))
        assert back.form == form
        given_here, given_there = (form.split(world)[0] for world in pair.worlds())
        assert not reward_only or np.array_equal(given_here, given_there)

    check()


def test_a_claim_says_what_is_protected_and_from_whom():
    joint = PrivacyClaim.of_users(1.0, 0.0, model="joint", protects="context")
    assert joint.as_dict()["protects"] == "context-joint"
    assert joint.protects.words == (
        "the context and reward of one user, from everybody who sees the actions of all other users"
    )
    every = [(what, model) for what in ("context", "reward") for model in ("joint", "central")]
    said = [PrivacyClaim.of_users(1.0, 0.0, model=model, protects=what).protects for what, model in every]
    assert said == list(Protected)
    assert [(one.what, one.model) for one in said] == every
    assert len({one.words for one in said}) == 4
    assert "protects" not in PrivacyClaim(1.0).as_dict()
    with pytest.raises(InputError, match="model must be one of"):
        PrivacyClaim.of_users(1.0, 0.0, model="local", protects="context")


# LinUCB of many runs at once, beside the same rule written with inverses of whole matrices.


def plain(contexts, rewards, rule):
    """One run by the formulas of the class."""
    n_arms, d = rewards.shape[1], contexts.shape[-1]
    models = 1 if rule.shared else n_arms
    gram, sums, arms = [rule.ridge * np.eye(d) for _ in range(models)], np.zeros((models, d)), []
    a, b, c = rule.radius
    for t, user in enumerate(contexts):
        each = np.broadcast_to(user, (n_arms, d))
        indices = []
        for arm, x in enumerate(each):
            v = gram[arm % models]
            grown = np.linalg.slogdet(v)[1] - d * np.log(rule.ridge)
            theta, radius = np.linalg.solve(v, sums[arm % models]), a * np.sqrt(b + max(grown, 0)) + c
            indices.append(x @ theta + radius * np.sqrt(x @ np.linalg.solve(v, x)))
        arms.append(int(np.argmax(indices)))
        gram[arms[-1] % models] += np.outer(each[arms[-1]], each[arms[-1]])
        sums[arms[-1] % models] += rewards[t, arms[-1]] * each[arms[-1]]
    return arms


@pytest.mark.parametrize("shape", [(3,), (4, 3)])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("radius", [(0.0, 0.0, 0.4), (0.5, 3.0, 0.7)])
def test_arms_are_those_of_whole_inverses(shape, shared, radius):
    theta = np.full(3, 0.5) if len(shape) == 2 else np.eye(4, 3)
    world = Logistic(theta.tolist(), 4 if len(shape) == 2 else None, "ball")  # of the same length they tie
    users = [world.draw(np.random.default_rng(i), 40) for i in range(3)]
    rule = LinUCB(shared, 0.7, radius)
    contexts, rewards = np.array([u.contexts for u in users]), np.array([u.rewards for u in users])
    if shared and len(shape) == 1:  # all arms are alike: the first of the ties
        assert not rule.play_users(contexts, rewards).any()
        return
    expected = [plain(one.contexts, one.rewards, rule) for one in users]
    np.testing.assert_array_equal(rule.play_users(contexts, rewards), expected)


def test_it_is_simulated_batch_by_batch():
    """It learns: a fifth of the regret of uniform play, where a radius of 100 explores all the time."""
    easy = Linear([[0.7, 0, 0.7], [-0.7, 0, 0.7]], law="intercept", bounds=(0, 1))
    good, wide = (
        vdp.simulate(LinUCB(radius=(0.0, 0.0, c)), easy, horizon=600, runs=70) for c in (0.3, 100.0)
    )
    assert good.regret.mean() < 0.2 * easy.uniform_regret(600) < 0.5 * wide.regret.mean()
    assert good.regrets.shape == (70, len(good.times))
    again = vdp.simulate(LinUCB(radius=(0.0, 0.0, 0.3)), easy, horizon=600, runs=3)
    np.testing.assert_array_equal(again.regret, good.regret[:3])
    checked = {"environments": easy, "horizon": 600, "runs": 16, "bound": 30, "in_process": True}
    for c, verdict in ((0.3, "consistent"), (100.0, "contradicted")):
        report = vdp.check_regret(LinUCB(radius=(0.0, 0.0, c)).play_users, **checked)
        assert report.regret_verdict == verdict


@pytest.mark.parametrize(
    ("make_it", "words"),
    [
        (lambda: LinUCB(ridge=0), "ridge"),
        (lambda: LinUCB(radius=(0, 0, -1)), "radius"),
        (lambda: LinUCB().play_users(np.zeros((2, 3, 4)), np.zeros((2, 4, 2))), "must have matching shapes"),
        (
            lambda: LinUCB().play_users(np.zeros((2, 3, 3, 4)), np.zeros((2, 3, 2))),
            "one row per user or per arm",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make_it, words):
    with pytest.raises(InputError, match=words):
        make_it()


# Adversaries over contexts: what they send, that they cannot look ahead, what comes back from a record.


T = 12
ONE_OF_REACTIONS, EACH_OF_REACTIONS = Contexts(2, (3,)), Contexts(3, (3, 3), 2.0, (-1.0, 1.0))


def game(form, reaction, *, when=4, joint=True):
    """The user of one round has another context, along no axis, and the highest rewards."""
    low, high = form.bounds
    other = (form.apart(form.unit(0)) - form.unit(0)) / 2
    contexts = np.tile(form.unit(0), (T, *[1] * len(form.shape)))
    pair = ContextPair(
        form, contexts, np.full((T, form.n_arms), low), when, other, np.full(form.n_arms, high), joint
    )
    return ContextGame(pair, reaction)


def sent(played, world, arms, joint=None):
    """Tables (n, T, width) that an adversary sends where the arms (n, T) are played."""
    guests = played.guests(world, len(arms), joint=joint)
    found = []
    for t in range(T):
        found.append(guests.rows(t))
        guests.saw(t, found[-1], arms[:, t])
    return np.stack(found, axis=1)


@pytest.mark.parametrize("form", [ONE_OF_REACTIONS, EACH_OF_REACTIONS])
@pytest.mark.parametrize("reaction", everyone())
class TestEveryReaction:
    def test_sends_only_what_is_allowed(self, form, reaction):
        arms = np.random.default_rng(0).integers(0, form.n_arms, (200, T))
        for table in sent(game(form, reaction), 1, arms):
            form.table(*form.split(table))

    def test_reacts_to_the_past_alone(self, form, reaction):
        """Negative control: it does react, so that histories which differ in one arm differ later."""
        rng = np.random.default_rng(1)
        arms = rng.integers(0, form.n_arms, (200, T))
        other = arms.copy()
        other[:, 7] = (other[:, 7] + 1) % form.n_arms
        one, two = (sent(game(form, reaction), 0, each) for each in (arms, other))
        assert np.array_equal(one[:, :8], two[:, :8])
        assert (one[:, 8:] != two[:, 8:]).any()

    def test_knows_neither_the_world_nor_under_joint_privacy_the_own_action(self, form, reaction):
        when = 4
        played = game(form, reaction, when=when)
        arms = np.random.default_rng(2).integers(0, form.n_arms, (200, T))
        other = arms.copy()
        other[:, when] = (other[:, when] + 1) % form.n_arms
        worlds = [sent(played, world, each) for world, each in ((0, arms), (1, other))]
        assert np.array_equal(*(np.delete(world, when, axis=1) for world in worlds))
        assert (worlds[0][:, when] == played.left[when]).all()
        assert (worlds[1][:, when] == played.right[when]).all()
        open_worlds = [np.delete(sent(played, world, arms, joint=False), when, axis=1) for world in (0, 1)]
        assert np.array_equal(*open_worlds)
        seen = [sent(played, 0, each, joint=False) for each in (arms, other)]
        assert (seen[0] != seen[1]).any()  # the control: where everybody sees it, it counts

    def test_one_run_is_as_many_together(self, form, reaction):
        played = game(form, reaction)
        arms = np.random.default_rng(3).integers(0, form.n_arms, (20, T))
        assert np.array_equal(sent(played, 0, arms)[7:8], sent(played, 0, arms[7:8]))

    def test_comes_back_from_a_record(self, form, reaction):
        played = game(form, reaction, joint=False)
        for again in (
            pair_of(json.loads(json.dumps(played.as_dict()))),
            pickle.loads(pickle.dumps(played)),
            copy.copy(played),
        ):
            assert isinstance(again, ContextGame)
            assert again.as_dict() == played.as_dict()
        arms = np.random.default_rng(4).integers(0, form.n_arms, (20, T))
        assert np.array_equal(sent(again, 1, arms), sent(played, 1, arms))
        assert played.under("joint").joint
        assert not played.under("joint").under("central").joint
        assert KINDS[reaction.name] in played.describe()
        assert played.describe().count("(") == played.describe().count(")")


def test_what_reactions_send():
    arms = np.array([[0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0]])
    x = ONE_OF_REACTIONS.unit(0)

    def contexts(name, spiteful=False):
        return ONE_OF_REACTIONS.split(
            sent(game(ONE_OF_REACTIONS, Reaction(name, spiteful), when=11), 0, arms)[0]
        )

    # Away from the arm seen last: arm 1 has the axis as it is, arm 0 its opposite.
    assert contexts("reverse")[0][1:11, 0].tolist() == [-1, -1, 1, 1, -1, 1, 1, 1, -1, -1]
    changed = [True, True, False, True, False, True, True, False, False, True, False]
    assert [np.array_equal(row, x) for row in contexts("repeat")[0][:11]] == changed
    # Both arms ahead are told apart by nothing but this axis until the rewards say more.
    assert np.array_equal(contexts("aim")[0][1], x)
    paid = contexts("repeat", spiteful=True)[1]
    assert paid[:4].tolist() == [[0, 0], [0, 1], [0, 1], [1, 0]]
    angles = np.arctan2(contexts("boundary")[0][:6, 1], contexts("boundary")[0][:6, 0]) * 2 / np.pi
    assert angles == pytest.approx([0, 1 / 4, 3 / 8, 5 / 16, 9 / 32, 19 / 64])


def test_the_aim_is_at_a_right_angle_to_what_the_two_arms_ahead_were_paid_for():
    form = Contexts(2, (2,))
    table = np.array([[0.6, 0.8]] + [[1.0, 0.0]] * 3)
    pair = ContextPair(form, table, [[1.0, 0.0]] * 4, 2, [0.0, 1.0])
    guests = ContextGame(pair, Reaction("aim")).guests(0)
    guests.saw(0, form.table(table, [[1.0, 0.0]] * 4)[:1], np.array([0]))
    assert guests.told[0].tolist() == [[0.6, 0.8], [0.0, 0.0]]
    (aimed,) = form.split(guests.rows(1))[0]
    assert aimed == pytest.approx([0.8, -0.6])


@pytest.mark.parametrize(("name", "spiteful"), [("bribe", False), ("aim", 1), ("", True)])
def test_a_bad_reaction_is_refused(name, spiteful):
    with pytest.raises(InputError, match=r"reaction|spiteful"):
        Reaction(name, spiteful)


def test_a_game_that_is_not_as_written_is_refused():
    plain = game(ONE_OF_REACTIONS, Reaction("aim")).as_dict()
    for broken in ({"reaction": "bribe"}, {"spiteful": "yes"}, {"shape": [9]}):
        with pytest.raises(InputError, match=r"reaction|spiteful|not in the form"):
            pair_of({**plain, **broken})


# ---------------------------------------------------------------- one run, read as arrays are


def unfolding(form=ONE_OF_REACTIONS):
    return game(form, Reaction("reverse")).unfolding(1, joint=True)


@pytest.mark.parametrize("form", [ONE_OF_REACTIONS, EACH_OF_REACTIONS])
def test_a_run_that_goes_through_the_rounds_gets_what_the_adversary_sends(form):
    rng = np.random.default_rng(5)
    arms = rng.integers(0, form.n_arms, T)
    whole = sent(game(form, Reaction("reverse")), 1, arms[None])[0]
    contexts, rewards = form.split(whole)
    run = unfolding(form)
    assert (run.contexts.shape, run.rewards.shape) == (contexts.shape, rewards.shape)
    assert (len(run.contexts), run.contexts.ndim, len(run.rewards[0])) == (T, contexts.ndim, form.n_arms)
    for t, arm in enumerate(arms):
        assert np.array_equal(run.contexts[t], contexts[t])
        assert np.array_equal(run.contexts[t, 0], contexts[t, 0])
        assert run.rewards[t, arm] == run.rewards[t][arm] == rewards[t, arm]
        assert np.array_equal(run.contexts[: t + 1], contexts[: t + 1])
    assert np.array_equal(run.rewards[np.arange(T), arms], rewards[np.arange(T), arms])
    run.check(arms)
    with pytest.raises(AheadError, match="does not read, round by round, the reward of the arm"):
        run.check((arms + 1) % form.n_arms)
    with pytest.raises(IndexError):
        run.contexts[T]
    assert len(list(unfolding(form).rewards)) == T  # rows that nobody reads


def test_what_a_run_is_given_is_its_own():
    run = unfolding()
    run.contexts[0][:] = 7
    assert np.array_equal(run.contexts[0], ONE_OF_REACTIONS.unit(0))
    fresh = run.copy()
    run.rewards[0, 0]
    assert np.array_equal(fresh.contexts[0], ONE_OF_REACTIONS.unit(0))
    with pytest.raises(AheadError):
        fresh.contexts[1]


@pytest.mark.parametrize(
    "read",
    [
        lambda run: run.contexts[1],
        lambda run: run.contexts[-1],
        lambda run: run.contexts[:3],
        lambda run: run.contexts.sum(axis=0),
        lambda run: run.contexts / 2,
        lambda run: 2 * run.rewards,
        lambda run: np.linalg.norm(run.contexts, axis=1),
        lambda run: np.asarray(run.rewards),
        lambda run: run.rewards.mean(),
        lambda run: run.rewards[:1],
        lambda run: run.rewards[0].max(),
        lambda run: run.rewards[0, :],
        lambda run: run.rewards[0][[0, 1]],
        lambda run: run.rewards[0, 0] + run.rewards[0, 1],
        lambda run: np.argmax(run.rewards[0]),
    ],
)
def test_a_run_that_looks_ahead_or_at_other_rewards_is_stopped_even_if_it_catches_the_error(read):
    run = unfolding()
    with pytest.raises(AheadError, match="an adversary cannot send users to this code one by one"):
        read(run)
    with pytest.raises(AheadError):
        run.check(np.zeros(T, int))
