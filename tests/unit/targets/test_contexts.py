"""Code that is told contexts, as users and libraries write it: what each call is handed."""

import numpy as np
import pytest

from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair, TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.roles import GivenRole

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
    with pytest.raises(InputError, match="takes one context as a dictionary: give --contexts D"):
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

    assert played(made).tolist() == [0, 1, 1, 1, 1]
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
        ({"model": "joint"}, {}, "model joint and protects need contexts"),
        ({"protects": "reward"}, {}, "model joint and protects need contexts"),
        ({"group": 2}, {"contexts": 3}, "group works only without contexts"),
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
