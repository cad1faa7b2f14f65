"""Neighbours for bandits with contexts: each replaces one user, within the norm, and some tell a decision."""

import numpy as np
import pytest

from verifiable_dp.core.contexts import Contexts
from verifiable_dp.evidence.blackbox.users import UserSearch

T = 12
FORMS = [
    Contexts(2, (1,)),
    Contexts(2, (3,), 2.0),
    Contexts(3, (3, 2)),
    Contexts(2, (2, 1), 1.0, (-1.0, 1.0)),
]


def bandit(form, noise, seed=0):
    """LinUCB on many runs with normal noise on what it learnt; without bonus."""
    rng = np.random.default_rng(seed)

    def play(table, runs):
        contexts, rewards = form.split(table)
        each = contexts if len(form.shape) == 2 else np.repeat(contexts[:, None], form.n_arms, axis=1)
        u = noise * rng.standard_normal((runs, form.n_arms if len(form.shape) == 1 else 1, form.dimension))
        actions = np.zeros((runs, T), int)
        for t in range(T):
            scores = (each[t] * u).sum(axis=2)
            actions[:, t] = scores.argmax(axis=1)
            for run, arm in enumerate(actions[:, t]):
                u[run, arm % u.shape[1]] += rewards[t, arm] * each[t, arm]
        return actions

    return play


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reward_only", [False, True])
def test_every_pair_replaces_one_user_within_the_norm(form, reward_only):
    search = UserSearch(bandit(form, 0.3), form, T, 16, reward_only, dear=[(5, 0)], most=4000)
    pairs = [*search.plain(), *search.tuned()]
    assert len(pairs) >= 6
    changed = 0
    for pair in pairs:
        left, right = pair.worlds()
        assert np.flatnonzero((left != right).any(axis=1)).tolist() == [pair.round]
        here, there = (form.split(world)[0] for world in (left, right))
        assert max(np.linalg.norm(here, axis=-1).max(), np.linalg.norm(there, axis=-1).max()) <= form.norm
        changed += not np.array_equal(here, there)
    assert (changed == 0) == reward_only
    assert {pair.round for pair in pairs} >= {0, T - 1}
    assert search.played < 8000


def test_late_contexts_are_tuned_until_the_decision_hangs_in_the_balance():
    """Negative control: where no decision depends on the contexts nothing is tuned."""
    form = Contexts(2, (2, 2))
    rng = np.random.default_rng(1)

    def play(table, runs):
        contexts, _ = form.split(table)
        strength = 1 + 0.2 * rng.standard_normal((runs, 1))
        return (contexts[:, 1].max(axis=1) * strength > 0.6 * contexts[:, 0].max(axis=1)).astype(int)

    search = UserSearch(play, form, T, 200)
    tables = list(search._asked())
    assert tables
    shares = [search._last(table).mean() for table in tables]
    assert min(abs(share - 0.5) for share in shares) < 0.2
    constant = UserSearch(lambda table, runs: np.zeros((runs, T), int), form, T, 200)
    assert list(constant._asked()) == []
