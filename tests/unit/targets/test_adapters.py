"""Bandits written as classes, in the manner of several libraries, played and traced as they are."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import refused
from verifiable_dp import api
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.auditing.traced import Effort, trace
from verifiable_dp.core import paths
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import InputError, one_line, printable
from verifiable_dp.evidence.blackbox.test import PROBE, SELECT, TEST
from verifiable_dp.evidence.tracing.examining import cost, examine
from verifiable_dp.evidence.tracing.replays import check
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.targets import guard, roles
from verifiable_dp.targets.adapters import PROTOCOLS, BanditClass, makes_bandits, modules_of, taken
from verifiable_dp.targets.far import Far, FarFunction
from verifiable_dp.targets.guard import guarded, watched
from verifiable_dp.targets.heard import UNLIKE, FirstData, FirstRun, Heard, Sample
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

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
    return TracedBandit(BanditClass(maker), ARMS, HORIZON, (0.0, 1.0), frozenset([__file__]))


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


def test_a_class_that_leaks_is_named():
    found = examine(subject(Greedy), EPSILON, [PAIR], seed=0, examples=5)
    line = Greedy.select.__code__.co_firstlineno + 1
    done = check(found, EPSILON)
    assert not done.result["holds"]
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


def class_with(chooses="", learns="arm, reward", choose="select", learn="update"):
    """A class with these parameters, that keeps what its methods were given."""
    values = {"__name__": "made"}
    keep = "self.given.append(dict(sorted((k, v) for k, v in locals().items() if k != 'self')))"
    exec(
        "class Made:\n"
        "    def __init__(self, n_arms):\n        self.given = []\n        KEPT.append(self.given)\n"
        f"    def {choose}(self, {chooses}):\n        {keep}\n        return 1\n"
        f"    def {learn}(self, {learns}):\n        {keep}\n",
        values | {"KEPT": KEPT},
        values,
    )
    return values["Made"]


KEPT: list = []


def given_to(*parameters):
    """What each method was given in the second round."""
    KEPT.clear()
    rng = np.random.default_rng(0)
    BanditClass(class_with(*parameters))(REWARDS, rng)
    chosen, learnt = KEPT[0][2:4]
    return chosen, learnt, rng


@pytest.mark.parametrize("name", ["t", "round", "step", "time", "trial", "iteration"])
def test_the_round_is_given_where_it_is_named(name):
    assert given_to(name)[0] == {name: 1}


@pytest.mark.parametrize(
    "parameters",
    [
        "arm, reward",
        "reward, arm",
        "reward, action",
        "*, reward, arm",
        "t, payoff, a",
        "arm, x=None, reward=0",
    ],
)
def test_update_is_filled_by_name(parameters):
    # By place, as it was, the second has the arm as its reward, and the fifth the round.
    given = given_to("", parameters)[1]
    arm = next(given[name] for name in ("arm", "action", "a") if name in given)
    paid = next(given[name] for name in ("reward", "payoff") if name in given)
    assert (arm, paid) == (1, REWARDS[1, 1])
    assert given.get("t", 1) == 1
    assert given.get("x") is None


def test_other_forms_of_parameters():
    assert given_to("", "arm_id, *args, **more")[1]["args"] == (REWARDS[1, 1],)
    assert given_to("", "reward")[1] == {"reward": REWARDS[1, 1]}
    assert given_to("context=None, step=5")[0] == {"context": None, "step": 5}
    chosen, learnt, rng = given_to("arms, t, rng=None", "reward, arm, rng=None")
    assert chosen == {"arms": [0, 1], "t": 1, "rng": rng}
    assert learnt["rng"] is rng


@pytest.mark.parametrize(("choose", "learn"), PROTOCOLS)
def test_a_context_is_refused(choose, learn):
    lists = "decisions, rewards" if learn == "partial_fit" else "arm, reward"
    odd = [("context", lists), ("t, context", lists), ("", f"{lists}, context"), ("*, context", lists)]
    for parameters in odd:
        maker = class_with(*parameters, choose=choose, learn=learn)
        with pytest.raises(
            InputError, match=r"Made\.\w+: we do not recognise parameter context; we recognise"
        ):
            BanditClass(maker)(REWARDS, np.random.default_rng(0))


CONTEXTUAL = """
import numpy as np

class Contextual:
    \"\"\"Noise for contexts below 20 only: with the round as its context it passed for noisy.\"\"\"

    def __init__(self, n_arms, rng):
        self.sums, self.rng = np.zeros(n_arms), rng

    def select(self, context):
        return int(np.argmax(self.sums + (self.rng.laplace(0, 1, len(self.sums)) if context < 20 else 0)))

    def update(self, arm, reward):
        self.sums[arm] += reward
"""


def test_the_command_says_what_is_recognised(tmp_path):
    (tmp_path / "contextual.py").write_text(CONTEXTUAL, "utf-8")
    asked = ("--epsilon", 40, "--arms", 2, "--horizon", 10, "--budget", 0.1)
    line = refused(tmp_path, "audit", "contextual.py:Contextual", *asked)
    assert (
        "Contextual.select: we do not recognise parameter context; we recognise the round (t, round" in line
    )


def test_the_documentation_lists_what_is_recognised():
    page = (Path(__file__).parents[3] / "docs/targets.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert roles.CHOOSES
    assert roles.LEARNS
    for given in (roles.CHOOSES, roles.LEARNS):
        for names in given.values():
            assert any(", ".join(f"`{name}`" for name in names) in row for row in rows), names


@pytest.mark.parametrize("parameters", ["arm", "arm, **more", "arm, loss", "arm, rewards"])
def test_the_reward_must_be_recognised(parameters):
    with pytest.raises(InputError, match=r"we recognise the arm \(arm, .*the reward \(reward, "):
        given_to("", parameters)


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
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(folder)})
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
    made, seen = trace(
        BanditClass(make),
        "make",
        EPSILON,
        Inputs(ARMS, HORIZON, pairs=[PAIR]),
        0,
        Effort(5),
    )
    assert not made.result["holds"]
    lead = next(lead for lead in made.statistics["leads"] if lead["what"] == "argmax")
    assert (lead["file"], lead["source"]) == ("lotteries/follower.py", "return int(np.argmax(sums))")
    assert seen.traces


def test_what_cannot_be_made_has_no_modules():
    def broken(n_arms):
        raise RuntimeError("no")

    assert BanditClass(broken).modules == ()
    assert modules_of(np.random.default_rng(0)) == ()


@dataclasses.dataclass
class Counting:
    """Explores for six rounds an arm, which it counts itself."""

    n_arms: int
    rng: np.random.Generator
    rounds: int = 0

    def select(self):
        return self.rounds % self.n_arms if self.rounds < 6 * self.n_arms else 0

    def update(self, arm, reward):
        self.rounds += 1


@dataclasses.dataclass
class Told(Counting):
    rounds: int = 100


def test_a_field_that_begins_at_zero_counts_rounds_and_is_no_horizon():
    rewards, rng = REWARDS, np.random.default_rng(1)
    explored = [0, 1] * 6
    assert list(taken(Counting, roles.GivenRole())[1](rewards, rng)) == [*explored, *[0] * 28]
    assert list(taken(Told, roles.GivenRole())[1](rewards, rng)) == [0] * 40  # it begins at its horizon


@dataclasses.dataclass
class Nested:
    """A parameter of a parameter."""

    inner: int = 0


class Named:
    """Has two parameters, and one more where it is run."""

    def __init__(self, n_arms, width):
        pass

    def run(self, horizon, depth):
        """Plays."""


def anything(n_arms, **options):
    return None


def of_nested(n_arms, options: Nested):
    return None


def of_nothing():
    return None


of_nested.__annotations__["options"] = Nested  # as it stands without postponed annotations


@pytest.mark.parametrize(
    ("maker", "settable"),
    [
        (Named, ["n_arms", "width", "horizon", "depth"]),
        (lambda n_arms, width: None, ["n_arms", "width"]),
        (of_nothing, []),
        (anything, None),
        (of_nested, None),
        (lambda config: None, None),
    ],
)
def test_which_parameters_can_be_given_by_name(maker, settable):
    """None: any, as of a configuration."""
    assert BanditClass(maker).settable == settable


# Runs that are kept of a target's process: they are asked for again, and split anew.


PAIR_OF_HEARD = DataPair(0.0, 1.0)
OWN = FarFunction(Far(None), 0, {})
DRAFT = {"checks": [], "claim": {"epsilon": 0.5, "delta": 0.0}}


def release(data, size, rng):
    return data + rng.laplace(0, 1, size)


def heard(leak=False, size=2000, parts=2, function=OWN, seed=0, stages=(SELECT, TEST), **more):
    """Runs of two stages; with a leak, in the second one an input is told by whole numbers."""
    rng, found = np.random.default_rng(7), Heard([0], "key")
    sampler = ReleaseSampler(function, seed, **more)
    for stage in stages:
        for world in (0, 1):
            for at in range(0, parts * size, size):
                rows = rng.laplace(0, 1, (size, 1))
                if leak and stage == TEST and world:
                    rows = np.round(rows)
                rows = np.column_stack((rows, np.zeros((size, 2))))  # no texts, all of one type and shape
                part = ("sample", (world, stage, 0, np.arange(at, at + size)))
                found(sampler, PAIR_OF_HEARD, (stage, 0), (parts * size, parts * size), part, rows)
    return found


@pytest.mark.parametrize("leak", [True, False])
def test_a_leak_of_some_questions_is_doubted(leak):
    """Half of the runs of one input are whole numbers, which none of the other are; control: no leak.

    Level: right code is doubted with probability 4e-7, here and in an audit.
    """
    assert heard(leak).doubts(DRAFT) == [UNLIKE] * leak
    refuted = {**DRAFT, "checks": [{"result": {"verdict": "refuted"}}]}
    assert heard(leak).doubts(refuted) == []  # what is refuted has no doubt to be told of


@pytest.mark.parametrize(
    "other",
    [{"size": 20, "parts": 1}, {"seed": 1}, {"factor": 0.5}, {"function": FarFunction(Far(None), 3, {})}],
)
def test_few_runs_and_those_of_others_are_not_split(other):
    """Such as those of variants with more loss, and of looks that only lead."""
    assert heard(True, **other).doubts(DRAFT) == []


def test_runs_of_one_stage_are_not_split():
    """They choose an event and count it; nothing tells them apart."""
    assert heard(True, stages=(TEST,)).doubts(DRAFT) == []


def test_some_parts_of_each_stage_are_asked_for_again():
    """By the key; a part that came late is as likely as one that came first."""
    found = heard(size=40, parts=50, stages=(PROBE, SELECT, TEST))
    kept = [(one.path[0], one.world, int(one.runs[0])) for one in found.samples()]
    assert sorted(stage for stage, *_ in kept) == [PROBE] * 2 + [SELECT] * 2 + [TEST] * 6
    again = heard(size=40, parts=50, stages=(PROBE, SELECT, TEST)).samples()
    assert kept == [(one.path[0], one.world, int(one.runs[0])) for one in again]
    assert any(first >= 1000 for _, _, first in kept)
    assert found.noted(found.samples()) == {"asked_again": 400, "key": "key"}


def test_of_runs_that_are_calls_of_their_own_a_few_are_asked_for():
    (one, *_) = heard(size=100, parts=1, stages=(TEST,), rows=1).samples()
    assert len(one.runs) == 16


def test_a_sample_comes_out_again_where_the_code_is():
    """Control: of another seed it does not."""
    here, found = ReleaseSampler(release, 0), Heard([0, 1], "key")
    for seed in (0, 1):
        sampler = ReleaseSampler(OWN, seed)
        rows = here.raw(PAIR_OF_HEARD, 1, TEST, 0, np.arange(30))
        found(sampler, PAIR_OF_HEARD, (TEST, 0), (30, 30), ("sample", (1, TEST, 0, np.arange(30))), rows)
    samples = found.samples()
    assert {one.sampler.seed for one in samples} == {0, 1}
    for one in samples:
        sampler = ReleaseSampler(release, one.sampler.seed)
        again = type(one)(sampler, one.pair, one.world, one.path, one.runs).again()
        assert (again == one.digest) == (one.sampler.seed == 0)


def test_a_process_begins_with_other_data(monkeypatch):
    """Between those of both neighbours; what is no number stays."""
    begun = []

    def release(data, size, rng):
        begun.append(np.array(data))
        return np.zeros(size)

    pair = DataPair(np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    sample = Sample(ReleaseSampler(release, 0), pair, 0, (TEST, 0), np.arange(5))
    assert [FirstRun(sample, first).again() for first in FirstData] == ["", "", ""]
    low, high, mixed = begun
    assert (low.tolist(), high.tolist()) == ([0.0] * 4, [1.0] * 4)
    assert len(np.unique(mixed)) == 4
    assert ((mixed > 0) & (mixed < 1)).all()
    assert [first.of({"a": 1}, {"a": 2}) for first in FirstData] == [{"a": 1}, {"a": 2}, {"a": 1}]


def test_a_process_begins_with_the_most_data():
    """Of one value alone, the least and the spread are what they are of any other."""
    pairs = DataPair(0.0, 1.0), DataPair(np.zeros(5), np.ones(5)), DataPair([[0], [1, 2]], [[0], [1, 3]])
    some = [Sample(OWN, pair, 0, (TEST, 0), np.arange(5)) for pair in pairs]
    assert [one.entries() for one in some] == [1, 5, 0]


def test_each_audit_has_a_key_of_its_own():
    assert Heard([0]).key != Heard([0]).key


# While a user's code runs: output, exits and changes of modules stay under control.


HOSTILE = """
import json
import os
import sys
import numpy as np

def right(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, 1, size)

def exits(data, size, rng):
    sys.exit(0)

def leaves(data, size, rng):
    os._exit(0)

def deep(data, size, rng):
    return deep(data, size, rng)

class Odd(BaseException):
    pass

def odd(data, size, rng):
    raise Odd("red \\x1b[31m")

class Mute(Exception):
    def __str__(self):
        raise ValueError

def mute(data, size, rng):
    raise Mute

def long(data, size, rng):
    raise ValueError("x" * 10**6)

def meddles(data, size, rng):
    json.dumps = lambda *given, **named: "{}"
    return right(data, size, rng)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hostile_targets.py"
    path.write_text(HOSTILE)
    yield path
    sys.modules.pop("hostile_targets", None)
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", "SystemExit: 0"),
        ("leaves", r"SystemExit: os._exit(0)"),
        ("deep", "RecursionError"),
        ("odd", r"Odd: red \x1b[31m"),
        ("mute", "its message cannot be read"),
        ("long", "…"),
        ("meddles", "its code replaced json.dumps"),
    ],
)
def test_hostile_code_ends_in_one_clear_line(name, said, file):
    before = json.dumps
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        api.audit(f"{file}:{name}", epsilon=1, budget="smoke", runs=400)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()
    assert json.dumps is before
    assert os._exit.__module__ == "posix"


def test_guards_of_threads_may_overlap():
    first, second = guarded(), guarded()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert os._exit.__module__ != "posix"  # else the next line ends pytest, with status 0
    with pytest.raises(SystemExit):
        os._exit(0)
    second.__exit__(None, None, None)
    assert os._exit.__module__ == "posix"


def test_right_code_in_the_same_file_is_audited(file):
    assert api.audit(f"{file}:right", epsilon=1, budget="smoke", runs=400).verdict != "refuted"


@pytest.mark.parametrize("line", ["json.loads = None", "json.JSONEncoder.encode = None", "del json.dump"])
def test_a_file_that_replaces_json_when_it_is_imported_is_refused(line, file):
    kept = (json.loads, json.JSONEncoder.encode, json.dump)
    file.write_text(f"{HOSTILE}\n{line}\n")
    with pytest.raises(InputError, match="on which the record depends"):
        api.audit(f"{file}:right", epsilon=1, budget="smoke", runs=400)
    assert (json.loads, json.JSONEncoder.encode, json.dump) == kept


def test_what_was_replaced_before_is_nobodys_fault(monkeypatch):
    monkeypatch.setattr(hashlib, "sha1", None)
    with watched():
        pass


def test_an_error_of_the_target_goes_before():
    before = json.dumps

    @watched()
    def fails():
        json.dumps = None
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert json.dumps is before


def test_output_goes_to_stderr_escaped(capsys):
    with guarded():
        print("a\x1b[2Jb\tc")
        sys.stdout.buffer.write(b"\xff\x07")
        sys.stderr.write("\u202ed\r\n")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "target | a\\x1b[2Jb\tc\ntarget | \\xff\\x07\\u202ed\\r\n"


def test_too_much_output_is_cut_once(capsys):
    with watched(), guarded():
        for _ in range(40):
            print("x" * 10_000)
    err = capsys.readouterr().err
    assert err.count("the rest is not shown") == 1
    assert len(err) < guard._MOST + 200
    with watched(), guarded():
        for _ in range(1000):
            print("sums", 5.0)
    assert capsys.readouterr().err.count("target | sums 5.0") < 80  # a screen or two
    with watched(), guarded():  # the next audit has its own allowance
        print("y")
    assert capsys.readouterr().err == "target | y\n"


def test_what_is_relayed_can_be_flushed_and_closed(capsys):
    """Python 3.13 says what goes wrong where a stream is closed because nobody holds it any more."""
    with guard.relayed() as shown:
        print("x", end="", file=shown, flush=True)
        shown.close()
    assert capsys.readouterr().err == "target | x\n"


def test_a_closed_stderr_stops_nothing(monkeypatch, tmp_path):
    with (tmp_path / "err").open("w") as closed:
        pass
    monkeypatch.setattr(sys, "stderr", closed)
    with guarded():
        print("x", flush=True)


def test_a_forked_child_may_leave():
    code = (
        "import os\nfrom verifiable_dp.targets.guard import guarded\n"
        "with guarded():\n    child = os.fork()\n    if child == 0:\n        os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"


def test_the_working_directory_is_put_back(tmp_path):
    here = Path.cwd()
    with guarded():
        os.chdir(tmp_path)
    assert Path.cwd() == here


def test_a_target_begins_where_it_was(tmp_path, monkeypatch):
    """In a child. Broken variants: each run begins in our folder; an inner block puts it back."""
    monkeypatch.setattr(guard.Child, "inside", True)
    monkeypatch.setattr(guard.Child, "folder", "")
    here = Path.cwd()
    with guarded(), guarded():
        os.chdir(tmp_path)
    for _ in range(2):
        assert Path.cwd() == here
        with guarded():
            assert Path.cwd() == tmp_path
    with guarded():
        os.chdir(here)
    with guarded():
        assert Path.cwd() == here


def test_plain_text_stays_as_it_is():
    text = "ε ≤ 1, “quoted”, tab\tand\nlines – ünï"
    assert printable(text) == text
    assert printable("\x9b1m\x7f\u2066") == "\\x9b1m\\x7f\\u2066"
    assert one_line(ValueError("two\nlines")) == "ValueError: two lines"
