"""The table as an environment: which arm a pull is of, what comes back, and what is not known of it."""

import gc
import linecache
import os
import random
import secrets
import sys
import time
import types
from fractions import Fraction
from os import urandom
from types import ModuleType

import numpy as np
import pytest
from numba import njit
from numpy.random import laplace
from scipy import stats

import verifiable_dp as vdp
from tests.records import read_all
from tests.user_code import origins as code
from tests.user_code import seeded_process
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.core import outputs
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair, TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.tracing import foreign
from verifiable_dp.evidence.tracing.foreign import GIVEN, sources
from verifiable_dp.record import conclude
from verifiable_dp.targets import randomness, rewards, seeds, tables
from verifiable_dp.targets.adapters import BanditClass, taken
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.randomness import follower_of
from verifiable_dp.targets.releases import ReleaseSampler
from verifiable_dp.targets.roles import GivenRole
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


class Told(int):
    """May hold data."""


class Owned(Told):
    is_own = True


def noted():
    arm = Arms(TableWorld(TABLE))[1]
    arm.note = 0.3
    return arm


ODD = [Told(1), Owned(1), 1.25, np.array([0.25]), "1", np.str_("1"), [Told(1)], None, {1: 1}, np.nan, noted()]


@pytest.mark.parametrize("arm", ODD, ids=repr)
def test_an_arm_is_a_whole_number_and_no_more(arm):
    """Broken variants: `int()` of it is seen, so that an attribute or a fraction may hold data; code that
    catches the error and pulls again goes on. Control: the next test.
    """

    def run(env, rng):
        for _ in range(env.horizon):
            try:
                env.pull(arm=arm)
            except Exception:
                env.pull(1)

    with pytest.raises(InputError, match="target: an arm must be a whole number, got "):
        BanditClass(run)(TABLE, np.random.default_rng(0))

    def generate(n_arms, rng):
        while True:
            yield arm

    with pytest.raises(InputError, match="target: an arm must be a whole number, got "):
        BanditClass(generate)(TABLE, np.random.default_rng(0))


@pytest.mark.parametrize("arm", [1, np.int64(1), True, np.array([1]), [1], 1.0])
def test_how_an_arm_is_said_is_kept(arm):
    """Broken variant: a float and a whole number look alike."""

    def run(env, rng):
        for _ in range(env.horizon):
            env.pull(arm=arm)

    made = BanditClass(run)(TABLE, np.random.default_rng(0))
    assert list(made) == [1, 1, 1]
    assert (type(made) is np.ndarray) == (type(arm) is int)
    if type(arm) is not int:
        assert made.forms == dict.fromkeys(range(3), outputs.form(arm))


@pytest.mark.parametrize("arm", [[0, 1], np.zeros(3), []])
def test_a_pull_of_several_arms_is_refused(world, arm):
    with pytest.raises(InputError, match="target: each pull must be of one arm, got "):
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
            tables.AskedError,
            match="its code asks the environment for secrets, but the environment that we pass has only",
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


# Functions that pay, replaced by a table while code plays: which is found, and which arm a call means.


TABLE_OF_REWARDS = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])


@pytest.fixture
def module(monkeypatch):
    """A module of the target, which another one has imported from."""
    source = """
def pay(arm):
    return -1.0

def draw(mean):
    return -1.0

def toss(x, y):
    return -1.0

class Service:
    best = 7

    def pull(self, arm):
        return -2.0

    @staticmethod
    def free(arm):
        return -3.0

    class Inner:
        def pull(self, which):
            return -4.0
"""
    made, user = types.ModuleType("paying_module"), types.ModuleType("using_module")
    exec(source, vars(made))
    user.by_another_name = made.pay
    for one in (made, user):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    return made


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("paying_module:pay", "pay"),
        ("some/folder/paying_module.py:pay", "pay"),
        ("some\\\\folder\\\\paying_module.py:pay", "pay"),
        ("paying_module:Service.pull", "pull"),
        ("paying_module:Service.Inner.pull", "pull"),
    ],
)
def test_what_is_found(module, name, last):
    owner, word, function = rewards.found(name)
    assert (word, getattr(owner, last)) == (last, function)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pay", "reward must be file.py:function, file.py:Class.method or module:function"),
        ("nowhere:pay", "reward must be file.py:function, file.py:Class.method or module:function"),
        ("nowhere.py:pay", "reward must be file.py:function"),
        ("paying_module:none", "reward: paying_module has no 'none'"),
        ("paying_module:Service.none.pull", "reward: paying_module has no 'Service.none.pull'"),
        ("paying_module:Service.best", "must be a function or a method, got int"),
    ],
)
def test_what_is_not_found(module, name, words):
    with pytest.raises(InputError, match=words):
        rewards.found(name)


def test_the_table_pays_while_it_lasts(module):
    world, user = TableWorld(TABLE_OF_REWARDS), sys.modules["using_module"]
    with rewards.Replacement.of("paying_module:pay", world):
        assert [module.pay(1), module.pay(arm=0), user.by_another_name(1)] == [0.2, 0.3, 0.6]
    assert (module.pay(0), user.by_another_name(0)) == (-1.0, -1.0)
    assert (world.pulled, world.guessed) == ([1, 0, 1], set())


def test_methods_and_static_ones(module):
    world = TableWorld(TABLE_OF_REWARDS)
    with rewards.Replacement.of("paying_module:Service.pull", world):
        assert module.Service().pull(1) == 0.2
    with rewards.Replacement.of("paying_module:Service.free", world):
        assert (module.Service.free(0), module.Service().free(1)) == (0.3, 0.6)
    assert (module.Service().pull(0), module.Service.free(0)) == (-2.0, -3.0)


def test_nothing_is_replaced_without_a_name(module):
    with rewards.Replacement.of("", TableWorld(TABLE_OF_REWARDS)):
        assert module.pay(0) == -1.0


def test_what_was_replaced_comes_back_after_an_error(module):
    with pytest.raises(KeyError), rewards.Replacement.of("paying_module:pay", TableWorld(TABLE_OF_REWARDS)):
        raise KeyError
    assert module.pay(0) == -1.0


def test_the_mean_of_an_arm_says_which(module):
    world = TableWorld(TABLE_OF_REWARDS)
    world.means = [0.25, 0.75]
    with rewards.Replacement.of("paying_module:draw", world):
        assert [module.draw(0.75), module.draw(mean=np.float64(0.25))] == [0.2, 0.3]
    assert (world.pulled, world.guessed) == ([1, 0], set())


def test_the_only_whole_number_is_taken_for_the_arm_and_noted(module):
    world = TableWorld(TABLE_OF_REWARDS)
    with rewards.Replacement.of("paying_module:toss", world):
        assert [module.toss(1, 0.5), module.toss(0.5, y=np.int64(0)), module.toss(True, 1)] == [0.2, 0.3, 0.6]
    assert (world.pulled, world.guessed) == ([1, 0, 1], {0, 1})


@pytest.mark.parametrize("given", [(1, 1), (0.5, 0.5), (True, False)])
def test_a_call_that_does_not_say_which_arm_is_refused(module, given):
    world, words = (
        TableWorld(TABLE_OF_REWARDS),
        r"must have a parameter called .*, or receive the mean of an arm",
    )
    with rewards.Replacement.of("paying_module:toss", world), pytest.raises(InputError, match=words):
        module.toss(*given)


def test_the_parameter_that_is_the_arm(module):
    assert rewards.arm_parameter(module.pay) == "arm"
    assert rewards.arm_parameter(module.toss) == ""


# Code that is told contexts, as users and libraries write it: what each call is handed.


T, K, D = 5, 2, 3
CONTEXTS = np.arange(1, T * D + 1).reshape(T, D) / 100
REWARDS = np.arange(T * K).reshape(T, K) / 10
ONE, EACH = Contexts(K, (D,)), Contexts(K, (K, D))
ARMS = np.stack([CONTEXTS, -CONTEXTS], axis=1)


def played(target, form=ONE, given=CONTEXTS, **more):
    kind, function = taken(target, GivenRole(contexts=form, **more))
    table = form.table(given, REWARDS)
    rng = np.random.default_rng(0)
    return function(table, 4, rng) if kind == "play_many" else function(table, rng)


def test_a_function_is_handed_contexts_and_rewards_apart():
    seen = []

    def play(contexts, rewards, rng):
        seen.append((contexts, rewards, rng))
        return [0] * len(rewards)

    played(play)
    assert np.array_equal(seen[0][0], CONTEXTS)
    assert np.array_equal(seen[0][1], REWARDS)
    assert isinstance(seen[0][2], np.random.Generator)
    played(play, EACH, ARMS)
    assert np.array_equal(seen[1][0], ARMS)


def test_names_decide_the_order_and_other_parameters_keep_their_defaults():
    seen = {}

    def play(rng, contexts, *, scale=2.0, rewards):
        seen.update(contexts=contexts, rewards=rewards, scale=scale, rng=rng)
        return np.zeros(len(rewards), int)

    played(play, parameters={"scale": 3.0})
    assert np.array_equal(seen["contexts"], CONTEXTS)
    assert np.array_equal(seen["rewards"], REWARDS)
    assert seen["scale"] == 3.0

    def many(contexts, rewards, n_runs, rng):
        return np.full((n_runs, len(rewards)), int(contexts.shape == (T, D)))

    assert played(many).tolist() == [[1] * T] * 4


@pytest.mark.parametrize("learn", ["context, arm, reward", "arm, reward, x", "reward, features, action"])
def test_a_class_is_told_the_context_of_each_round(learn):
    seen = []
    names = [name.strip() for name in learn.split(",")]
    what = {"arm": "arm", "action": "arm", "reward": "reward"}
    source = f"""
class Made:
    def __init__(self, n_arms, d):
        assert (n_arms, d) == ({K}, {D})
    def select(self, context):
        chose.append(context)
        return 1
    def update(self, {learn}):
        seen.append({{{", ".join(f"{what.get(n, 'context')!r}: {n}" for n in names)}}})
"""
    chose = []
    scope = {"seen": seen, "chose": chose}
    exec(source, scope)  # the signature is what is tested
    assert played(scope["Made"]).tolist() == [1] * T
    assert np.array_equal(chose, CONTEXTS)
    assert np.array_equal([row["context"] for row in seen], CONTEXTS)
    assert [row["reward"] for row in seen] == REWARDS[:, 1].tolist()


def test_lists_and_dictionaries_as_libraries_take_them():
    fitted, chosen, learnt = [], [], []

    class Lists:
        def __init__(self, n_arms):
            pass

        def fit(self, decisions, rewards, contexts=None):
            fitted.append((decisions, rewards, np.array(contexts)))

        def predict(self, contexts=None):
            chosen.append(np.array(contexts))
            return 0

        def partial_fit(self, decisions, rewards, contexts=None):
            learnt.append((decisions, rewards, np.array(contexts)))

    assert played(Lists).tolist() == [0, 1, 0, 0, 0]
    assert fitted[0][0] == [0, 1]
    assert np.array_equal(fitted[0][2], CONTEXTS[:2])
    assert np.array_equal(chosen[0], CONTEXTS[2:3])  # a list of one
    assert np.array_equal(learnt[-1][2], CONTEXTS[4:5])

    class Dictionaries:
        def __init__(self, n_arms):
            pass

        def pull(self, arm_ids, context: dict | None = None):
            chosen.append(context)
            return arm_ids[0]

        def update(self, arm_id, context, *reward):
            learnt.append((context, reward))

    played(Dictionaries)
    assert chosen[-1] == learnt[-1][0] == dict(enumerate(CONTEXTS[4].tolist()))
    assert learnt[-1][1] == (REWARDS[4, 0],)
    with pytest.raises(InputError, match="takes one context as a dictionary; give --contexts D"):
        played(Dictionaries, EACH, ARMS)


def test_learners_that_take_arrays_alone_get_them():
    """As contextualbandits does: it asks whether `a` and `r` are arrays, and no subclass will do."""
    seen = []

    class Arrays:
        def __init__(self, nchoices):
            pass

        def fit(self, X, a, r, continue_from_last=False):
            self.partial_fit(X, a, r)

        def predict(self, X, exploit=False):
            return np.array([1])

        def partial_fit(self, X, a, r):
            assert type(a) is type(r) is np.ndarray
            assert len(X) == len(a) == len(r)
            seen.append((a.tolist(), r.tolist()))

    def made(n_arms):
        return Arrays(n_arms)

    assert list(played(made)) == [0, 1, 1, 1, 1]
    assert seen[0] == ([0, 1], [REWARDS[0, 0], REWARDS[1, 1]])
    assert seen[1:] == [([1], [paid]) for paid in REWARDS[2:, 1]]


def test_what_cannot_be_played_says_what_to_do():
    def play(contexts, rewards, rng):
        return [0] * len(rewards)

    with pytest.raises(InputError, match=r"contexts must be given for .*--contexts D"):
        taken(play, GivenRole())
    with pytest.raises(InputError, match=r"play\(contexts, rewards, rng\)"):
        taken(lambda rewards, rng: 0, GivenRole(contexts=ONE))

    class Blind:
        def __init__(self, n_arms):
            pass

    with pytest.raises(InputError, match=r"select\(context\)"):
        taken(Blind, GivenRole(contexts=ONE))


def test_under_joint_privacy_the_users_own_action_is_not_seen():
    """Negative control: under plain privacy the same runs tell the worlds apart at once."""

    def tells(contexts, rewards, rng):
        return (contexts[:, 0] > 0).astype(int)

    base = np.tile(ONE.unit(0), (T, 1))
    pair = ContextPair(ONE, base, np.zeros((T, K)), 2, context=-base[0])
    function = taken(tells, GivenRole(contexts=ONE))[1]
    runs = np.arange(3, dtype=np.int64)

    def seen(joint):
        sampler = PlaySampler(function, False, K, T, 0, joint=joint)
        return [sampler.sample(pair, world, 0, 0, runs) for world in (0, 1)]

    left, right = seen(joint=True)
    assert all(np.array_equal(left.discrete[name], right.discrete[name]) for name in left.discrete)
    assert all(np.array_equal(left.numeric[name], right.numeric[name]) for name in left.numeric)
    assert "other users 1 to 2" in left.discrete
    left, right = seen(joint=False)
    assert (left.discrete["all rounds"] != right.discrete["all rounds"]).all()


@pytest.mark.parametrize(
    ("promise", "inputs", "words"),
    [
        ({"model": "joint"}, {}, "model='joint' and `protects` need contexts"),
        ({"protects": "reward"}, {}, "model='joint' and `protects` need contexts"),
        ({"group": 2}, {"contexts": 3}, "`group` works only without contexts"),
        ({"model": "shuffled"}, {"contexts": 3}, "model must be one of central, joint, local"),
    ],
)
def test_options_that_do_not_fit_are_refused(promise, inputs, words):
    with pytest.raises(InputError, match=words):
        AuditRequest(None, "it", Promise(1.0, **promise), Inputs(K, T, **inputs))


def test_inputs_come_back_from_a_record():
    given = Inputs(K, T, contexts="2x3", context_norm=2.0)
    assert given.form == Contexts(K, (2, 3), 2.0)
    back = Inputs.read({"n_arms": K, "horizon": T, "bounds": [0.0, 1.0], **given.recorded()})
    assert back.form == given.form


def test_pairs_of_another_kind_are_refused():
    from tests import asking

    def play(contexts, rewards, rng):
        return rng.integers(0, K, len(rewards))

    table = TablePair(np.zeros((T, K)), 0, 0, 1.0)
    with pytest.raises(InputError, match="pairs must be ContextPairs"):
        asking.audited(play, epsilon=1.0, n_arms=K, horizon=T, contexts=D, pairs=[table])


# Generators that code keeps: what readers know of them, and which of them draw the same. Each leak has a
# right twin in `tests/user_code/origins.py`. A source that is followed by its name, or replaced without
# regard to others of one state, makes `leak_twins` and `leak_known` look right.


HORIZON, ARMS_OF_SEEDS = 20, 2
TABLE_OF_SEEDS = np.full((HORIZON, ARMS_OF_SEEDS), 0.5)
NUMBERS = np.arange(64)
FIXED = ("known", "class", "method", "children", "python", "default", "closure", "first_run")
SHARED = ("twins", "copy", "held")


def followed(play, table=TABLE_OF_SEEDS):
    return PlaySampler(play, False, ARMS_OF_SEEDS, HORIZON, seed=1, followed=True).actions(
        table, (1,), NUMBERS
    )


def doubts_about(play):
    follower = follower_of(play)
    follower.start(seeds.origins_of(play))
    followed(play)
    return follower.doubts()


def audit(play, **options):
    return vdp.audit(play, epsilon=1.0, n_arms=ARMS_OF_SEEDS, horizon=HORIZON, runs=800, **options)


@pytest.mark.parametrize("name", FIXED)
def test_a_state_that_every_process_starts_from_is_known(name):
    play = getattr(code, f"leak_{name}")
    found = doubts_about(play)
    assert found
    assert all("starts from the same state in every process" in why for why in found)
    assert len(np.unique(followed(play)[:, -1])) == 2, "runs are those of somebody who does not know it"


@pytest.mark.parametrize("name", ["right", "right_one_stream", "right_first_run"])
def test_a_seed_of_the_system_is_a_secret(name):
    assert doubts_about(getattr(code, name)) == []


@pytest.mark.parametrize(("play", "line"), [(code.leak_known, "KNOWN = "), (code.leak_class, "rng = ")])
def test_the_line_is_named(play, line):
    [why] = doubts_about(play)
    number = int(why.partition("origins.py:")[2].partition(")")[0])
    assert linecache.getline(code.__file__, number).strip().startswith(line)


@pytest.mark.parametrize(("name", "module"), [("numpy", "np.random"), ("python", "random")])
def test_generators_of_the_process_are_known_where_the_file_seeds_them(name, module):
    """Control: the other one is not drawn from, and is not told of."""
    [why] = doubts_about(getattr(seeded_process, f"leak_{name}"))
    assert why.startswith(f"{module} (seeded_process.py:")
    number = int(why.partition(".py:")[2].partition(")")[0])
    assert linecache.getline(seeded_process.__file__, number).startswith(f"{module}.seed(")


@pytest.mark.parametrize("name", SHARED)
def test_generators_of_one_state_draw_the_same_in_every_run(name):
    """Control: two that share their bits draw one after the other."""
    played = followed(getattr(code, f"leak_{name}"))
    assert len(np.unique(played[:, -1])) == 1
    assert len(np.unique(followed(code.right_one_stream)[:, -1])) == 2


def test_they_are_told_apart_by_their_state_at_the_start():
    """Also where one of them has drawn more since; without the start they would be strangers."""
    code.LEFT.random()
    follower_of(code.leak_twins).start(seeds.Origins({}))
    assert len(np.unique(followed(code.leak_twins)[:, -1])) == 2, "as they are, they differ"
    follower_of(code.leak_twins).start(seeds.origins_of(code.leak_twins))
    assert len(np.unique(followed(code.leak_twins)[:, -1])) == 1


def test_one_seed_at_two_places_is_told_of():
    [why] = doubts_about(code.leak_ahead)
    assert "BASE" in why
    assert "same seed" in why


NO_BOUND = [*(getattr(code, f"leak_{name}") for name in (*FIXED, *SHARED, "ahead", "behind"))]
NO_BOUND += [seeded_process.leak_numpy, seeded_process.leak_python]


@pytest.mark.parametrize("play", NO_BOUND, ids=lambda play: play.__name__)
def test_such_draws_have_no_bound(play):
    found, why, _ = traced.bound(play, "code", Inputs(ARMS_OF_SEEDS, HORIZON, (0.0, 1.0)), 0.0)
    assert found is None
    assert why


@pytest.mark.parametrize("play", [code.right, code.right_one_stream], ids=lambda play: play.__name__)
def test_right_ones_have_theirs(play):
    found, why, _ = traced.bound(play, "code", Inputs(ARMS_OF_SEEDS, HORIZON, (0.0, 1.0)), 0.0)
    assert found is not None, why
    assert found.epsilon == pytest.approx(1.0)


# ---------------------------------------------------------------- audits


def test_noise_that_cancels_is_refuted():
    assert audit(code.leak_twins).verdict == "refuted"


def test_a_known_seed_is_no_secret():
    """Neither acquitted nor accused: with a secret seed it would be right."""
    report = audit(code.leak_known)
    assert report.verdict == "inconclusive"
    [check] = [check for check in report.record["checks"] if check["kind"] == "sources"]
    assert "KNOWN (origins.py:" in conclude.lead(read_all(report.record["checks"]))
    assert check["statistics"]["doubts"] == [conclude.lead(read_all(report.record["checks"]))]
    assert report.record["epsilon_upper"] is None


def test_a_right_one_is_acquitted_as_before():
    report = audit(code.right)
    assert report.verdict == "not_refuted"
    assert not any(check["kind"] == "sources" for check in report.record["checks"])


def test_other_results_with_the_generators_as_they_are_are_noticed():
    """Nothing in the states tells that the draws are the same. Control: `test_a_right_one_is_acquitted`."""
    assert doubts_about(code.leak_unseen) == []
    report = audit(code.leak_unseen)
    assert report.verdict != "not_refuted"
    assert report.record["epsilon_upper"] is None
    assert any(
        "own generators" in why
        for check in report.record["checks"]
        if check["kind"] == "sources"
        for why in check["statistics"]["doubts"]
    )


def test_without_a_doubt_the_check_decides_nothing():
    assert judged("sources", {"doubts": []}) == {"verdict": "not_refuted"}
    assert judged("sources", {"doubts": ["a"]}) == {"verdict": "inconclusive"}


def test_what_is_drawn_between_batches_is_not_the_codes():
    """Names of files, say. Broken variant: states are noted once, when it is looked what is drawn from."""
    other, play = random.Random(), code.right
    follower = follower_of(play)
    follower.start(seeds.origins_of(play))
    followed(play)
    other.random()
    followed(play)
    assert follower.doubts() == []
    assert all(source is not other for source in follower._own)


# Sources of randomness beside the given generator: runs repeat in any order, and what is seeded stays so.


# ruff: noqa: NPY002


ARMS_OF_RANDOMNESS = 3
TABLE_OF_RANDOMNESS = np.full((5, ARMS_OF_RANDOMNESS), 0.5)
OF_MODULE = np.random.default_rng(3)


class Holder:
    """A generator made when it is first asked for, and kept."""

    def __init__(self):
        self._rng = None

    @property
    def rng(self):
        if self._rng is None:
            self._rng = np.random.RandomState()
        return self._rng


HELD = Holder()


@njit
def compiled(size):
    out = np.empty(size)
    for i in range(size):
        out[i] = np.random.laplace(0, 1)
    return out


def uniforms(draw):
    return np.array([draw() for _ in range(ARMS_OF_RANDOMNESS)])


SOURCES = {
    "np.random": lambda: np.random.laplace(0, 1, ARMS_OF_RANDOMNESS),
    "from numpy.random": lambda: laplace(0, 1, ARMS_OF_RANDOMNESS),
    "a generator of the module": lambda: OF_MODULE.laplace(0, 1, ARMS_OF_RANDOMNESS),
    "a generator without a seed": lambda: np.random.default_rng().laplace(0, 1, ARMS_OF_RANDOMNESS),
    "a bit generator without a seed": lambda: np.random.Generator(np.random.PCG64()).laplace(
        0, 1, ARMS_OF_RANDOMNESS
    ),
    "a RandomState without a seed": lambda: np.random.RandomState().laplace(0, 1, ARMS_OF_RANDOMNESS),
    "one made at the first call": lambda: HELD.rng.laplace(0, 1, ARMS_OF_RANDOMNESS),
    "random": lambda: uniforms(random.random),
    "random, with its memory": lambda: uniforms(lambda: random.gauss(0, 1)),
    "random.Random without a seed": lambda: uniforms(random.Random().random),
    "random.SystemRandom": lambda: uniforms(random.SystemRandom().random),
    "secrets": lambda: uniforms(lambda: secrets.randbelow(1000)),
    "os.urandom": lambda: uniforms(lambda: os.urandom(1)[0]),
    "from os": lambda: uniforms(lambda: urandom(1)[0]),
    "scipy": lambda: stats.laplace.rvs(size=ARMS_OF_RANDOMNESS),
    "numba": lambda: compiled(ARMS_OF_RANDOMNESS),
}
NUMBERS_OF_RANDOMNESS = np.arange(24)


def play_with(draw):
    return lambda rewards, rng: np.full(len(rewards), int((rewards.sum(axis=0) + draw()).argmax()))


def actions(play, numbers=NUMBERS_OF_RANDOMNESS, **options):
    return PlaySampler(play, False, ARMS_OF_RANDOMNESS, 5, seed=1, **options).actions(
        TABLE_OF_RANDOMNESS, (1, 2), numbers
    )


@pytest.mark.parametrize("source", SOURCES)
def test_runs_follow_the_generator_that_they_are_given(source):
    play = play_with(SOURCES[source])
    found = actions(play, followed=True)
    assert len(np.unique(found[:, 0])) > 1, "runs differ from each other"
    assert np.array_equal(actions(play, NUMBERS_OF_RANDOMNESS[::-1], followed=True)[::-1], found), (
        "in any order"
    )
    assert np.array_equal(actions(play, NUMBERS_OF_RANDOMNESS[7:], followed=True), found[7:]), (
        "and by any worker"
    )
    assert not np.array_equal(actions(play), actions(play)), "unless they are let alone"


def test_another_seed_gives_other_runs():
    play = play_with(SOURCES["np.random"])
    sampler = PlaySampler(play, False, ARMS_OF_RANDOMNESS, 5, seed=2, followed=True)
    assert not np.array_equal(
        sampler.actions(TABLE_OF_RANDOMNESS, (1, 2), NUMBERS_OF_RANDOMNESS), actions(play, followed=True)
    )


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.default_rng(0).laplace(0, 1, ARMS_OF_RANDOMNESS),
        lambda: np.random.RandomState(7).laplace(0, 1, ARMS_OF_RANDOMNESS),
        lambda: uniforms(random.Random(5).random),
    ],
)
def test_what_is_seeded_in_a_run_stays_as_it_is(draw):
    assert len(np.unique(actions(play_with(draw), followed=True))) == 1  # a leak, which must stay one


def test_seeding_the_process_in_a_run_stays_a_constant():
    def draw():
        np.random.seed(4)
        return np.random.laplace(0, 1, ARMS_OF_RANDOMNESS)

    assert len(np.unique(actions(play_with(draw), followed=True))) == 1


def test_a_source_that_few_runs_draw_from_is_found():
    rare = random.Random(1)

    def play(rewards, rng):
        if rng.random() < 0.2:
            return np.array([rare.randrange(ARMS_OF_RANDOMNESS) for _ in rewards])
        return np.zeros(len(rewards), int)

    numbers = np.arange(64)
    found = actions(play, numbers, followed=True)
    assert np.array_equal(actions(play, numbers[::-1], followed=True)[::-1], found)
    assert len(np.unique(found)) > 1


def test_states_are_put_back():
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate(), OF_MODULE.bit_generator.state
    for source in ("np.random", "random", "a generator of the module"):
        actions(play_with(SOURCES[source]), followed=True)
    assert (np.random.get_state()[1].tolist(), random.getstate(), OF_MODULE.bit_generator.state) == before
    assert random.Random.seed.__module__ == "random"
    assert os.urandom.__module__ == "posix"


def test_a_crash_puts_them_back_too():
    def play(rewards, rng):
        random.random()
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        actions(play, followed=True)
    assert os.urandom.__module__ == "posix"


def test_mechanisms_follow_too():
    def release(data, size, rng):
        return data + np.random.laplace(0, 1, size)

    sampler = ReleaseSampler(release, seed=3, followed=True)
    first = sampler.values(0.0, (1,), NUMBERS_OF_RANDOMNESS)
    assert np.array_equal(first, sampler.values(0.0, (1,), NUMBERS_OF_RANDOMNESS))
    assert len(np.unique(first)) == len(NUMBERS_OF_RANDOMNESS)


def test_torch_is_seeded_where_it_is_loaded(monkeypatch):
    torch, seeds = ModuleType("torch"), []
    torch.manual_seed = seeds.append
    monkeypatch.setitem(sys.modules, "torch", torch)
    actions(play_with(SOURCES["random"]), NUMBERS_OF_RANDOMNESS[:4], followed=True)
    first, seeds[:] = seeds[-4:], []
    actions(play_with(SOURCES["random"]), NUMBERS_OF_RANDOMNESS[:4], followed=True)
    assert seeds[-4:] == first
    assert len(set(first)) == 4


@pytest.mark.parametrize(
    ("reads", "found"), [(lambda: 0.0, (GIVEN,)), (time.perf_counter, ("time.perf_counter", GIVEN))]
)
def test_a_collection_of_garbage_is_not_taken_for_the_run(reads, found):
    """Test tools time collections by a callback. Control: a run that reads the clock itself is told of."""

    def run(rng):
        reads()
        [[] for _ in range(5000)]
        return rng.random()

    def timed(*_):
        time.perf_counter()

    gc.callbacks.append(timed)
    thresholds = gc.get_threshold()
    gc.set_threshold(10)
    try:
        assert sources(run, np.random.PCG64(0)) == found
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(timed)
    assert gc.isenabled()


def test_a_state_is_noted_by_its_value():
    """Every part counts, and equal states of two objects are one."""
    for kind in (np.random.MT19937, np.random.Philox, np.random.PCG64, np.random.SFC64):
        one, other = kind(1), kind(1)
        assert foreign.noted(one.state) == foreign.noted(other.state)
        np.random.Generator(other).random()
        assert foreign.noted(one.state) != foreign.noted(other.state)
    two, three = ({"state": {"key": np.zeros(size)}} for size in (2, 3))
    assert foreign.noted(two) != foreign.noted(three)
    assert foreign.noted({"last": Fraction(1, 2)}) == foreign.noted({"last": Fraction(2, 4)})


def test_generators_that_are_spawned_later_are_others():
    rng = randomness.generator(np.array([1, 2], np.uint64), 0)
    assert len({one.random() for _ in range(3) for one in rng.spawn(2)}) == 6
