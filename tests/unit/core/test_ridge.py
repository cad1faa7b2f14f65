"""LinUCB of many runs at once, beside the same rule written with inverses of whole matrices."""

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp.core.populations import Linear, Logistic
from verifiable_dp.core.ridge import LinUCB
from verifiable_dp.core.validate import InputError


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
        (lambda: LinUCB().play_users(np.zeros((2, 3, 4)), np.zeros((2, 4, 2))), "must fit"),
        (
            lambda: LinUCB().play_users(np.zeros((2, 3, 3, 4)), np.zeros((2, 3, 2))),
            "one a user or one an arm",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make_it, words):
    with pytest.raises(InputError, match=words):
        make_it()
