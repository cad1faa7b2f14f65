"""What a public function cannot use is refused in one line, of whatever kind it is."""

import math

import pytest

import verifiable_dp as vdp
from verifiable_dp import api

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
