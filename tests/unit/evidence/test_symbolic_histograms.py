"""A value that is replaced leaves one place of a histogram and enters another: two counts pay, not all."""

import math

import numpy as np
import pytest

from tests.user_code import unary
from verifiable_dp.core.claims import gdp_epsilon
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

PLACES = 8
EDGES = np.linspace(0.0, 1.0, PLACES + 1)
DELTA = 1e-5


def counts(data):
    return np.bincount(np.minimum((data * PLACES).astype(int), PLACES - 1), minlength=PLACES)


def by_edges(data, rng):
    return np.histogram(np.clip(data, 0, 1), bins=EDGES)[0] + rng.laplace(0, 2, PLACES)


def by_number(data, rng):
    return counts(data) + rng.laplace(0, 2, PLACES)


def one_by_one(data, rng):
    return [count + rng.laplace(0, 2) for count in np.histogram(data, bins=PLACES, range=(0, 1))[0]]


def in_whole_numbers(data, rng):
    steps = rng.geometric(1 - math.exp(-0.5), (2, PLACES))
    return counts(data) + steps[0] - steps[1]


def of_two_places(data, rng):
    return np.histogram(data, bins=[0, 0.5, 1])[0] + rng.laplace(0, 2, 2)


def of_uneven_noise(data, rng):
    """The dearest two places pay 1 / 2 + 1 / 4."""
    return counts(data) + rng.laplace(0, 1, PLACES) * np.r_[2.0, 4.0, np.full(PLACES - 2, 8.0)]


def with_normal_noise(data, rng):
    return counts(data) + rng.normal(0, 8, PLACES)


def place(value):
    return min(int(value * PLACES), PLACES - 1)


def tallied(data, rng):
    found = np.zeros(PLACES)
    for value in data:
        found[place(value)] += 1
    return found + rng.laplace(0, 2, PLACES)


def tallied_in_a_list(data, rng):
    found = [0] * PLACES
    for value in data:
        at = place(value)
        found[at] += 1
    return [count + rng.laplace(0, 2) for count in found]


def tallied_in_two(data, rng):
    """Each value enters two histograms."""
    fine, coarse = np.zeros(PLACES), np.zeros(2)
    for value in data:
        fine[place(value)] += 1
        coarse[min(int(2 * value), 1)] += 1
    return np.append(fine, coarse) + rng.laplace(0, 2, PLACES + 2)


def tallied_by_value(data, rng):
    """What a place gets moves, too."""
    found = np.zeros(PLACES)
    for value in data:
        found[place(value)] += 2 + value
    return found + rng.laplace(0, 2, PLACES)


def tallied_after_the_end(data, rng):
    """A value of 1 raises an exception."""
    found = np.zeros(PLACES)
    for value in data:
        found[int(value * PLACES)] += 1
    return found + rng.laplace(0, 2, PLACES)


def twice(data, rng):
    return np.concatenate([counts(data), counts(data)]) + rng.laplace(0, 2, 2 * PLACES)


def weighed(data, rng):
    """The last two places weigh 7 and 8."""
    return counts(data) * np.arange(1, PLACES + 1) + rng.laplace(0, 2, PLACES)


def summed_up(data, rng):
    """From the first place to the last one all sums but the last change."""
    return np.cumsum(counts(data)) + rng.laplace(0, 2, PLACES)


def beside_its_total(data, rng):
    """Places that overlap: three counts change."""
    found = np.histogram(data, bins=EDGES)[0]
    return np.append(found, (data > 0.5).sum()) + rng.laplace(0, 2, PLACES + 1)


def bounded(release):
    return explore(Program(release, (5,), (0.0, 1.0)), 1, most=12)


@pytest.mark.parametrize(
    "release",
    [by_edges, by_number, one_by_one, in_whole_numbers, of_two_places, tallied, tallied_in_a_list],
    ids=lambda f: f.__name__,
)
def test_two_counts_pay(release):
    assert bounded(release).epsilon() == pytest.approx(1.0, abs=1e-9)


def test_the_two_that_pay_most_count():
    assert bounded(of_uneven_noise).epsilon() == pytest.approx(0.75)


def test_normal_noise_hides_a_move_of_the_root_of_two():
    assert bounded(with_normal_noise).epsilon(DELTA) == pytest.approx(gdp_epsilon(math.sqrt(2) / 8, DELTA))


@pytest.mark.parametrize(
    ("release", "truth"),
    [
        *((twice, 2.0), (weighed, 7.5), (summed_up, 3.5), (beside_its_total, 1.5)),
        *((tallied_in_two, 2.0), (tallied_by_value, 2.5), (tallied_after_the_end, math.inf)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_no_leak_is_bounded_below_its_truth(release, truth):
    assert bounded(release).epsilon() >= truth - 1e-9


def test_a_place_that_only_data_reaches_has_no_bound():
    """How long the answer is tells whether a value is 1."""
    found = bounded(lambda data, rng: np.bincount((8 * data).astype(int), minlength=8) + rng.laplace(size=8))
    assert "limits of a histogram" in found.failure


RIGHT = {name: play for name, play in unary.RIGHT.items() if name != "optimised"}


def test_chances_that_follow_from_a_whole_part_of_data_have_no_bound():
    """Outside of the language: what is done with a whole part of data is not followed."""
    found = explore(Program(unary.RIGHT["optimised"], (20, 2), (0.0, 1.0)), 2, most=10)
    assert "how much noise there is" in found.failure


@pytest.mark.parametrize("play", RIGHT.values(), ids=RIGHT)
def test_two_hot_bits_pay(play):
    found = explore(Program(play, (20, 2), (0.0, 1.0)), 2, most=10)
    assert (found.words(), found.epsilon()) == ("", pytest.approx(unary.EPSILON))


@pytest.mark.parametrize("play", unary.WRONG.values(), ids=unary.WRONG)
def test_bits_that_are_not_exclusive_all_pay(play):
    assert explore(Program(play, (20, 2), (0.0, 1.0)), 2, most=10).epsilon() > 1.4 * unary.EPSILON
