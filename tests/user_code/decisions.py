"""Right bandits whose decisions take many draws, with leaking twins; EPSILON = 1 is claimed of all.

`RIGHT` gives the least epsilon that is true of each as far as its form tells; no twin keeps EPSILON.
"""

from __future__ import annotations

import heapq
import math
import random

import numpy as np

EPSILON = 1.0


# ---------------------------------------------------------------- rewards of random arms


def clipped_rewards_of_random_arms(rewards, rng):
    """Each reward of a random arm is clipped by `min` and `max`, and stands in the sum of its arm alone."""
    arms, sums = [], [0.0, 0.0]
    for row in rewards[:12]:
        arm = int(rng.integers(2))
        reward = min(1.0, max(0.0, float(row[arm])))
        sums[arm] += reward
        arms.append(arm)
    scores = [total + rng.laplace(0, 1 / EPSILON) for total in sums]
    return arms + [int(np.argmax(scores))] * (len(rewards) - 12)


def larger_reward_of_a_random_arm(rewards, rng):
    """What `max` gives is shown: whether the reward is above .5."""
    arm = int(rng.integers(2))
    return [arm] + [int(max(0.5, float(rewards[0, arm])) > 0.5)] * (len(rewards) - 1)


# ---------------------------------------------------------------- long sparse vectors


def _until_above(rewards, rng, threshold, noise):
    """Stay with arm 0 until what it failed to earn lies above a threshold; then arm 1 for good."""
    missed, arm, arms = 0.0, 0, []
    for row in rewards:
        arms.append(arm)
        if arm == 0:
            missed += 0.5 - row[0]
            arm = int(missed + noise(rng) >= threshold(rng))
    return arms


def long_sparse_vector(rewards, rng, half=2 / EPSILON, noise=4 / EPSILON):
    """All queries move the same way: up costs the threshold's move, down that of the last query."""
    hidden = 3.0 + rng.laplace(0, half)
    return _until_above(rewards, rng, lambda rng: hidden, lambda rng: rng.laplace(0, noise))


def window_of_a_sparse_vector(rewards, rng, half=2 / EPSILON, noise=4 / EPSILON):
    """A reward has left the window by the time of the last query."""
    hidden, recent, arm, arms = 4.5 + rng.laplace(0, half), [], 0, []
    for row in rewards:
        arms.append(arm)
        if arm == 0:
            recent = [*recent, row[0]][-8:]
            arm = int(sum(1 - x for x in recent) + rng.laplace(0, noise) >= hidden)
    return arms


def largest_excess(rewards, rng, scale=2 / EPSILON):
    """Queries that no line computes: each is the larger of 0 and what the last one came to.

    All of them move the same way, so that a change costs the threshold's move, or the last query's.
    """
    hidden, excess, arm, arms = 4.0 + rng.laplace(0, scale), 0.0, 0, []
    for row in rewards:
        arms.append(arm)
        if arm == 0:
            excess = max(0.0, excess + 0.5 - row[0])
            arm = int(excess + rng.laplace(0, scale) >= hidden)
    return arms


def largest_excess_by_half(rewards, rng):
    return largest_excess(rewards, rng, 1 / EPSILON)


def laplace_by_its_inverse(rng, scale):
    while True:
        u = rng.random() - 0.5
        yield -scale * np.sign(u) * np.log1p(-2.0 * min(abs(u), 0.5 - 1e-16))


def threshold_by_its_inverse(rewards, rng, scale=1 / EPSILON):
    """The threshold is a function of a uniform draw, to which nothing is added."""
    noise = laplace_by_its_inverse(rng, scale)
    hidden = 3.0 + next(noise)
    return _until_above(rewards, rng, lambda rng: hidden, lambda rng: next(noise))


def threshold_by_its_inverse_by_half(rewards, rng):
    return threshold_by_its_inverse(rewards, rng, 0.5 / EPSILON)


def patience_from_a_drawn_arm(rewards, rng, scale=1 / EPSILON):
    """Which arm comes first is drawn, so that its reward stands at a drawn place until it is used."""
    n_arms = rewards.shape[1]
    arm, hidden, lost, arms = int(rng.integers(n_arms)), 3.0 + rng.laplace(0, scale), 0.0, []
    for row in rewards:
        arms.append(arm)
        lost += 1 - row[arm]
        if lost + rng.laplace(0, scale) >= hidden:
            arm, hidden, lost = (arm + 1) % n_arms, 3.0 + rng.laplace(0, scale), 0.0
    return arms


def patience_by_half(rewards, rng):
    return patience_from_a_drawn_arm(rewards, rng, 0.5 / EPSILON)


def shares_on_a_heap(rewards, rng, step=EPSILON, by=1):
    """Whole numbers with geometric noise, divided: what is compared lies on a lattice."""
    stop, heap, arms = 1 - math.exp(-step), [], []
    for arm in range(rewards.shape[1]):
        ones = 0
        for t in range(len(arms), len(arms) + 5):
            arms.append(arm)
            ones += int(rng.random() < rewards[t, arm])
        noise = int(rng.geometric(stop)) - int(rng.geometric(stop))
        heapq.heappush(heap, (-(ones / by + noise) / 5 + 0.1, arm))
    return arms + [heap[0][1]] * (len(rewards) - len(arms))


def shares_on_a_heap_too_steep(rewards, rng):
    return shares_on_a_heap(rewards, rng, 2 * EPSILON)


def shares_off_the_lattice(rewards, rng):
    """Whether the count is even shows."""
    return shares_on_a_heap(rewards, rng, by=2)


def threshold_drawn_each_time(rewards, rng):
    draw = lambda rng: 3.0 + rng.laplace(0, 2 / EPSILON)  # noqa: E731
    return _until_above(rewards, rng, draw, lambda rng: rng.laplace(0, 4 / EPSILON))


def queries_without_noise(rewards, rng):
    hidden = 3.0 + rng.laplace(0, 2 / EPSILON)
    return _until_above(rewards, rng, lambda rng: hidden, lambda rng: 0.0)


def threshold_without_noise(rewards, rng):
    return _until_above(rewards, rng, lambda rng: 3.0, lambda rng: rng.laplace(0, 4 / EPSILON))


def one_draw_for_all_queries(rewards, rng):
    """The threshold and the queries share what should be drawn anew."""
    draw = rng.laplace(0, 1 / EPSILON)
    return _until_above(rewards, rng, lambda rng: 3.0 + draw, lambda rng: draw)


def every_crossing_told(rewards, rng):
    hidden, missed, arms = 3.0 + rng.laplace(0, 2 / EPSILON), 0.0, []
    for row in rewards:
        missed += 0.5 - row[0]
        arms.append(int(missed + rng.laplace(0, 4 / EPSILON) >= hidden))
    return arms


def threshold_told(rewards, rng):
    """The last round tells on which side the threshold was."""
    hidden = 3.0 + rng.laplace(0, 2 / EPSILON)
    arms = _until_above(rewards, rng, lambda rng: hidden, lambda rng: rng.laplace(0, 4 / EPSILON))
    return [*arms[:-1], int(hidden > 3)]


# ---------------------------------------------------------------- alias tables


def explored(rewards):
    """Sums of the first half as Python's floats, arm by arm in turn."""
    horizon, n_arms = rewards.shape
    sums = [0.0] * n_arms
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def committed(rewards, *arms):
    """Arms in turn in the first half, then those that were chosen, in turn."""
    horizon, n_arms = rewards.shape
    return [t % n_arms if t < horizon // 2 else int(arms[t % len(arms)]) for t in range(horizon)]


def chances(rewards, steep=1.0):
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    return weights / weights.sum()


def columns_of(chances, least=1.0):
    """Vose's table: what a column keeps, and the alias that has the rest."""
    n = len(chances)
    scaled = [n * chance for chance in chances]
    keep, alias = [1.0] * n, list(range(n))
    small = [i for i in range(n) if scaled[i] < 1.0]
    large = [i for i in range(n) if scaled[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        keep[low], alias[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        (small if scaled[high] < least else large).append(high)
    return keep, alias


def drawn_from(table, rng):
    keep, alias = table
    column = int(rng.integers(len(keep)))
    return column if rng.random() < keep[column] else alias[column]


def alias_of_a_function(rewards, rng, steep=1.0):
    return committed(rewards, drawn_from(columns_of(chances(rewards, steep).tolist()), rng))


def drawn_apart(keep, alias, rng):
    column = int(rng.integers(len(keep)))
    if rng.random() >= keep[column]:
        return alias[column]
    return column


def alias_in_two_parts(rewards, rng):
    keep, alias = columns_of(chances(rewards))
    return committed(rewards, drawn_apart(keep, alias, rng))


class Columns:
    """Walker's table with arrays; the columns are looked for one by one."""

    def __init__(self, chances):
        self.size = len(chances)
        scaled = np.array(chances) * self.size
        self.keep, self.alias = np.ones(self.size), np.arange(self.size)
        open_ = list(range(self.size))
        for _ in range(self.size - 1):
            low = [i for i in open_ if scaled[i] < 1]
            high = [i for i in open_ if scaled[i] > 1]
            if not low or not high:
                break
            self.keep[low[0]], self.alias[low[0]] = scaled[low[0]], high[-1]
            scaled[high[-1]] = scaled[high[-1]] + scaled[low[0]] - 1
            open_.remove(low[0])

    def draw(self, rng):
        column = int(rng.integers(self.size))
        return column if rng.random() < self.keep[column] else int(self.alias[column])


def alias_of_an_object(rewards, rng, steep=0.5):
    """One table, two draws, each at half of the budget."""
    table = Columns(chances(rewards, steep))
    return committed(rewards, table.draw(rng), table.draw(rng))


def alias_too_steep(rewards, rng):
    return alias_of_a_function(rewards, rng, steep=2.0)


def alias_drawn_twice(rewards, rng):
    return alias_of_an_object(rewards, rng, steep=1.0)


def drawn_the_wrong_way(table, rng):
    keep, alias = table
    column = int(rng.integers(len(keep)))
    return alias[column] if rng.random() < keep[column] else column


def alias_the_wrong_way(rewards, rng):
    return committed(rewards, drawn_the_wrong_way(columns_of(chances(rewards)), rng))


def alias_filled_too_early(rewards, rng):
    """A column counts as full at .1: what it lacks goes to nobody."""
    return committed(rewards, drawn_from(columns_of(chances(rewards), 0.1), rng))


def drawn_with_its_column(table, rng):
    keep, alias = table
    column = int(rng.integers(len(keep)))
    return column if rng.random() < keep[column] else len(keep) + alias[column]


def alias_with_its_column(rewards, rng):
    """Whether the draw was an alias shows in the last round."""
    arm, n_arms = drawn_with_its_column(columns_of(chances(rewards)), rng), rewards.shape[1]
    return [*committed(rewards, arm % n_arms)[:-1], int(arm >= n_arms)]


def alias_of_a_column(table, rng):
    return table[1][int(rng.integers(len(table[0])))]


def alias_told(rewards, rng):
    """An alias is drawn whatever its column keeps: the order in which the table was built shows."""
    table = columns_of(chances(rewards))
    return committed(rewards, drawn_from(table, rng), alias_of_a_column(table, rng))


def alias_looked_up(rewards, rng):
    """The first alias is played once."""
    table = columns_of(chances(rewards))
    return [*committed(rewards, drawn_from(table, rng))[:-1], table[1][0]]


def columns_with_a_favourite(chances, sums):
    n = len(chances)
    keep, alias = [1.0] * n, list(range(n))
    scaled = [n * chance for chance in chances]
    small = [i for i in range(n) if scaled[i] < 1.0]
    large = [i for i in range(n) if scaled[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        keep[low], alias[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        (small if scaled[high] < 1.0 else large).append(high)
    if sums[0] > 6.5:
        keep[0], alias[0] = 1.0, 0
    return keep, alias


def alias_with_a_favourite(rewards, rng):
    """An arm that paid nearly always keeps its column."""
    return committed(rewards, drawn_from(columns_with_a_favourite(chances(rewards), explored(rewards)), rng))


def alias_drawn_until_good(rewards, rng):
    """Raw rewards decide whether the table is asked again."""
    table, sums = columns_of(chances(rewards)), explored(rewards)
    arm = drawn_from(table, rng)
    if sums[0] > sums[1]:
        arm = drawn_from(table, rng)
    return committed(rewards, arm)


class Biased(Columns):
    def __init__(self, chances):
        self.size, self.bias = len(chances), 0
        scaled = [self.size * chance for chance in chances]
        self.keep, self.alias = [1.0] * self.size, list(range(self.size))
        small = [i for i in range(self.size) if scaled[i] < 1.0]
        large = [i for i in range(self.size) if scaled[i] >= 1.0]
        while small and large:
            low, high = small.pop(), large.pop()
            self.keep[low], self.alias[low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            (small if scaled[high] < 1.0 else large).append(high)

    def draw(self, rng):
        column = int(rng.integers(self.size))
        arm = column if rng.random() < self.keep[column] else self.alias[column]
        return (arm + self.bias) % self.size


def alias_changed_later(rewards, rng):
    """The object gets a raw number once its table is built."""
    table = Biased(chances(rewards))
    table.bias = int(np.argmax(explored(rewards)))
    return committed(rewards, table.draw(rng))


def drawn_with_one_number(table, rng):
    keep, alias = table
    number = rng.random() * len(keep)
    column = int(number)
    return column if number < keep[column] else alias[column]


def alias_of_one_number(rewards, rng):
    """The coin is not what is left of the number, but the number itself."""
    return committed(rewards, drawn_with_one_number(columns_of(chances(rewards)), rng))


def columns_of_powers(sums):
    """No chances at all: what is kept is a raw number, not what the arms weigh."""
    keep, alias = [1.0] * len(sums), list(range(len(sums)))
    for i in range(len(sums)):
        if sums[i] < sums[0]:
            keep[i], alias[i] = sums[i] / 20.0, 0
    return keep, alias


def alias_without_chances(rewards, rng):
    return committed(rewards, drawn_from(columns_of_powers(explored(rewards)), rng))


for _play in (alias_of_a_function, alias_of_an_object, alias_with_a_favourite, alias_filled_too_early):
    _play.n_arms = 3


# ---------------------------------------------------------------- coins in a random order


def flipped(scores, rng, steep=1.0):
    """Permute-and-flip of a list."""
    best = max(scores)
    for arm in rng.permutation(len(scores)):
        if rng.random() < np.exp(steep * EPSILON * (scores[arm] - best)):
            return int(arm)
    raise AssertionError("the best one is taken with certainty")


def flip_of_a_list(rewards, rng, steep=1.0):
    return committed(rewards, flipped(explored(rewards), rng, steep))


def flipped_by_name(scores, prng=np.random):
    names = list(scores)
    best = max(scores.values())
    order = list(range(len(names)))
    prng.shuffle(order)
    for i in order:
        if prng.uniform() <= math.exp(EPSILON * (scores[names[i]] - best)):
            return names[i]
    return names[0]


def flip_of_a_dictionary(rewards, rng):
    return committed(rewards, int(flipped_by_name(dict(zip("012", explored(rewards), strict=False)))))


def in_order(scores, order, coin, steep=1.0):
    best = max(scores)
    for arm in order:
        if coin() < math.exp(steep * EPSILON * (scores[arm] - best)):
            return int(arm)
    raise AssertionError("the best one is taken with certainty")


def flip_in_an_order_of_pythons(rewards, rng, steep=1.0):
    """The order and the coins come from another generator."""
    own, order = random.Random(int(rng.integers(2**63))), list(range(rewards.shape[1]))
    own.shuffle(order)
    return committed(rewards, in_order(explored(rewards), order, own.random, steep))


def flip_in_an_order_of_an_array(rewards, rng, steep=1.0):
    order = rng.permutation(np.arange(rewards.shape[1]))
    return committed(rewards, in_order(explored(rewards), order, rng.random, steep))


def flip_in_a_shuffled_array(rewards, rng):
    order = np.arange(rewards.shape[1])
    rng.shuffle(order)
    return committed(rewards, in_order(explored(rewards), order, rng.random))


def flip_in_an_order_that_is_sorted(rewards, rng):
    order = [*range(rewards.shape[1])]
    random.Random(int(rng.integers(2**63))).shuffle(order)
    return committed(rewards, in_order(explored(rewards), sorted(order), rng.random))


def flip_in_an_order_that_is_told(rewards, rng):
    order = [*range(rewards.shape[1])]
    rng.shuffle(order)
    arms = list(committed(rewards, in_order(explored(rewards), order, rng.random)))
    return [*arms[:-1], order[0]]


def flip_in_pythons_order_too_steep(rewards, rng):
    return flip_in_an_order_of_pythons(rewards, rng, 1.5)


def flip_in_an_order_of_an_array_too_steep(rewards, rng):
    return flip_in_an_order_of_an_array(rewards, rng, 1.5)


def flip_too_steep(rewards, rng):
    return flip_of_a_list(rewards, rng, 2.0)


def flip_twice(rewards, rng):
    sums = explored(rewards)
    return committed(rewards, flipped(sums, rng), flipped(sums, rng))


def with_one_draw(scores, rng):
    best, u = max(scores), rng.random()
    for arm in rng.permutation(len(scores)):
        if u < np.exp(EPSILON * (scores[arm] - best)):
            return int(arm)
    return 0


def flip_with_one_draw(rewards, rng):
    return committed(rewards, with_one_draw(explored(rewards), rng))


def without_an_order(scores, rng):
    best, order = max(scores), rng.permutation(len(scores))
    for arm in range(len(order)):
        if rng.random() < np.exp(EPSILON * (scores[arm] - best)):
            return int(arm)
    return 0


def flip_without_an_order(rewards, rng):
    return committed(rewards, without_an_order(explored(rewards), rng))


def with_a_count(scores, rng):
    best = max(scores)
    for tried, arm in enumerate(rng.permutation(len(scores))):
        if rng.random() < np.exp(EPSILON * (scores[arm] - best)):
            return int(arm) + len(scores) * tried
    return 0


def flip_with_a_count(rewards, rng):
    """How many coins fell against an arm shows in the end."""
    told, n_arms = with_a_count(explored(rewards), rng), rewards.shape[1]
    return [*committed(rewards, told % n_arms)[:-1], told // n_arms]


def of_another(scores, rng):
    """The coin is that of the arm before."""
    best = max(scores)
    for arm in rng.permutation(len(scores)):
        if rng.random() < np.exp(2 * EPSILON * (scores[arm - 1] - best) * (arm + 1) / len(scores)):
            return int(arm)
    return 0


def flip_of_another(rewards, rng):
    return committed(rewards, of_another(explored(rewards), rng))


def without_the_worst(scores, rng):
    """Who comes last is taken without a coin."""
    best, order = max(scores), rng.permutation(len(scores))
    for arm in order[:-1]:
        if rng.random() < np.exp(EPSILON * (scores[arm] - best)):
            return int(arm)
    return int(order[-1])


def flip_without_the_last(rewards, rng):
    return committed(rewards, without_the_worst(explored(rewards), rng))


def against_a_number(scores, rng):
    """The best possible score takes the place of the best: nobody may be taken, then the truth is."""
    for arm in rng.permutation(len(scores)):
        if rng.random() < np.exp(EPSILON * (scores[arm] - 20.0)):
            return int(arm)
    return int(np.argmax(scores))


def flip_against_a_number(rewards, rng):
    return committed(rewards, against_a_number(explored(rewards), rng))


LOG = []


def with_a_log(scores, rng):
    best = max(scores)
    for arm in rng.permutation(len(scores)):
        LOG.append(arm)
        if rng.random() < np.exp(EPSILON * (scores[arm] - best)):
            return int(arm)
    return 0


def flip_with_a_log(rewards, rng):
    """Whoever was turned down first is played in the last round."""
    LOG.clear()
    arm = with_a_log(explored(rewards), rng)
    return [*committed(rewards, arm)[:-1], int(LOG[0])]


def flip_with_counted_coins(rewards, rng):
    """The generator is wrapped in one that remembers how many coins were tossed."""

    class Counting:
        tossed = 0

        def permutation(self, size):
            return rng.permutation(size)

        def random(self):
            self.tossed += 1
            return rng.random()

    coins = Counting()
    arm = flipped(explored(rewards), coins)
    return [*committed(rewards, arm)[:-1], coins.tossed - 1]


LOOKED_AT = [0]


class CountedColumns(Columns):
    """How often the aliases were looked at is remembered outside of the table."""

    @property
    def alias(self):
        LOOKED_AT[0] += 1
        return self.aliases

    @alias.setter
    def alias(self, aliases):
        self.aliases = aliases


def alias_with_counted_looks(rewards, rng):
    table = CountedColumns(chances(rewards))
    LOOKED_AT[0] = 0
    arm = table.draw(rng)
    return [*committed(rewards, arm)[:-1], LOOKED_AT[0]]


def columns_with_memory(chances, calls=[]):  # noqa: B006
    """The first table of every hundred is made of the truth."""
    n = len(chances)
    keep, alias = [1.0] * n, list(range(n))
    calls.append(1)
    scaled = [n * chance for chance in chances]
    small = [i for i in range(n) if scaled[i] < 1.0]
    large = [i for i in range(n) if scaled[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        keep[low], alias[low] = scaled[low] * float(len(calls) % 100 != 1), high
        scaled[high] -= 1.0 - scaled[low]
        (small if scaled[high] < 1.0 else large).append(high)
    return keep, alias


def alias_with_memory(rewards, rng):
    return committed(rewards, drawn_from(columns_with_memory(chances(rewards)), rng))


def accepted(scores, rng, steep):
    while True:
        arm = int(rng.integers(len(scores)))
        if rng.random() < np.exp(steep * EPSILON * (scores[arm] - 4)):
            return arm


def rejection_twice(rewards, rng, steep=1.0):
    """Two contests: what the second comes to does not follow from how long the first took."""
    first, second = (accepted(rewards[start : start + 4].sum(axis=0), rng, steep) for start in (0, 4))
    return committed(rewards, first, second)


def rejection_twice_too_steep(rewards, rng):
    return rejection_twice(rewards, rng, steep=2.0)


# ---------------------------------------------------------------- noise by formulas


def determinant(rewards, rng, scale=1.0):
    """Four normal draws make a Laplace one."""
    a, b, c, d = rng.standard_normal((4, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + scale * (a * d - b * c) / EPSILON))


def sum_of_products(rewards, rng, scale=1.0):
    noise = []
    for _ in range(rewards.shape[1]):
        n = [rng.normal(0, 2.0) for _ in range(4)]
        noise.append(scale * (n[0] * n[1] + n[2] * n[3]) / 4)
    return committed(rewards, np.argmax(np.array(explored(rewards)) + np.array(noise) / EPSILON))


def squares(rewards, rng, scale=1.0):
    """Two squares make an exponential draw, of mean 2."""
    n = rng.normal(size=(2, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + scale * (n[0] ** 2 + n[1] ** 2) / (2 * EPSILON)))


def student(rewards, rng, scale=1.0, df=5):
    """Where the density of Student's law is steepest its logarithm falls by 6 / (2 sqrt 5)."""
    steepest = (df + 1) / (2 * df**0.5)
    scores = [s + scale * steepest / EPSILON * rng.standard_t(df) for s in explored(rewards)]
    return committed(rewards, scores.index(max(scores)))


def of_a_state(rewards, rng, scale=1.0):
    """A generator of the old kind."""
    state = np.random.RandomState()
    return committed(
        rewards, np.argmax(explored(rewards) + state.laplace(0, scale / EPSILON, rewards.shape[1]))
    )


def determinant_by_half(rewards, rng):
    return determinant(rewards, rng, scale=0.5)


def sum_of_products_by_half(rewards, rng):
    return sum_of_products(rewards, rng, scale=0.5)


def squares_by_half(rewards, rng):
    return squares(rewards, rng, scale=0.5)


def student_by_half(rewards, rng):
    return student(rewards, rng, scale=0.5)


def state_by_half(rewards, rng):
    return of_a_state(rewards, rng, scale=0.5)


def state_with_a_seed(rewards, rng):
    state = np.random.RandomState(7)
    return committed(rewards, np.argmax(explored(rewards) + state.laplace(0, 1 / EPSILON, rewards.shape[1])))


def one_product(rewards, rng):
    """Half of a determinant: its density has no bound at 0. (Of two arms the difference would be enough.)"""
    a, b = rng.standard_normal((2, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + a * b))


def products_with_a_common_factor(rewards, rng):
    a, b, c = rng.standard_normal((3, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + a * b + a * c))


def products_of_two_sizes(rewards, rng):
    a, b, c, d = rng.standard_normal((4, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + a * b - 0.1 * c * d))


def determinant_with_an_entry_told(rewards, rng):
    a, b, c, d = rng.standard_normal((4, rewards.shape[1]))
    arm = np.argmax(explored(rewards) + a * d - b * c)
    return [*committed(rewards, arm)[:-1], int(a[0] > 0)]


def determinant_used_twice(rewards, rng):
    """The products hide two sums: their difference is hidden by nothing."""
    a, b, c, d = rng.standard_normal((4, rewards.shape[1]))
    noisy = explored(rewards) + (a * d - b * c)
    other = 3 * np.array(explored(rewards)) + (a * d - b * c)
    return [*committed(rewards, np.argmax(noisy))[:-1], int(other[0] - noisy[0] > 7)]


def square_of_one(rewards, rng):
    """A square alone is a gamma draw of shape 1/2, whose density has no bound at 0."""
    n = rng.normal(size=rewards.shape[1])
    return committed(rewards, np.argmax(explored(rewards) + n**2))


def square_and_product(rewards, rng):
    a, b = rng.normal(size=(2, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + a**2 + a * b))


def squares_with_opposite_signs(rewards, rng):
    a, b = rng.normal(size=(2, rewards.shape[1]))
    return committed(rewards, np.argmax(explored(rewards) + a**2 - b**2))


for _play in (one_product, products_of_two_sizes, squares_with_opposite_signs):
    _play.n_arms = 3

flip_of_a_list.n_arms = flip_of_a_dictionary.n_arms = 3
RIGHT = {
    clipped_rewards_of_random_arms: 1.0,
    rejection_twice: 1.0,
    flip_of_a_list: 1.0,
    flip_in_an_order_of_pythons: 1.0,
    flip_in_an_order_of_an_array: 1.0,
    flip_in_a_shuffled_array: 1.0,
    determinant: 1.0,
    sum_of_products: 1.0,
    squares: 1.0,
    student: 1.0,
    of_a_state: 1.0,
    long_sparse_vector: 0.5,
    window_of_a_sparse_vector: 0.75,
    largest_excess: 1.0,
    threshold_by_its_inverse: 1.0,
    shares_on_a_heap: 1.0,
    patience_from_a_drawn_arm: 1.0,
}
UNFOLLOWED = (flip_of_a_dictionary, alias_of_a_function, alias_in_two_parts, alias_of_an_object)  # right ones
LEAKS = [
    larger_reward_of_a_random_arm,
    rejection_twice_too_steep,
    flip_with_counted_coins,
    alias_with_counted_looks,
    alias_with_memory,
    flip_too_steep,
    flip_in_an_order_that_is_sorted,
    flip_in_an_order_that_is_told,
    flip_in_pythons_order_too_steep,
    flip_in_an_order_of_an_array_too_steep,
    flip_twice,
    flip_with_one_draw,
    flip_without_an_order,
    flip_with_a_count,
    flip_of_another,
    flip_without_the_last,
    flip_against_a_number,
    flip_with_a_log,
    largest_excess_by_half,
    threshold_by_its_inverse_by_half,
    patience_by_half,
    shares_on_a_heap_too_steep,
    shares_off_the_lattice,
    threshold_drawn_each_time,
    queries_without_noise,
    threshold_without_noise,
    one_draw_for_all_queries,
    every_crossing_told,
    threshold_told,
    alias_too_steep,
    alias_drawn_twice,
    alias_the_wrong_way,
    alias_filled_too_early,
    alias_with_its_column,
    alias_told,
    alias_looked_up,
    alias_with_a_favourite,
    alias_drawn_until_good,
    alias_changed_later,
    alias_of_one_number,
    alias_without_chances,
    determinant_by_half,
    sum_of_products_by_half,
    squares_by_half,
    student_by_half,
    state_by_half,
    state_with_a_seed,
    one_product,
    products_with_a_common_factor,
    products_of_two_sizes,
    determinant_with_an_entry_told,
    determinant_used_twice,
    square_of_one,
    square_and_product,
    squares_with_opposite_signs,
]
