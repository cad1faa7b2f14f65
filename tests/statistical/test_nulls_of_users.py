"""No right program of a user is ever accused, whatever its noise is made of.

The programs are those of `tests/user_code/nulls`, which were written without a look at the auditor;
`test_nulls_by_hand.py` checks that they are right. Each audit has a level of 1e-6. Negative controls: the
same audits refute twins of the same programs, with less noise or with one raw reward that decides.
"""

import functools
import inspect

import pytest

import verifiable_dp as vdp
from tests.null_programs import index
from verifiable_dp.core.validate import InputError

PROGRAMS = {program.name: program for program in index()}
BUDGET = "smoke"


def verdict(program, code=None, seed=0, workers=1):
    """Verdict on a program, or on `code` in its place; ``unusable`` if nothing that it did ever varied."""
    shape = {"n_arms": program.n_arms, "horizon": program.horizon} if program.horizon else {}
    options = {"epsilon": program.epsilon, "budget": BUDGET, "seed": seed, "workers": workers, **shape}
    options["own_neighbours"] = True
    try:
        report = vdp.audit(program.target if code is None else code, **options)
    except InputError as error:
        if "alike" not in str(error):
            raise
        return "unusable"
    return report.verdict


def reads_nothing(program):
    return inspect.getdoc(program.load()).startswith("Epsilon 0")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_programs_are_never_refuted(name, seed, workers):
    found = verdict(PROGRAMS[name], seed=seed, workers=workers)
    assert found in {"not_refuted", "inconclusive"} or (found == "unusable" and reads_nothing(PROGRAMS[name]))


# The system's noise and a release. Runs that share a call and states of a process are in test_accusations.py,
# whose tests notice what is wrong with either; coins, a class and others in test_styles.py.
CHEAP = ["dev_urandom", "geometric_count"]


@pytest.mark.parametrize("name", CHEAP)
def test_right_programs_of_two_kinds_are_not_refuted(name):
    assert verdict(PROGRAMS[name]) != "refuted"


def louder(program):
    """The program with its noise divided by three, at the claim of the whole."""
    return functools.partial(program.load(), epsilon=3 * program.epsilon)


def peeking(program):
    """The program whose last arm is what the first reward was, without noise."""
    code = program.load()

    @functools.wraps(code)
    def peeks(rewards, rng):
        actions = [int(arm) for arm in code(rewards, rng)]
        return [*actions[:-1], int(rewards[0, actions[0]] > 0.5)]

    return peeks


# At epsilon 5 even a bit without noise needs more runs than the smallest budget has: claims here are smaller.
LOUDER = [
    "laplace",
    "two_coins",
    "echo_many",
    "many_at_once",
    "responses",
    "duchi",
    "geometric_count",
    "hashed_release",
]
PEEKING = ["os_urandom", "hashed_counter", "permute_and_flip", "integers_only", "echo_with_flips_first"]
PEEKING += ["module_generator"]
BY_DAY = {"laplace", "responses", "geometric_count", "os_urandom", "module_generator"}
TWINS = [
    pytest.param(broken, name, marks=[] if name in BY_DAY else pytest.mark.slow)
    for broken, names in ((louder, LOUDER), (peeking, PEEKING))
    for name in names
]


@pytest.mark.parametrize(("broken", "name"), TWINS)
def test_broken_twins_are_refuted(broken, name):
    assert verdict(PROGRAMS[name], broken(PROGRAMS[name])) == "refuted"
