"""What a draw decides without a branch: leaks of one run in hundreds, and right twins of the same forms.

EPSILON = 1 is claimed of each. A leak does for one outcome of a public draw what it does for no other:
it calls another function, turns a loop more often, or takes another number from a table. Right twins do the
same where what is called, how often and which entry is known, or where what a draw chooses is alike.
"""

# ruff: noqa: C406 - as users write it

from __future__ import annotations

import dataclasses
import math
import operator
from functools import partial

import numpy as np

EPSILON = 1.0


def _sums(rewards):
    horizon, k = rewards.shape
    half = horizon // 2
    return np.array([rewards[a:half:k, a].sum() for a in range(k)])


def _played(rewards, arm):
    horizon, k = rewards.shape
    half = horizon // 2
    return np.r_[np.arange(half) % k, np.full(horizon - half, arm)]


def _usual(sums, rng):
    return int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, 2)))


def _exact(sums, rng):
    return int(np.argmax(1000 * sums + rng.laplace(0, 1 / EPSILON, 2)))


class Usual:
    weight = 1.0

    def choose(self, sums, rng):
        return _usual(sums, rng)


class Exact:
    weight = 1000.0

    def choose(self, sums, rng):
        return _exact(sums, rng)


class Policy:
    """Keeps the rule that it goes by."""

    def __init__(self, rule):
        self.rule = rule

    def __call__(self, sums, rng):
        return self.rule(sums, rng)


# ---------------------------------------------------------------- what is called


def list_entry(rewards, rng):
    rules = [_usual] * 999 + [_exact]
    return _played(rewards, rules[int(rng.integers(1000))](_sums(rewards), rng))


def get_with_default(rewards, rng):
    return _played(rewards, {5: _exact}.get(int(rng.integers(1000)), _usual)(_sums(rewards), rng))


def chosen_function(rewards, rng):
    rule = rng.choice([_usual] * 999 + [_exact])
    return _played(rewards, rule(_sums(rewards), rng))


def kept_in_attribute(rewards, rng):
    policy = Policy([_usual, _exact][int(rng.integers(1000) == 7)])
    return _played(rewards, policy(_sums(rewards), rng))


def handed_on(rewards, rng):
    def apply(rule):
        return rule(_sums(rewards), rng)

    return _played(rewards, apply(dict([(3, _exact)]).get(int(rng.integers(1000)), _usual)))


def objects_of_two_kinds(rewards, rng):
    policies = [Usual()] * 999 + [Exact()]
    return _played(rewards, policies[int(rng.integers(1000))].choose(_sums(rewards), rng))


def classes_of_two_kinds(rewards, rng):
    made = (Usual, Exact)[rng.integers(1000) == 4]()
    return _played(rewards, made.choose(_sums(rewards), rng))


def method_by_name(rewards, rng):
    names = ["choose"] * 2
    call = operator.methodcaller(names[int(rng.integers(2))], _sums(rewards), rng)
    return _played(rewards, call(Exact() if rewards.shape[0] > 99 else Usual()))


def getattr_by_name(rewards, rng):
    return _played(rewards, getattr(Usual(), "cho" + "ose")(_sums(rewards), rng))


def applied_in_part(rewards, rng):
    steps = {9: partial(_exact, rng=rng)}
    return _played(rewards, steps.get(int(rng.integers(1000)), partial(_usual, rng=rng))(_sums(rewards)))


def attribute_of_hook(rewards, rng):
    class Hooked:
        def __getattr__(self, name):
            return _usual

    return _played(rewards, Hooked().rule(_sums(rewards), rng))


# ---------------------------------------------------------------- how often


def repeats_from_table(rewards, rng):
    often = [1] * 1000
    often[12] = 500
    total = np.zeros(2)
    for _ in range(often[int(rng.integers(1000))]):
        total = total + _sums(rewards)
    return _played(rewards, _usual(total, rng))


def repeated_list(rewards, rng):
    often = 1 + 499 * (int(rng.integers(1000)) == 12)
    s = _sums(rewards)
    totals = np.array([sum([s[a]] * often) for a in range(2)])
    return _played(rewards, _usual(totals, rng))


def remainder_of_draw(rewards, rng):
    total = np.zeros(2)
    for _ in range(1 + int(rng.integers(1000)) * 7 % 1000 // 999 * 499):
        total = total + _sums(rewards)
    return _played(rewards, _usual(total, rng))


def counted_down(rewards, rng):
    left = {12: 500}.get(int(rng.integers(1000)), 1)
    total = np.zeros(2)
    while left > 0:
        total = total + _sums(rewards)
        left -= 1
    return _played(rewards, _usual(total, rng))


def called_again(rewards, rng):
    def added(n):
        if n == 0:
            return np.zeros(2)
        return _sums(rewards) + added(n - 1)

    return _played(rewards, _usual(added([1, 90][int(rng.integers(1000)) == 3]), rng))


def slice_of_draw(rewards, rng):
    copies = [_sums(rewards) for _ in range(100)]
    often = {12: 100}.get(int(rng.integers(1000)), 1)
    return _played(rewards, _usual(sum(copies[:often]), rng))


# ---------------------------------------------------------------- which number


def weight_from_table(rewards, rng):
    weights = [1.0] * 1000
    weights[77] = 1000.0
    return _played(rewards, _usual(weights[int(rng.integers(1000))] * _sums(rewards), rng))


def weight_by_flag(rewards, rng):
    weight = (1.0, 1000.0)[int(rng.integers(1000)) == 77]
    return _played(rewards, _usual(weight * _sums(rewards), rng))


def comparison_as_number(rewards, rng):
    i = int(rng.integers(1000))
    return _played(rewards, _usual(_sums(rewards) + 999 * _sums(rewards) * (i == 400), rng))


def square_of_distance(rewards, rng):
    i = int(rng.integers(1000))
    far = min(1, (i - 400) ** 2)
    return _played(rewards, _usual(_sums(rewards) * (1000 - 999 * far), rng))


def power_of_distance(rewards, rng):
    """What is raised changes its sign at one number, as no power of a positive number does."""
    far = (int(rng.geometric(0.5)) - 12) ** 2
    arm = 0
    for _ in range(1 + 1000 // (1 + 999 * far)):
        arm = _usual(_sums(rewards), rng)
    return _played(rewards, arm)


def one_of_many_marked(rewards, rng):
    marks = np.zeros(1000)
    marks[int(rng.integers(1000))] = 999.0
    return _played(rewards, _usual((1 + marks[400]) * _sums(rewards), rng))


def noise_by_entry(rewards, rng):
    z = rng.laplace(0, 1, 2)
    noise = [z] * 500 + [0.001 * z] + [z] * 499
    return _played(rewards, int(np.argmax(_sums(rewards) + noise[int(rng.integers(1000))])))


def noise_appended(rewards, rng):
    z = rng.laplace(0, 1, 2)
    noise = [z] * 500
    noise.append(0.001 * z)
    noise.extend([z] * 499)
    return _played(rewards, int(np.argmax(_sums(rewards) + noise[int(rng.integers(1000))])))


def counted_twice(rewards, rng):
    """Two rare events, and no other number of them."""
    n = 0
    for _ in range(10):
        if rng.integers(1000) == 7:
            n += 1
    return _played(rewards, _usual((1 + 999 * [n].count(2)) * _sums(rewards), rng))


def turns_that_peak(rewards, rng):
    """A product of a rising and a falling number is largest at 12, which comes once in thousands of runs."""
    drawn = int(rng.geometric(0.5))
    near = 48 * drawn / (12 + drawn) ** 2
    arm = 0
    for _ in range(1 + int(1000 * near**2000)):
        arm = _usual(_sums(rewards), rng)
    return _played(rewards, arm)


def turns_by_a_ratio(rewards, rng):
    """The same, by functions of NumPy's."""
    drawn = int(rng.geometric(0.5))
    near = np.divide(48 * drawn, np.power(12 + drawn, 2))
    arm = 0
    for _ in range(1 + int(1000 * near**2000)):
        arm = _usual(_sums(rewards), rng)
    return _played(rewards, arm)


def turns_by_a_product(rewards, rng):
    """A number times a power of a number below 1 is largest in between."""
    drawn = int(rng.geometric(0.5))
    near = math.prod([drawn / 12, math.e, 0.9200444**drawn])
    arm = 0
    for _ in range(1 + int(1000 * near**2000)):
        arm = _usual(_sums(rewards), rng)
    return _played(rewards, arm)


def turns_by_a_decay(rewards, rng):
    drawn = int(rng.geometric(0.5))
    near = drawn / 12 * math.e * 0.9200444**drawn
    arm = 0
    for _ in range(1 + int(1000 * near**2000)):
        arm = _usual(_sums(rewards), rng)
    return _played(rewards, arm)


def turned_for_some_draws(rewards, rng):
    number, weight = int(rng.integers(500)), 1.0
    while number % 499 == 0:
        number, weight = number + 1, 1000.0
    return _played(rewards, _usual(weight * _sums(rewards), rng))


def _few(rng):
    """Four, but for one draw in a thousand."""
    return 4 - 3 * int(rng.integers(1000) % 997 == 5)


def _by_mean(rewards, rng, taken):
    """A mean of four has this noise; of one it moves four times as far."""
    return _played(rewards, int(np.mean(taken) + rng.laplace(0, 0.25 / EPSILON) > 0.5))


def rows_and_a_column(rewards, rng):
    return _by_mean(rewards, rng, rewards[: _few(rng), 0])


def slice_that_is_made(rewards, rng):
    return _by_mean(rewards, rng, rewards[slice(0, _few(rng)), 0])


def drawn_mask(rewards, rng):
    return _by_mean(rewards, rng, rewards[np.arange(len(rewards)) < _few(rng), 0])


def drawn_places(rewards, rng):
    return _by_mean(rewards, rng, rewards[np.flatnonzero(np.arange(len(rewards)) < _few(rng)), 0])


def list_of_places(rewards, rng):
    return _by_mean(rewards, rng, rewards[[0, 1, 2, 3][: _few(rng)], 0])


WEIGHTS = [1.0] * 437 + [1000.0] + [1.0] * 562
PLACES = [4] * 437 + [3] + [4] * 562


def one_name_inside_and_around(rewards, rng):
    """What a comprehension goes through is looked for around it, where its own name is another one."""
    weight = [WEIGHTS[rng.integers(1000)]]
    weights = [float(weight) for weight in weight]
    return _played(rewards, int(rewards[0, 0] * weights[0] + rng.laplace(0, 1 / EPSILON) > 0.5))


def reward_at_two_places(rewards, rng):
    """Places that meet in one run of 7,000: then one reward counts twice."""
    one, other = rng.integers(1000) % 7, 6 + min(rng.integers(100_000) % 1000, 5)
    return _played(rewards, int(rewards[one, 0] + rewards[other, 0] + rng.laplace(0, 1 / EPSILON) > 0.5))


def reward_at_a_rare_place(rewards, rng):
    place = PLACES[rng.integers(1000)]
    return _played(rewards, int(rewards[3, 0] + rewards[place, 0] + rng.laplace(0, 1 / EPSILON) > 0.5))


@dataclasses.dataclass(frozen=True)
class Cell:
    """A place, compared by what `dataclass` has written."""

    column: int
    row: int = 0


@dataclasses.dataclass
class Entry:
    """The same, which is no key."""

    number: int


CELLS, ENTRIES = {Cell(7): 0.0}, [Entry(7)]


def _weighed(rewards, rng, weight):
    return _played(rewards, int(np.argmax(_sums(rewards) + weight * rng.laplace(0, 1 / EPSILON, 2))))


def leak_key_of_two_draws(rewards, rng):
    cell = Cell(int(rng.integers(100)), int(rng.integers(100)))
    return _weighed(rewards, rng, CELLS.get(cell, 1.0))


def leak_how_many_cells(rewards, rng):
    return _weighed(rewards, rng, len({Cell(int(rng.integers(1000))): 0, Cell(7): 1}) - 1)


def leak_keys_of_cells(rewards, rng):
    return _weighed(rewards, rng, 1.0 - (CELLS.keys() >= {Cell(int(rng.integers(1000))): 1}.keys()))


def leak_count_of_cells(rewards, rng):
    return _weighed(rewards, rng, 1.0 - [Cell(int(rng.integers(1000)))].count(Cell(7)))


def leak_cell_in_a_list(rewards, rng):
    return _weighed(rewards, rng, 1.0 - (Entry(int(rng.integers(1000))) in ENTRIES))


def leak_different_cells(rewards, rng):
    return _weighed(rewards, rng, len({Cell(int(rng.integers(1000))), Cell(7)}) - 1)


def right_largest_entry(rewards, rng):
    entries = [Entry(one) for one in range(3)]
    entries.append(Entry(3))
    return _weighed(rewards, rng, max(entries, key=lambda one: one.number).number / 3)


def number_of_a_seed(rewards, rng):
    return _played(rewards, _weighed(_sums(rewards), rng, np.random.SeedSequence().entropy % 500))


def number_in_a_generator(rewards, rng):
    state = rng.bit_generator.state["state"]["state"]
    return _played(rewards, _weighed(_sums(rewards), rng, state % 500))


def hashes_of_texts(rewards, rng):
    return _played(rewards, _weighed(_sums(rewards), rng, sum(map(hash, ("a", "b"))) % 500))


def first_by_its_hash(rewards, rng):
    first = min(("a", "b", "c"), key=hash)
    return _played(rewards, _weighed(_sums(rewards), rng, "abc".index(first)))


def _weighed(sums, rng, number):
    return int(np.argmax(sums * (1 + 999 * max(0, 1 - number)) + rng.laplace(0, 1 / EPSILON, 2)))


LEAKS = [
    *(number_of_a_seed, number_in_a_generator, hashes_of_texts, first_by_its_hash),
    leak_key_of_two_draws,
    leak_how_many_cells,
    leak_keys_of_cells,
    leak_count_of_cells,
    leak_cell_in_a_list,
    leak_different_cells,
    turned_for_some_draws,
    *(list_entry, get_with_default, chosen_function, kept_in_attribute, handed_on, objects_of_two_kinds),
    *(classes_of_two_kinds, method_by_name, getattr_by_name, applied_in_part, attribute_of_hook),
    *(repeats_from_table, repeated_list, remainder_of_draw, counted_down, called_again, slice_of_draw),
    *(
        weight_from_table,
        weight_by_flag,
        comparison_as_number,
        square_of_distance,
        power_of_distance,
        one_of_many_marked,
    ),
    *(noise_by_entry, noise_appended, counted_twice),
    *(rows_and_a_column, slice_that_is_made, drawn_mask, drawn_places, list_of_places),
    *(turns_that_peak, turns_by_a_ratio, turns_by_a_product, turns_by_a_decay),
    *(one_name_inside_and_around, reward_at_two_places, reward_at_a_rare_place),
]


# ---------------------------------------------------------------- right twins


def rule_by_name(rewards, rng):
    """Which rule is called is the same in every run."""
    rules = {"usual": _usual, "exact": _exact}
    return _played(rewards, rules["usual"](_sums(rewards), rng))


def rule_in_attribute(rewards, rng):
    return _played(rewards, Policy(_usual)(_sums(rewards), rng))


def rule_handed_on(rewards, rng):
    def apply(rule):
        return rule(_sums(rewards), rng)

    return _played(rewards, apply(_usual))


def rule_applied_in_part(rewards, rng):
    return _played(rewards, partial(_usual, rng=rng)(_sums(rewards)))


class Counter:
    def __init__(self):
        self.total = 0.0

    def add(self, reward):
        self.total += reward

    def noisy(self, rng):
        return self.total + rng.laplace(0, 1 / EPSILON)


def objects_of_one_kind(rewards, rng):
    """Which object a method is called of follows from draws; what it does is the same."""
    counters, arms = [Counter() for _ in range(2)], []
    for t in range(len(rewards) // 2):
        arm = int(rng.integers(2))
        counters[arm].add(rewards[t, arm])
        arms.append(arm)
    noisy = [one.noisy(rng) for one in counters]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def repeats_by_round(rewards, rng):
    """How often is read from a table in a fixed order."""
    often = [1, 2, 1]
    total, t = 0.0, 0
    for row in often:
        for _ in range(row):
            total += rewards[t, 0]
            t += 1
    return _played(rewards, int(total + rng.laplace(0, 1 / EPSILON) > 2))


def stopped_by_noise(rewards, rng):
    """A loop whose condition compares noise is a branch."""
    t, bar = 0, 2 + rng.laplace(0, 2 / EPSILON)
    while t < 8 and rewards[t, 0] + rng.laplace(0, 4 / EPSILON) < bar:
        t += 1
    return np.r_[np.zeros(t, dtype=int), np.ones(len(rewards) - t, dtype=int)]


def arms_that_are_left(rewards, rng):
    """A list that noise has shortened is looped over."""
    left = [a for a in range(2) if rewards[a, a] + rng.laplace(0, 1 / EPSILON) > 0.5] or [0]
    found = []
    for arm in left:
        found.append(arm)
    return (found * len(rewards))[: len(rewards)]


def means_of_counts(rewards, rng):
    """Data are divided by how often an arm came, and so is their noise."""
    sums, counts, arms = np.zeros(2), np.ones(2), []
    for t in range(len(rewards) // 2):
        arm = int(rng.integers(2))
        sums[arm] += rewards[t, arm]
        counts[arm] += 1
        arms.append(arm)
    noisy = sums / counts + rng.laplace(0, 1 / EPSILON, 2) / counts
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def weights_by_round(rewards, rng):
    """A table of weights is read in a fixed order."""
    weights = [1.0, 0.5, 0.25]
    total = sum(w * rewards[t, 0] for t, w in enumerate(weights))
    return _played(rewards, int(total + rng.laplace(0, 1 / EPSILON) > 1))


def table_shown(rewards, rng):
    """A table is read at a drawn place, and what it says is shown beside the noise."""
    order = [0, 1, 1, 0]
    arm = order[int(rng.integers(4))]
    return np.r_[_played(rewards, _usual(_sums(rewards), rng))[:-1], arm]


def logarithm_of_round(rewards, rng):
    """A known function of a known number."""
    scale = math.ceil(math.log2(len(rewards))) / EPSILON
    s = _sums(rewards)
    return _played(rewards, int(np.argmax(s + rng.laplace(0, scale, 2))))


def epochs_that_halve_a_gap(rewards, rng):
    """How long an epoch is follows from its number and from the arms that noise has left."""
    horizon, k = rewards.shape
    left, arms, epoch = [*range(k)], [], 0
    while len(arms) < horizon and len(left) > 1:
        epoch += 1
        gap = 2.0**-epoch
        length = math.ceil(math.log(2 * len(left) * epoch) / gap**2)
        if len(arms) + length * len(left) > horizon:
            break
        sums = np.zeros(k)
        for arm in left:
            start = len(arms)
            sums[arm] += rewards[start : start + length, arm].sum()
            arms += [arm] * length
        means = (sums + rng.laplace(0, 1 / EPSILON, k)) / length
        best = max(means[arm] for arm in left)
        left = [arm for arm in left if best - means[arm] <= gap]
    return np.r_[arms, np.resize(left, horizon - len(arms))].astype(int)


def _number_and_rule(rng):
    return rng.integers(500), _usual


def rule_returned_beside_a_draw(rewards, rng):
    _, rule = _number_and_rule(rng)
    return _played(rewards, rule(_sums(rewards), rng))


def mean_under_a_mask(rewards, rng):
    return _by_mean(rewards, rng, rewards[np.arange(len(rewards)) < 4, 0])


def mean_of_listed_places(rewards, rng):
    return _by_mean(rewards, rng, rewards[[0, 2, 4, 6], 0])


def one_number_at_a_drawn_place(rewards, rng):
    """One reward at most counts, whichever it is."""
    place = rng.integers(1000) % 7
    return _played(rewards, int(rewards[place, 0] + rng.laplace(0, 1 / EPSILON) > 0.5))


RIGHT = [
    right_largest_entry,
    rule_returned_beside_a_draw,
    *(rule_by_name, rule_in_attribute, rule_handed_on, objects_of_one_kind),
    *(repeats_by_round, stopped_by_noise, arms_that_are_left, weights_by_round),
    *(table_shown, logarithm_of_round, mean_under_a_mask, mean_of_listed_places),
]

# Right programs without a bound: to tell them from leaks, we would have to follow what few programs need.
UNFOLLOWED = [
    # What is called, with what, is known when the code runs: `partial` is not followed.
    (rule_applied_in_part, "calls something that is known only when the code runs"),
    # Other statements may change the table between one side of the sum and the other, a number none can.
    (means_of_counts, "the amount of noise, or the weight of the data, may depend on a random draw"),
    # The length rises with the epoch and falls with the arms that are left, as in `turns_that_peak`.
    (epochs_that_halve_a_gap, "the number of iterations of a loop may depend on a random draw"),
    # What else reads that reward is not known, as in `reward_at_a_rare_place`.
    (one_number_at_a_drawn_place, "reads data or noise from a table at an index that a random draw selects"),
]
