"""What a public function cannot use is refused in one line, of whatever kind it is."""

import math

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing import rates
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.environments import Discrete
from verifiable_dp.core.mechanisms.tree import SLOT_BITS, Tree
from verifiable_dp.core.neighbours import GroupPair, UserPair
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.core.statefile import pack, unpack
from verifiable_dp.evidence.regret import comparison, linear_in_log
from verifiable_dp.registry.study import Line

WRONG = (
    *(None, True, -1, 0, 1.5, math.nan, math.inf, 10**400, 1j),
    *("", "x", "x:y", "a.py:b", "no-such", b"x"),
    *([], [1], [[]], {}, {"a": 1}, {1: 2}, (1, 2), {"x"}, object(), int),
)


def release(data, size, rng):
    """What gets through ends at the first run, with the same error: nothing is audited here."""
    raise vdp.InputError("reached")


def play(rewards, rng):
    raise vdp.InputError("reached")


def values():
    """Things of our own that belong elsewhere, too."""
    return *WRONG, vdp.environments.bernoulli([0.5, 0.1]), vdp.make("ucb1", n_arms=2, horizon=9), release


RIGHT = {
    "audit": {"target": release, "epsilon": 1.0, "runs": 400, "in_process": True},
    "check_regret": {"target": play, "bound": 5, "n_arms": 2, "horizon": 30, "runs": 2, "in_process": True},
    "simulate": {
        "algorithm": play,
        "environment": lambda: vdp.environments.bernoulli([0.5, 0.1]),
        "horizon": 9,
        "runs": 2,
    },
    "make": {"name": "ucb1", "n_arms": 2, "horizon": 9},
    "restore": {"path": "none", "epsilon": 1.0},
    "verify": {"given": "none"},
}
BY_PLACE = {"simulate": ("algorithm", "environment")}
ARGUMENTS = [
    (name, argument)
    for name, given in RIGHT.items()
    for argument in dict.fromkeys([*given, *api.arguments(getattr(vdp, name))])
    # Names of parameters are not arguments, and how code runs is no question of its kind.
    if argument not in ("parameters", "in_process", "rerun") or name not in ("make", "audit", "verify")
    if not (name == "check_regret" and argument == "in_process")
]


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_it_is_refused_in_one_line(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = list(values())
    assert len(tried) == 28
    for wrong in tried:
        given = {**RIGHT[name], argument: wrong}
        if callable(given.get("environment")) and argument != "environment":
            given["environment"] = given["environment"]()
        first = [given.pop(one) for one in BY_PLACE.get(name, tuple(RIGHT[name])[:1])]
        said, refused = "", True
        try:
            getattr(vdp, name)(*first, **given)
        except Exception as error:
            said, refused = f"{type(error).__name__}: {error}", isinstance(error, vdp.InputError)
        assert refused, (wrong, said)
        assert "\n" not in said, (wrong, said)


def test_a_catalogue_name_stands_for_an_algorithm_wherever_one_is_played():
    environment = vdp.environments.bernoulli([0.5, 0.1])
    named = vdp.simulate("dp-se", environment, runs=2, horizon=64, parameters={"epsilon": 2.0})
    made = vdp.simulate(api.instance("dp-se", n_arms=2, horizon=64, epsilon=2.0), environment, runs=2)
    assert (named.regret == made.regret).all()
    assert vdp.simulate("dp-se", environment, runs=2, points=3).pulls.shape == (2, 2)
    with pytest.raises(vdp.InputError, match="takes no sigma"):
        vdp.simulate("dp-se", environment, parameters={"sigma": 1})


def test_so_does_a_file_that_holds_one(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(
        "import verifiable_dp as vdp\n"
        "def make(n_arms, horizon):\n    return vdp.make('ucb1', n_arms=n_arms, horizon=horizon)\n"
    )
    monkeypatch.chdir(tmp_path)
    environment = vdp.environments.bernoulli([0.5, 0.1])
    found = vdp.simulate("own.py:make", environment, horizon=30, runs=2)
    made = vdp.simulate(vdp.make("ucb1", n_arms=2, horizon=30), environment, runs=2)
    assert (found.regret == made.regret).all()


# The smallest input that is refused, the nearest one that is not, and words of the refusal.
ZEROS = np.zeros((3, 2))
SMALLEST = [
    (lambda x: Discrete(((0.0, 1.0),) * 2, ((0.5, 0.5), (0.5, x))), 0.6, 0.5, "chances must sum to 1"),
    (
        lambda x: Contexts(2, (3,)).table(np.zeros((4, 3)), np.zeros((4, x))),
        3,
        2,
        "rewards must have 2 columns",
    ),
    (lambda x: GroupPair(ZEROS, ((0, 0, 1.0), (0, x, 1.0))), 0, 1, "may be changed once only"),
    (lambda x: UserPair(ZEROS, np.array([0, 1, 0]), 0, np.ones((x, 2))), 3, 2, "values must have shape"),
    (lambda x: Reaction("aim", x), 1, True, "spiteful must be True or False"),
    (lambda x: Tree(x, 1.0), 1 << SLOT_BITS, (1 << SLOT_BITS) - 1, "leaves must be below 2"),
    (lambda x: RecordOrigin(commit=x), "abc123g", "abc1234", "hexadecimal digits or more"),
    (lambda x: RecordOrigin(commit=x), "abc123", "abc1234", "hexadecimal digits or more"),
    (lambda x: RecordOrigin(max_age=x), "30", "30d", "max_age must be such as"),
    (lambda x: Line("a", ("b", "c"), x), (1.0,), (1.0, 2.0), "as many xs as cells"),
    (lambda x: Line("a", x), (), ("b",), "there must be cells"),
    (lambda x: rates.claim_of("T", x), (0.5, 0.1, 0.1), (0.5, 0.1), "scaling: T must be"),
    (lambda x: rates.claim_of("T", x), True, 1, "scaling: T must be"),
    (lambda x: rates.claim_of("T", x), 10.5, 10.0, "an exponent in "),
    (lambda x: rates.claim_of(x, "log"), "epsilon", "K", "works only with T and K"),
    (
        lambda x: unpack("a", x, ZEROS[0]),
        3,
        pack("a", ZEROS[0], ZEROS[0]),
        "must be like that of a fresh session",
    ),
    (lambda x: comparison.comparison("a", [1.0, 2.0], [x, 2.0], factor=1.0), -2.0, -1.9, "means above 0"),
    (lambda x: comparison.comparison("a", [x, 2.0], [1.0, 2.0], factor=1.0), -2.0, -1.9, "means above 0"),
    (
        lambda x: linear_in_log.linear_in_log("a", [(n, [1.0, 2.0]) for n in range(1, x)], slope=1.0),
        5,
        6,
        "at least 5 different x",
    ),
]


@pytest.mark.parametrize(("make", "wrong", "right", "words"), SMALLEST)
def test_the_smallest_wrong_value_is_refused_and_the_nearest_right_one_is_not(make, wrong, right, words):
    with pytest.raises(vdp.InputError, match=words) as error:
        make(wrong)
    assert "\n" not in str(error.value)
    make(right)
