"""Adversaries over contexts: what they send, that they cannot look ahead, what comes back from a record."""

import copy
import json
import pickle

import numpy as np
import pytest

from verifiable_dp.core.contexts import AheadError, Contexts
from verifiable_dp.core.neighbours import ContextGame, ContextPair, pair_of
from verifiable_dp.core.reactions import KINDS, Reaction, everyone
from verifiable_dp.core.validate import InputError

T = 12
ONE, EACH = Contexts(2, (3,)), Contexts(3, (3, 3), 2.0, (-1.0, 1.0))


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


@pytest.mark.parametrize("form", [ONE, EACH])
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
    x = ONE.unit(0)

    def contexts(name, spiteful=False):
        return ONE.split(sent(game(ONE, Reaction(name, spiteful), when=11), 0, arms)[0])

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
    plain = game(ONE, Reaction("aim")).as_dict()
    for broken in ({"reaction": "bribe"}, {"spiteful": "yes"}, {"shape": [9]}):
        with pytest.raises(InputError, match=r"reaction|spiteful|not as written"):
            pair_of({**plain, **broken})


# ---------------------------------------------------------------- one run, read as arrays are


def unfolding(form=ONE):
    return game(form, Reaction("reverse")).unfolding(1, joint=True)


@pytest.mark.parametrize("form", [ONE, EACH])
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
    with pytest.raises(AheadError, match="does not read the reward of each arm"):
        run.check((arms + 1) % form.n_arms)
    with pytest.raises(IndexError):
        run.contexts[T]
    assert len(list(unfolding(form).rewards)) == T  # rows that nobody reads


def test_what_a_run_is_given_is_its_own():
    run = unfolding()
    run.contexts[0][:] = 7
    assert np.array_equal(run.contexts[0], ONE.unit(0))
    fresh = run.copy()
    run.rewards[0, 0]
    assert np.array_equal(fresh.contexts[0], ONE.unit(0))
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
    with pytest.raises(AheadError, match="no adversary can send this code its users one by one"):
        read(run)
    with pytest.raises(AheadError):
        run.check(np.zeros(T, int))
