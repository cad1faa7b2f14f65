"""Edges of the checks of arguments: what is just inside is taken as it is, what is just outside refused."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.core import validate
from verifiable_dp.core.validate import InputError

NO_NUMBERS = [True, "1", None, [1], 10**400, "nan"]
LEAST = 5e-324
ABOVE_1, BELOW_1 = math.nextafter(1, 2), math.nextafter(1, 0)

TAKEN = [
    *((validate.positive, value) for value in (LEAST, 1, 1e308, np.float32(2))),
    *((validate.factor, value) for value in (ABOVE_1, 2, 1e308)),
    *((validate.probability, value) for value in (LEAST, 0.5, BELOW_1)),
]


@pytest.mark.parametrize(("check", "value"), TAKEN)
def test_numbers_that_are_taken(check, value):
    found = check("x", value)
    assert (type(found), found) == (float, float(value))


@pytest.mark.parametrize(
    ("check", "value", "range_"),
    [
        *((validate.positive, v, "finite and greater than 0") for v in (0.0, -1.0, math.inf, math.nan)),
        *((validate.factor, v, "finite and greater than 1") for v in (1, BELOW_1, -2.0, math.inf, math.nan)),
        *((validate.probability, v, "in the open interval (0, 1)") for v in (0, 1, -0.1, 1.1, math.nan)),
    ],
)
def test_numbers_that_are_refused(check, value, range_):
    with pytest.raises(InputError) as error:
        check("x", value)
    assert str(error.value) in (f"x must be {range_}, got {value!r}", f"x must lie {range_}, got {value!r}")


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    ("check", "accepted"),
    [
        (lambda value: validate.positive("x", value), "x must be a number in (0, inf)"),
        (lambda value: validate.factor("x", value), "x must be a number in (1, inf)"),
        (lambda value: validate.probability("x", value), "x must be a number in (0, 1)"),
        (validate.delta, "delta must be a number in [0, 1)"),
    ],
)
def test_what_is_no_number_is_refused(check, accepted, value):
    said = "one too large for a float" if value == 10**400 else repr(value)
    with pytest.raises(InputError) as error:
        check(value)
    assert str(error.value) == f"{accepted}, got {said}"


def test_delta_may_be_zero_and_is_below_one():
    assert [validate.delta(value) for value in (0, LEAST, BELOW_1)] == [0.0, LEAST, BELOW_1]
    for value in (-LEAST, 1, 1.5, math.nan):
        with pytest.raises(InputError, match=r"^delta must lie in \[0, 1\), got "):
            validate.delta(value)


def test_the_largest_exponent():
    assert validate.exponent(150.0) == 150.0
    with pytest.raises(InputError, match=r"^epsilon must be at most 150 with .*, got 150\.5$"):
        validate.exponent(150.5)


@pytest.mark.parametrize(
    ("name", "value", "limits", "found"),
    [
        ("x", 2, {"least": 2}, 2),
        ("x", 5, {"least": 2, "most": 5}, 5),
        ("x", 1e6, {"least": 2}, 1_000_000),
        ("x", np.int32(7), {"least": 2}, 7),
        ("x", 2**63 - 1, {"least": 2}, 2**63 - 1),
        ("seed", 2**63, {"least": 0}, 2**63),  # a seed may have more bits than a size
        ("x", 2**63, {"least": 0, "most": 2**64}, 2**63),
        ("x", 1, {"least": 2}, "an integer of at least 2"),
        ("x", 6, {"least": 2, "most": 5}, "an integer in [2, 5]"),
        ("x", 2**63, {"least": 0}, f"an integer in [0, {2**63 - 1}]"),
        ("x", 2.0**63, {"least": 0}, f"an integer in [0, {2**63 - 1}]"),
        ("x", 2.5, {"least": 2}, "an integer of at least 2"),
        ("n_arms", 2.0, {"least": 2}, "an integer of at least 2"),  # the length of an array
        ("x", True, {"least": 0}, "an integer of at least 0"),
        ("x", "3", {"least": 0}, "an integer of at least 0"),
        ("x", math.nan, {"least": 0}, "an integer of at least 0"),
    ],
)
def test_integers(name, value, limits, found):
    if isinstance(found, int):
        taken = validate.integer(name, value, **limits)
        assert (type(taken), taken) == (int, found)
        return
    with pytest.raises(InputError) as error:
        validate.integer(name, value, **limits)
    assert str(error.value) == f"{name} must be {found}, got {value!r}"


def test_workers_of_one_machine():
    assert [validate.workers(value) for value in (1, 1024)] == [1, 1024]
    for value in (0, 1025):
        with pytest.raises(InputError, match=rf"^workers must be an integer in \[1, 1024\], got {value}$"):
            validate.workers(value)


def test_every_arm_has_a_round():
    assert validate.arms_and_horizon(2, 2) == (2, 2)
    assert validate.arms_and_horizon(2, 3) == (2, 3)
    for arms, rounds, said in (
        (3, 2, "horizon must be at least n_arms = 3, got 2"),
        (1, 5, "n_arms must be an integer of at least 2, got 1"),
        (2, 0, "horizon must be an integer of at least 1, got 0"),
        (2, 1, "horizon must be at least n_arms = 2, got 1"),
    ):
        with pytest.raises(InputError) as error:
            validate.arms_and_horizon(arms, rounds)
        assert str(error.value) == said


def test_the_failure_probability_is_one_in_all_rounds_unless_it_is_given():
    for given, found in ((None, 1 / 8), (0.25, 0.25)):
        algorithm = SimpleNamespace(beta=given, horizon=8)
        validate.beta(algorithm)
        assert algorithm.beta == found
    with pytest.raises(InputError, match=r"beta must lie in the open interval \(0, 1\), got 1"):
        validate.beta(SimpleNamespace(beta=1, horizon=8))


def test_bounds_and_choices():
    assert validate.bounds("x", (0, 1)) == validate.bounds("x", "01") == (0.0, 1.0)
    for value in ((1, 1), (1, 0), (0, math.inf), (-math.inf, 0), (math.nan, 1)):
        with pytest.raises(InputError, match=r"^x must be finite with LOW < HIGH, got "):
            validate.bounds("x", value)
    for value in (1, (1,), (1, 2, 3), ("a", 1), None, (0, 10**400)):
        with pytest.raises(InputError, match=r"^x must be two numbers LOW HIGH, got "):
            validate.bounds("x", value)
    assert validate.choice("x", "b", ("a", "b")) == "b"
    with pytest.raises(InputError, match=r"^x must be one of a, b, got 'c'$"):
        validate.choice("x", "c", ("a", "b"))


def test_rewards_within_their_bounds():
    given = [[0, 0.5], [1, 1]]
    for ndim in (None, 2):
        found = validate.rewards("x", given, (0, 1), ndim)
        assert (found.dtype, found.tolist()) == (np.float64, given)
    assert validate.rewards("x", [], (0, 1)).size == 0
    for value, ndim, said in (
        ([0.0, 1.25], None, "x must lie within the declared bounds [0, 1], got values in [0, 1.25]"),
        ([-0.25, 1.0], None, "x must lie within the declared bounds [0, 1], got values in [-0.25, 1]"),
        ([-0.25, -0.5], 1, "x must lie within the declared bounds [0, 1], got values in [-0.5, -0.25]"),
        ([0.5], 2, "x must have 2 dimensions, got shape (1,)"),
        ([0.5, math.nan], None, "x must not contain NaN or infinite values"),
        ([-math.inf], None, "x must not contain NaN or infinite values"),
        (["a"], None, "x must be an array of numbers, got list"),
        ({}, None, "x must be an array of numbers, got dict"),
    ):
        with pytest.raises(InputError) as error:
            validate.rewards("x", value, (0, 1), ndim)
        assert str(error.value) == said


class Unreadable(Exception):
    """Its message cannot be made."""

    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("a\n  b\tc"), "ValueError: a b c"),
        (ValueError("x" * 500), f"ValueError: {'x' * 500}"),
        (ValueError("x" * 501), f"ValueError: {'x' * 500}…"),
        (ValueError("a\x1b[1m"), "ValueError: a\\x1b[1m"),
        (Unreadable(), "Unreadable: (its message cannot be read)"),
    ],
)
def test_an_error_in_one_line(error, said):
    assert validate.one_line(error) == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "'a b'"),
        ("plain", "plain"),
        ("a\nb\tc", "'a\\nb\\tc'"),
        ("##[error]x", "'##\\x5berror]x'"),
        ("##vso[x]", "'##vso\\x5bx]'"),
        ("#[x]", "'#[x]'"),
        ("\u202eabc", "'\\u202eabc'"),
        (7, "7"),
    ],
)
def test_a_name_within_a_line(text, shown):
    assert validate.named(text) == shown
