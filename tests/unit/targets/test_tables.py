"""The table as an environment: which arm a pull is of, what comes back, and what is not known of it."""

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import tables
from verifiable_dp.targets.tables import Arm, Arms, Finished, Space, TableEnvironment, TableWorld, Usage

TABLE = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])


@pytest.fixture
def world():
    return TableWorld(TABLE)


@pytest.fixture
def env(world):
    return TableEnvironment(world, np.random.default_rng(0))


@pytest.mark.parametrize("arm", [1, np.int64(1), np.array(1), np.array([1]), [1], 1.0])
def test_an_arm_pays_the_reward_of_its_round(world, arm):
    assert [world.paid(arm), world.paid(0)] == [0.2, 0.3]
    assert world.pulled == [1, 0]


@pytest.mark.parametrize("arm", [-1, 2, np.array([5])])
def test_an_arm_that_is_not_there_is_refused(world, arm):
    with pytest.raises(InputError, match=r"target: arms must lie in 0 \.\. 1, got arm "):
        world.paid(arm)
    assert world.pulled == []


@pytest.mark.parametrize("arm", [[0, 1], np.zeros(3), []])
def test_a_pull_of_several_arms_is_refused(world, arm):
    with pytest.raises(InputError, match="target: a pull must be of one arm, got "):
        world.paid(arm)


def test_the_run_ends_with_its_last_round(world):
    """The last reward is not told: nothing can follow from it."""
    assert [world.pull(0), world.pull(1)] == [0.1, 0.4]
    for _ in range(2):
        with pytest.raises(Finished):
            world.pull(0)
    assert world.pulled == [0, 1, 0]


@pytest.mark.parametrize(
    ("args", "named", "words", "arm"),
    [
        ((1,), {}, (), 1),
        ((0.5, 1), {}, (), 1),
        ((), {"arm": 1}, (), 1),
        ((0,), {"action": 1}, (), 1),
        ((0, 1), {}, ("t", "arm"), 1),
        ((np.array([1]),), {}, (), 1),
    ],
)
def test_which_argument_is_the_arm(args, named, words, arm):
    world = TableWorld(TABLE, {"step": Usage(arguments=words)})
    assert world.arm_of("step", args, named) == arm


@pytest.mark.parametrize(
    ("args", "words"),
    [((), ()), ((0.5,), ()), ((0, 1), ()), ((0, 1), ("t", "n")), ((0, 1), ("arm", "action"))],
)
def test_a_pull_of_which_nobody_knows_the_arm_is_refused(args, words):
    world = TableWorld(TABLE, {"step": Usage(arguments=words)})
    with pytest.raises(InputError, match=f"step of the environment was called with {len(args)} arguments"):
        world.arm_of("step", args, {})


@pytest.mark.parametrize(
    ("usage", "method", "packed"),
    [
        (Usage(), "pull", 7),
        (Usage(names=("reward", "done")), "pull", (7, False)),
        (Usage(names=("obs", "reward", "done", "info")), "step", (0, 7, False, {})),
        (Usage(names=("x0", "cost")), "step", (7, 0)),
        (Usage(names=("a", "b", "c")), "step", (0, 7, 0)),
        (Usage(names=("obs", "my_reward")), "step", (0, 7)),
        (Usage(element=1), "step", (0, 7, 0, {})),
        (Usage(element=2), "pull", (0, 0, 7)),
        (Usage(element=0), "pull", (7,)),
        (Usage(names=("_r", "info")), "pull", (7, {})),
    ],
)
def test_what_a_pull_gives(usage, method, packed):
    assert usage.packed(7, method) == packed


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_arms", 2), ("horizon", 3), ("gaps", [0, 0]), ("actions", [0, 1])],
)
def test_what_is_known_of_an_environment(env, name, value):
    assert np.asarray(getattr(env, name)).tolist() == value


def test_what_is_not_known_of_an_environment(env, world):
    for thing in (env, Arms(world)):
        with pytest.raises(
            tables.AskedError, match="its environment is asked for secrets, which is not known"
        ):
            _ = thing.secrets
        assert not hasattr(thing, "secrets")
        with pytest.raises(AttributeError, match=r"^_secret$"):
            _ = thing._secret
    with pytest.raises(AttributeError, match=r"^secrets$"):
        _ = Arms(world)[0].secrets


def test_arms_that_are_pulled_by_themselves(env, world):
    one, other = Arms(world)
    assert isinstance(one, Arm)
    assert [other.pull(), one.pull()] == [0.2, 0.3]
    assert world.pulled == [1, 0]
    with pytest.raises(Finished):
        other()


def test_an_environment_as_a_list_and_as_a_function(env):
    assert (len(env), env[1].pull(), env(0)) == (2, 0.2, 0.3)


def test_actions_are_sampled_among_the_arms(world):
    space = Space(world, np.random.default_rng(0))
    assert space.n == 2
    assert {space.sample() for _ in range(64)} == {0, 1}
