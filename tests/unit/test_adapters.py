"""Bandits written as classes, in the manner of several libraries, played and traced as they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from verifiable_dp._validate import InputError
from verifiable_dp.auditing.adapters import PROTOCOLS, BanditClass, makes_bandits, modules_of
from verifiable_dp.auditing.traced import trace
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence.tracing.audit import Subject, check, cost, examine
from verifiable_dp.neighbours import TablePair

HORIZON, ARMS, EPSILON = 40, 2, 1.0
REWARDS = np.random.default_rng(0).random((HORIZON, ARMS))


class Base:
    """Noisy sums of the first half, then the leader; the noise is divided by `factor`."""

    factor = 1.0

    def __init__(self, n_arms, horizon, rng):
        self.n_arms, self.half, self.rng, self.t = n_arms, horizon // 2, rng, 0
        self.sums, self.leader = np.zeros(n_arms), None

    def _choose(self):
        if self.t < self.half:
            return self.t % self.n_arms
        if self.leader is None:
            noise = self.rng.laplace(0, 1 / EPSILON, self.n_arms)
            self.leader = int(np.argmax(self.sums + noise / self.factor))
        return self.leader

    def _learn(self, arm, reward):
        if self.t < self.half:
            self.sums[arm] += reward
        self.t += 1


def kind(name, choose, learn, maker=None, chooser=None, learner=None, base=Base):
    """A class with this pair of methods around the same bandit."""
    body = {
        choose: chooser or (lambda self: self._choose()),
        learn: learner or (lambda self, arm, reward: self._learn(arm, reward)),
    }
    body[choose].__name__, body[learn].__name__ = choose, learn
    if maker:
        body["__init__"] = maker
    return type(name, (base,), body)


def with_seed(self, arms, seed=None):
    Base.__init__(self, len(arms), HORIZON, np.random.default_rng(seed))


def learns_lists(self, decisions, rewards):
    for arm, reward in zip(decisions, rewards, strict=True):
        self._learn(arm, reward)


def smpy(self, nbArms, lower=0.0, amplitude=1.0):
    Base.__init__(self, nbArms, HORIZON, np.random.default_rng(5))


LIBRARIES = {
    "plain": kind("Plain", "select", "update"),
    "select_arm": kind("Arm", "select_arm", "update", chooser=lambda self, t: self._choose()),
    "river": kind("River", "pull", "update", chooser=lambda self, arm_ids: arm_ids[self._choose()]),
    "smpybandits": kind("Policy", "choice", "getReward", maker=smpy),
    "actions": kind("Actions", "select_action", "update_params"),
}
MABWISER = kind("MAB", "predict", "partial_fit", maker=with_seed, learner=learns_lists)
MABWISER.fit = learns_lists


@pytest.mark.parametrize("maker", [*LIBRARIES.values(), MABWISER], ids=[*LIBRARIES, "mabwiser"])
def test_libraries_are_played_as_they_are(maker):
    assert makes_bandits(maker)
    arms = BanditClass(maker)(REWARDS, np.random.default_rng(1))
    assert arms.shape == (HORIZON,)
    assert arms[: HORIZON // 2].tolist() == [0, 1] * (HORIZON // 4)
    assert len(set(arms[HORIZON // 2 :].tolist())) == 1


def subject(maker):
    return Subject(BanditClass(maker), ARMS, HORIZON, (0.0, 1.0), frozenset([__file__]))


PAIR = TablePair(np.zeros((HORIZON, ARMS)), 0, 0, 1.0)


@pytest.mark.parametrize("maker", [*LIBRARIES.values(), MABWISER], ids=[*LIBRARIES, "mabwiser"])
def test_classes_are_traced(maker):
    right = subject(maker).trace(PAIR, 0)
    assert not right.here.failure
    assert cost(right) == pytest.approx(EPSILON)
    half = subject(type("Half", (maker,), {"factor": 2.0})).trace(PAIR, 0)
    assert cost(half) == pytest.approx(2 * EPSILON)


class Greedy:
    """No noise, and a decision in a method."""

    def __init__(self, n_arms):
        self.sums = [0.0] * n_arms
        self.t = 0

    def select(self):
        return self.t if self.t < len(self.sums) else self.sums.index(max(self.sums))

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.t += 1


def test_a_class_that_leaks_is_named_and_refuted():
    found = examine(subject(Greedy), EPSILON, [PAIR], seed=0, examples=5)
    line = Greedy.select.__code__.co_firstlineno + 1
    done = check(found, EPSILON)
    assert done.verdict == "refuted"
    assert line in [lead["line"] for lead in done.statistics["leads"]]


def test_a_function_that_makes_a_bandit():
    def make(n_arms, horizon, rng):
        return LIBRARIES["plain"](n_arms, horizon, rng)

    assert makes_bandits(make)
    assert cost(subject(make).trace(PAIR, 0)) == pytest.approx(EPSILON)
    assert not makes_bandits(lambda rewards, rng: rewards)
    assert not makes_bandits(dict)


def test_unusable_makers_say_what_is_missing():
    class Odd:
        def __init__(self, n_arms, temperature):
            pass

        def select(self):
            return 0

        def update(self, arm, reward):
            pass

    with pytest.raises(InputError, match=r"parameter temperature of .*Odd must have a default"):
        BanditClass(Odd)(REWARDS, np.random.default_rng(0))
    with pytest.raises(InputError, match=f"{PROTOCOLS[0][0]}/{PROTOCOLS[0][1]}"):
        BanditClass(lambda n_arms: object())(REWARDS, np.random.default_rng(0))


LIBRARY = '''
import numpy as np


def best(sums):
    return int(np.argmax(sums))


class Follower:
    def __init__(self, n_arms):
        self.sums, self.t = np.zeros(n_arms), 0

    def pull(self, arm_ids):
        return arm_ids[self.t] if self.t < len(arm_ids) else best(self.sums)

    def update(self, arm_id, reward):
        self.sums[arm_id] += reward
        self.t += 1


class Wrapped:
    """Another module's bandit as a part."""

    def __init__(self, inner):
        self.parts = {"inner": [inner]}

    def pull(self, arm_ids):
        return self.parts["inner"][0].pull(arm_ids)

    def update(self, arm_id, reward):
        self.parts["inner"][0].update(arm_id, reward)
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A library of bandits in site-packages."""
    folder = tmp_path / "site-packages"
    (folder / "lotteries").mkdir(parents=True)
    (folder / "lotteries" / "__init__.py").write_text("", "utf-8")
    head, tail = LIBRARY.split("class Wrapped")
    (folder / "lotteries" / "follower.py").write_text(head, "utf-8")
    (folder / "lotteries" / "wrapped.py").write_text("class Wrapped" + tail, "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    yield folder / "lotteries"
    for name in [name for name in sys.modules if name.split(".")[0] == "lotteries"]:
        del sys.modules[name]


def test_libraries_are_followed_and_their_lines_named(installed):
    def make(n_arms):
        from lotteries.follower import Follower
        from lotteries.wrapped import Wrapped

        return Wrapped(Follower(n_arms))

    names = [module.__name__ for module in BanditClass(make).modules]
    assert names == ["lotteries.follower", "lotteries.wrapped"]
    made, found = trace(
        BanditClass(make),
        "make",
        PrivacyClaim(EPSILON, 0.0),
        [PAIR],
        n_arms=ARMS,
        horizon=HORIZON,
        bounds=(0.0, 1.0),
        seed=0,
        examples=5,
    )
    assert made.verdict == "refuted"
    lead = next(lead for lead in made.statistics["leads"] if lead["what"] == "argmax")
    assert (lead["file"], lead["source"]) == ("lotteries/follower.py", "return int(np.argmax(sums))")
    assert found.examined


def test_what_cannot_be_made_has_no_modules():
    def broken(n_arms):
        raise RuntimeError("no")

    assert BanditClass(broken).modules == ()
    assert modules_of(np.random.default_rng(0)) == ()
