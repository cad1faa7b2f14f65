"""What inspect says of a target is found by its objects and by trying, not by its text alone."""

import inspect

import numpy as np
import pytest

from tests.user_code import first_told, modes, noise_imported
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.inspection import inspect_target
from verifiable_dp.targets.roles import GivenRole

ELSEWHERE = "a generator of its own (default_rng, with a seed from the system), noise_of_another.py:5"


def lines(target, **given):
    return list(inspect_target(target, GivenRole(1.0, **given), 2, 20).lines())


def said(found, word):
    return [line.partition(": ")[2] for line in found if line.startswith(f"{word}: ")]


# ---------------------------------------------------------------- randomness


@pytest.mark.parametrize("name", ["by_name", "by_module", "by_default", "Drawn"])
def test_noise_of_another_module_is_named(name):
    found = said(lines(getattr(noise_imported, name)), "randomness")
    assert ELSEWHERE in found
    assert not any("none but" in line for line in found)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("renamed", "the module random, noise_imported.py:"),
        ("of_the_system", "os.urandom, noise_imported.py:"),
        ("inside", "secrets, noise_imported.py:"),
        ("given", "only the generator that it is given"),
    ],
)
def test_sources_are_known_by_any_name_and_others_of_the_file_are_not_told_of(name, words):
    """Broken: reading the text of the target's file only, or all of it."""
    [found] = said(lines(getattr(noise_imported, name)), "randomness")
    assert found.startswith(words)


# ---------------------------------------------------------------- the first call


@pytest.mark.parametrize("kind", first_told.TOLD, ids=lambda kind: kind.__name__)
def test_whether_it_asks_for_a_first_reward_is_tried(kind):
    """Broken: reading the method's own text, which does not show what a method above it asks."""
    told = first_told.TOLD[kind]
    words = ", ".join(f"{name}={value!r}" for name, value in told.items())
    assert any(line.endswith(f"the first call of step gets {words}") for line in lines(kind))
    _, play = taken(kind, GivenRole(1.0))
    seen = []
    original = kind.step

    def step(self, *args, **named):
        seen.append(named)
        return original(self, *args, **named)

    step.__signature__ = inspect.signature(original)
    play(np.full((20, 2), 0.5), np.random.default_rng(0))
    kind.step = step
    try:
        arms = play(np.full((20, 2), 0.5), np.random.default_rng(0))
    finally:
        kind.step = original
    assert seen[0] == told
    assert len(seen) == len(arms) == 20


# ---------------------------------------------------------------- which arm is paid


def paying(name, **options):
    payer = f"{modes.__name__}:{options.pop('payer', 'sample_reward')}"
    return getattr(modes, name), GivenRole(1.0, reward=payer, **options)


@pytest.mark.parametrize("name", ["greedy", "listed"])
def test_an_arm_is_known_by_the_mean_that_was_handed_over(name):
    """Broken: the only whole number, which is a mode: arm 0 would be paid in every round."""
    target, given = paying(name)
    kind, play = taken(target, given)
    table = np.zeros((20, 2))
    table[:, 1] = 1.0
    assert kind == "play"
    assert play(table, np.random.default_rng(0)).tolist() == [0, 1, 0] + [1] * 17
    assert list(inspect_target(target, given, 2, 20).lines())[-1] == "it can be audited unchanged"


def runs_of(play):
    return [play(np.full((20, 2), 0.5), np.random.default_rng(run)).tolist() for run in range(64)]


def test_a_number_that_never_changes_is_not_taken_for_the_arm():
    """Control: one that does."""
    target, given = paying("own_means")
    found = list(inspect_target(target, given, 2, 20).lines())
    assert "sample_reward was given 0 as its only whole number each time" in found[-1]
    _, play = taken(target, given)
    with pytest.raises(InputError, match="only whole number each time"):
        runs_of(play)
    target, given = paying("right_number", payer="pay")
    assert list(inspect_target(target, given, 2, 20).lines())[-1] == "it can be audited unchanged"
    _, play = taken(target, given)
    assert runs_of(play) == [[0, 1] * 10] * 64
