"""What a draw picks among: right programs that lose nothing by disclosing it, and leaks that look alike.

EPSILON = 1 is claimed of each. In a right program all that a draw picks from has noise of its own and could
be disclosed, or the law of the pick says all, or the place is public. In a leak one entry in a table or one
way of a mask has less noise or more data than others, and is picked once in hundreds of runs.
"""

from __future__ import annotations

import collections
import functools
from itertools import combinations

import numpy as np
import pandas as pd

EPSILON = 1.0


def _played(rewards, first, arm):
    return np.r_[first, np.full(len(rewards) - len(first), arm)]


# ---------------------------------------------------------------- right


def elimination(rewards, rng):
    """Noisy means in a dictionary of the arms that are left."""
    horizon, k = rewards.shape
    alive, actions, t, pulls = list(range(k)), [], 0, 1
    while t < horizon:
        sums = dict.fromkeys(alive, 0.0)
        plan = [a for _ in range(pulls) for a in alive][: horizon - t]
        for arm in plan:
            sums[arm] += rewards[t, arm]
            actions.append(arm)
            t += 1
        noisy = {a: (s + rng.laplace(0, 1 / EPSILON)) / pulls for a, s in sums.items()}
        best = max(noisy.values())
        alive = [a for a in alive if noisy[a] >= best - 1.0]
        pulls *= 2
    return np.array(actions)


def one_of_the_sums(rewards, rng):
    """A raw sum of any arm, with noise of its own."""
    half = len(rewards) // 2
    order = rng.permutation(np.arange(half) % 2)
    sums = np.zeros(2)
    for t, arm in enumerate(order):
        sums[arm] += rewards[t, arm]
    arm = int(rng.integers(2))
    return _played(rewards, order, int(sums[arm] + rng.laplace(0, 1 / EPSILON) > half / 4))


class Tournament:
    """Every arm is played three times; then pairs are compared, each by randomised response."""

    def __init__(self, rng):
        self.rng, self.points, self.queue = rng, np.zeros(2), [0, 0, 0, 1, 1, 1]
        self.flip = 1 / (1 + np.exp(EPSILON))

    def champion(self):
        wins = [0, 0]
        for a, b in combinations(range(2), 2):
            first = self.points[a] >= self.points[b]
            if self.rng.random() < self.flip:
                first = not first
            wins[a if first else b] += 1
        self.points = np.zeros(2)
        return wins.index(max(wins))

    def learn(self, arm, reward):
        self.queue.pop(0)
        self.points[arm] += reward
        if not self.queue:
            self.queue = [self.champion()] * 2 + [0, 0, 0, 1, 1, 1]


def tournament(rewards, rng):
    """Pairs of a public loop look up raw sums, in a method that is called when a queue is empty."""
    made, actions = Tournament(rng), []
    for t in range(len(rewards)):
        arm = made.queue[0]
        actions.append(arm)
        made.learn(arm, rewards[t, arm])
        if made.queue[:1] == [0] and made.queue[1:2] == [1]:
            made.points = np.zeros(2)
    return np.array(actions)


def flips_of_a_list(rewards, rng):
    """Permute-and-flip of raw scores in a list: the law says all of what is looked up."""
    half = len(rewards) // 2
    scores = [sum(rewards[t, a] for t in range(half) if t % 2 == a) for a in range(2)]
    best = max(scores)
    for arm in rng.permutation(2):
        if rng.random() < np.exp(EPSILON * (scores[arm] - best)):
            return _played(rewards, np.arange(half) % 2, int(arm))
    raise AssertionError("the best one is taken with certainty")


def means_where_there_are_any(rewards, rng):
    """`np.where` of counts that draws say."""
    sums, counts, actions = np.zeros(2), np.zeros(2), []
    for t in range(len(rewards)):
        view = np.where(counts > 0, sums / np.maximum(counts, 1), 1.0)
        arm = int(np.argmax(view))
        actions.append(arm)
        sums[arm] += rewards[t, arm] + rng.laplace(0, 1 / EPSILON)
        counts[arm] += 1
    return np.array(actions)


# ---------------------------------------------------------------- leaks


def _sums(rewards):
    half = len(rewards) // 2
    return np.array([rewards[a:half:2, a].sum() for a in range(2)])


def _first(rewards):
    return np.arange(len(rewards) // 2) % 2


def entry_without_noise(rewards, rng):
    """The last entry of the table is exact."""
    sums = _sums(rewards)
    made = [sums[0] + rng.laplace(0, 1 / EPSILON)] * 59 + [sums[0]]
    return _played(rewards, _first(rewards), int(made[rng.integers(60)] > 2))


def entry_that_weighs_more(rewards, rng):
    """All entries are raw and get the same noise; one counts a thousand times."""
    sums = _sums(rewards)
    made = [float(sums[0])] * 59 + [1000 * float(sums[0])]
    return _played(rewards, _first(rewards), int(made[rng.integers(60)] + rng.laplace(0, 1 / EPSILON) > 2))


def only_entry_with_data(rewards, rng):
    """Of sixty entries one holds data, and no path but a rare one picks it."""
    made = [0.0] * 59
    made.insert(23, float(_sums(rewards)[0]))
    return _played(rewards, _first(rewards), int(made[rng.integers(60)] > 2))


def larger_table(rewards, rng):
    """One of four hundred entries has no noise."""
    sums = _sums(rewards)
    made = [float(sums[0]) + rng.laplace(0, 1 / EPSILON)] * 400
    made[77] = float(sums[0])
    return _played(rewards, _first(rewards), int(made[rng.integers(400)] > 2))


def _released(scale, rng):
    def release(x):
        return x + scale * rng.laplace(0, 1 / EPSILON)

    return release


def gate_without_noise(rewards, rng):
    """One of the functions adds a thousandth of the noise."""
    made = [_released(1.0, rng) for _ in range(59)] + [_released(0.001, rng)]
    release = made[rng.integers(60)]
    return _played(rewards, _first(rewards), int(release(_sums(rewards)[0]) > 2))


def function_of_a_rare_branch(rewards, rng):
    """The same factory made both; the flag in its cell says whether noise is added."""

    def factory(exact):
        return lambda x: x if exact else x + rng.laplace(0, 1 / EPSILON)

    usual, other = factory(False), factory(True)
    release = usual
    if rng.integers(1000) == 77:
        release = other
    return _played(rewards, _first(rewards), int(release(_sums(rewards)[0]) > 2))


def mask_that_is_rarely_true(rewards, rng):
    """No path sees the other way of the mask."""
    rare = rng.integers(1000, size=2) == 77
    made = np.where(rare, _sums(rewards), _sums(rewards) + rng.laplace(0, 1 / EPSILON, 2))
    return _played(rewards, _first(rewards), int(np.argmax(made)))


def _rare(rng):
    return 32 * int(rng.integers(32)) + int(rng.integers(32))


GAINS, TURNS, FLAGS = [1.0] * 1024, [1] * 1024, [False] * 1024
GAINS[77], TURNS[77], FLAGS[77] = 500.0, 500, True


def _pick(table, i):
    return table[i]


def _end(rewards, s, rng):
    return _played(rewards, _first(rewards), int(np.argmax(s + rng.laplace(0, 1.0, 2))))


def turns_at_the_place_of_a_right_lookup(rewards, rng):
    """One line looks up data and, later, how often they count."""
    s = _sums(rewards)
    x, total = _pick([s[0], s[0]], int(rng.integers(2))), np.zeros(2)
    for _ in range(_pick(TURNS, _rare(rng))):
        total = total + np.array([x, s[1]])
    return _end(rewards, total, rng)


def rows_with_a_weight(rewards, rng):
    """Beside the sum stands how much it counts."""
    s = _sums(rewards)
    rows = [[(s[0], 1.0)] * 32 for _ in range(32)]
    rows[7][7] = (s[0], 500.0)
    row = rows[int(rng.integers(32))]
    x, c = row[int(rng.integers(32))]
    return _end(rewards, c * np.array([x, s[1]]), rng)


def longer_rows(rewards, rng):
    s = _sums(rewards)
    rows = [[[s[0]] for _ in range(32)] for _ in range(32)]
    rows[7][7] = [s[0]] * 300
    row = rows[int(rng.integers(32))]
    return _end(rewards, np.array([sum(row[int(rng.integers(32))]), s[1]]), rng)


def noise_that_cancels(rewards, rng):
    """One entry has the other sign."""
    z = rng.laplace(0, 1.0)
    grid = [[z] * 32 for _ in range(32)]
    grid[7][7] = -z
    row = grid[int(rng.integers(32))]
    n = z + row[int(rng.integers(32))]
    return _played(rewards, _first(rewards), int(_sums(rewards)[0] + n > 1.5))


def another_unit(rewards, rng):
    """The difference is 0 but for one entry."""
    grid = [[rewards[0, 0]] * 32 for _ in range(32)]
    grid[7][7] = rewards[2, 0]
    row = grid[int(rng.integers(32))]
    v = 300 * (rewards[0, 0] - row[int(rng.integers(32))])
    return _played(rewards, _first(rewards), int(v + rng.laplace(0, 1.0) > 1.5))


class Scaled:
    def __init__(self, gain):
        self.gain = gain

    def scaled(self, s):
        return self.gain * s


BANDITS = [Scaled(gain) for gain in GAINS]


def gain_of_a_drawn_object(rewards, rng):
    """What a method reads of its object is as drawn as the object."""
    return _end(rewards, BANDITS[_rare(rng)].scaled(_sums(rewards)), rng)


class Weighed:
    def __init__(self, gain):
        self.gain = gain

    def weighed(self, s):
        return self.gain * s


class Late:
    def __init__(self):
        self.late = False

    def mark(self):
        self.late = True


def set_in_a_drawn_call(rewards, rng):
    """What a method sets follows the draw that decides about its call."""
    made = Late()
    if rng.integers(1000) == 77:
        made.mark()
    if made.late:
        return _played(rewards, _first(rewards), int(_sums(rewards)[0] > 2))
    return _end(rewards, _sums(rewards), rng)


def gain_of_one_of_many_objects(rewards, rng):
    """Objects are made in a loop, each with its gain."""
    made = [Weighed(gain) for gain in GAINS]
    return _end(rewards, made[_rare(rng)].weighed(_sums(rewards)), rng)


def gain_that_is_set_later(rewards, rng):
    """All are made alike, and one is changed."""
    made = [Weighed(1.0) for _ in GAINS]
    made[77].gain = 500.0
    return _end(rewards, made[_rare(rng)].weighed(_sums(rewards)), rng)


def gain_that_is_multiplied_later(rewards, rng):
    made = [Weighed(1.0) for _ in GAINS]
    made[77].gain *= 500.0
    return _end(rewards, made[_rare(rng)].weighed(_sums(rewards)), rng)


def gain_under_the_same_name(rewards, rng):
    """Both statements set it to something called gain."""
    made, gain = [Weighed(1.0) for _ in GAINS], 500.0
    made[77].gain = gain
    return _end(rewards, made[_rare(rng)].weighed(_sums(rewards)), rng)


def sample_of_a_table(rewards, rng):
    """The library draws, with our generator."""
    gain = pd.DataFrame({"gain": GAINS}).sample(n=1, random_state=rng)["gain"].iloc[0]
    return _end(rewards, gain * _sums(rewards), rng)


def mask_with_two_ways_elsewhere(rewards, rng):
    """Both ways of the mask are seen, but not of the entry that counts."""
    s, rare = _sums(rewards), FLAGS[_rare(rng)]
    both = np.where(np.array([True, False, rare, rare]), 300 * s[0], s[0])
    return _end(rewards, np.array([both[2], s[1]]), rng)


def path_of_ten_coins(rewards, rng):
    """Ten branches, each of which goes both ways in the runs; only one path in 1024 keeps the first value."""
    s = _sums(rewards)
    x, n = 300 * s, 0
    for b in range(10):
        c = int(rng.integers(2))
        n = 2 * n + c
        if c != b % 2:
            x = s
    return _end(rewards, x + 0 * n, rng)


def path_of_ten_choices(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for _ in range(10):
        x = s if rng.random() < 0.5 else x
    return _end(rewards, x, rng)


def path_of_ten_selections(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for _ in range(10):
        x = np.where(rng.random() < 0.5, s, x)
    return _end(rewards, x, rng)


def path_to_a_break(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for _ in range(10):
        if rng.random() < 0.5:
            x = s
            break
    return _end(rewards, x, rng)


def path_of_ten_noises(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for _ in range(10):
        if rng.laplace() > 0:
            x = s
    return _end(rewards, x, rng)


def path_of_ten_lines(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    a = [bool(rng.integers(2)) for _ in range(7)]
    if a[0]:
        x = s
    if not a[1]:
        x = s
    if a[2]:
        x = s
    if a[3]:
        x = s
    if not a[4]:
        x = s
    if a[5]:
        x = s
    if not a[6]:
        x = s
    return _end(rewards, x, rng)


def path_of_ten_swaps(rewards, rng):
    s = _sums(rewards)
    x, y = 300 * s, s
    for b in range(10):
        x, y = (s, x) if int(rng.integers(2)) != b % 2 else (x, s)
    return _end(rewards, x + 0 * y, rng)


def path_of_ten_turns(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        if int(rng.integers(2)) == b % 2:
            continue
        x = s
    return _end(rewards, x, rng)


def path_in_a_table(rewards, rng):
    s = _sums(rewards)
    kept = {"x": 300 * s}
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            kept["x"] = s
    return _end(rewards, kept["x"], rng)


def kept_or_replaced(x, s, bit, rng):
    return s if int(rng.integers(2)) != bit else x


def path_of_ten_calls(rewards, rng):
    """The function that chooses does not know that it is called again."""
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        x = kept_or_replaced(x, s, b % 2, rng)
    return _end(rewards, x, rng)


def path_into_itself(rewards, rng):
    s = _sums(rewards)

    def after(x, b):
        return x if b == 10 else after(s if int(rng.integers(2)) != b % 2 else x, b + 1)

    return _end(rewards, after(300 * s, 0), rng)


class Kept:
    def __init__(self, x):
        self.x = x

    def toss(self, s, rng):
        if rng.random() < 0.5:
            self.x = s

    def put(self, s):
        self.x = s


def path_in_an_object(rewards, rng):
    s = _sums(rewards)
    kept = Kept(300 * s)
    for _ in range(10):
        kept.toss(s, rng)
    return _end(rewards, kept.x, rng)


def path_of_a_reduction(rewards, rng):
    s = _sums(rewards)
    x = functools.reduce(lambda x, b: s if int(rng.integers(2)) != b % 2 else x, range(10), 300 * s)
    return _end(rewards, x, rng)


def path_of_an_outer_name(rewards, rng):
    s = _sums(rewards)
    x = 300 * s

    def toss(b):
        nonlocal x
        if int(rng.integers(2)) != b % 2:
            x = s

    for b in range(10):
        toss(b)
    return _end(rewards, x, rng)


def path_of_ten_pops(rewards, rng):
    s = _sums(rewards)
    xs = [300 * s] + [s] * 12
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            xs.pop(0)
    return _end(rewards, xs[0], rng)


def path_in_a_list(rewards, rng):
    s = _sums(rewards)
    x = [300 * s, s]
    i = 0
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            x[i] = s
    return _end(rewards, x[0], rng)


def path_down_a_tree(rewards, rng):
    s = _sums(rewards)
    tree = 300 * s
    for b in range(10):
        tree = (tree, s) if b % 2 else (s, tree)
    for _ in range(10):
        tree = tree[int(rng.integers(2))] if isinstance(tree, tuple) else tree
    return _end(rewards, tree, rng)


def path_of_ten_objects(rewards, rng):
    s = _sums(rewards)

    class Box:
        def __init__(self, v):
            self.x = v

    box = Box(300 * s)
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            box = Box(s)
    return _end(rewards, box.x, rng)


def path_of_two_names(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        y = x
        if int(rng.integers(2)) != b % 2:
            y = s
        x = y
    return _end(rewards, x, rng)


def path_of_ten_setters(rewards, rng):
    s = _sums(rewards)
    held = Kept(300 * s)
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            held.put(s)
    return _end(rewards, held.x, rng)


def path_to_the_last(rewards, rng):
    s = _sums(rewards)
    xs = [300 * s]
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            xs.append(s)
    return _end(rewards, xs[-1], rng)


def path_through_a_queue(rewards, rng):
    s = _sums(rewards)
    q = collections.deque([300 * s], maxlen=1)
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            q.append(s)
    return _end(rewards, q[0], rng)


def path_in_an_array(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            x[:] = s
    return _end(rewards, x, rng)


def path_of_ten_expressions(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        int(rng.integers(2)) != b % 2 and (x := s)
    return _end(rewards, x, rng)


def path_of_ten_flags(rewards, rng):
    s = _sums(rewards)
    x = 300 * s
    for b in range(10):
        replaced = False
        if int(rng.integers(2)) != b % 2:
            replaced = True
        if replaced:
            x = s
    return _end(rewards, x, rng)


def path_of_ten_returns(rewards, rng):
    s = _sums(rewards)

    def keep(x, b):
        if int(rng.integers(2)) != b % 2:
            return s
        return x

    x = 300 * s
    for b in range(10):
        x = keep(x, b)
    return _end(rewards, x, rng)


def noise_in_slots(rewards, rng):
    """A slot that no draw comes to keeps its first value."""
    slots = [0.0, 0.0]
    for turn in range(40):
        slots[(turn + int(rng.integers(2))) % 2 if turn % 3 else int(rng.integers(2))] = rng.laplace(0, 1.0)
    return _played(rewards, _first(rewards), int(rewards[0, 0] + slots[1] > 0.5))


def noise_from_a_feed(rewards, rng):
    """The feed may be empty, and then what is shown is raw."""
    feed = iter([z for z in rng.laplace(0, 1.0, 12) if int(rng.integers(2)) == 1])
    return _played(rewards, _first(rewards), int(rewards[0, 0] + next(feed, 0.0) > 0.5))


def noise_of_shares(rewards, rng):
    """Those who add noise are there with a chance each."""
    total = rewards[0, 0]
    for turn in range(14):
        if int(rng.integers(2)) == turn % 2:
            total += rng.laplace(0, 1.0)
    return _played(rewards, _first(rewards), int(total > 0.5))


def lowest_ticket(rewards, rng):
    """One of five sums has no noise, and seldom the lowest ticket."""
    raw = rewards[0, 0]
    queue = [(int(rng.integers(1000)), place, raw + rng.laplace(0, 1.0)) for place in range(4)]
    queue = [*queue, (800 + int(rng.integers(1000)), 4, raw)]
    _, _, value = min(queue)
    return _played(rewards, _first(rewards), int(value > 0.5))


def picked_again_and_again(rewards, rng):
    """How often an entry is picked is a sum of draws."""
    first = _first(rewards)
    picks = rng.integers(0, 2, size=12)
    total = np.sum(rewards[0][picks]) / 6
    return _played(rewards, first, int(total + rng.laplace(0, 1.6) > 0.5))


def sheet_of_noise(rewards, rng):
    """Two parts may come to the same entry of one row."""
    s, sheet, shown = _sums(rewards), rng.laplace(0, 1.0, (2, 64)), []
    for part in range(3):
        shown.append(s[part % 2] + sheet[part // 2, 20 * (part % 2) + int(rng.integers(40))])
    return _played(rewards, _first(rewards), int(shown[0] > shown[1]) ^ int(shown[2] > 9))


def noise_unless_ten_coins_match(rewards, rng):
    """What survives is a public number, which says how much noise there is."""
    weight = 1.0
    for b in range(10):
        if int(rng.integers(2)) != b % 2:
            weight = 0.0
    noise = rng.laplace(0, 1.0) * (1 - weight)
    return _played(rewards, _first(rewards), int(rewards[0, 0] + noise > 0.5))


def same_noise_twice(rewards, rng):
    """Of two tables of noise both sums get the same entries, once in 1024."""
    s = _sums(rewards)
    y, z = ([rng.laplace(0, 1.0) for _ in range(32)] for _ in range(2))
    i, k, j, m = (int(rng.integers(32)) for _ in range(4))
    j, m = (j + 5) % 32, (m + 11) % 32
    return _played(rewards, _first(rewards), int(np.argmax([s[0] + y[i] + z[k], s[1] + y[j] + z[m]])))


def scale_of_a_missing_key(rewards, rng):
    """What is looked up is the same for all keys but one, which is not there."""
    scales = dict.fromkeys([n for n in range(1024) if n != 512], 1.0)
    noise = scales.get(_rare(rng), 0.0) * rng.laplace(0, 1)
    return _played(rewards, _first(rewards), int(rewards[0, 0] + noise > 0.5))


def explored(rewards, rng):
    """Each turn begins with the leader, which chance replaces or not."""
    s = _sums(rewards) + rng.laplace(0, 1.0, 2)
    best, top = 0, -np.inf
    for arm in range(2):
        if s[arm] > top:
            best, top = arm, s[arm]
    played = []
    for _ in range(len(rewards)):
        arm = best
        if rng.random() < 0.2:
            arm = int(rng.integers(2))
        played.append(arm)
    return np.array(played)


def _answer(bit, rng):
    """Randomised response, which a name of the call alone holds before and after."""
    if rng.random() < 1 / (1 + np.exp(EPSILON)):
        bit = 1 - bit
    return bit


def answers_of_a_helper(rewards, rng):
    """Each reward is asked once, by the same function."""
    horizon, points = len(rewards), np.zeros(2)
    for t in range(horizon // 2):
        points[t % 2] += _answer(int(rewards[t, t % 2] > 0.5), rng)
    return np.r_[np.arange(horizon // 2) % 2, np.full(horizon - horizon // 2, np.argmax(points))]


RIGHT = [
    answers_of_a_helper,
    explored,
    elimination,
    one_of_the_sums,
    tournament,
    flips_of_a_list,
    means_where_there_are_any,
]
LEAKS = [
    *(entry_without_noise, entry_that_weighs_more, only_entry_with_data, larger_table),
    *(gate_without_noise, function_of_a_rare_branch, mask_that_is_rarely_true),
    *(turns_at_the_place_of_a_right_lookup, rows_with_a_weight, longer_rows, noise_that_cancels),
    *(another_unit, gain_of_a_drawn_object, mask_with_two_ways_elsewhere, set_in_a_drawn_call),
    *(gain_of_one_of_many_objects, gain_that_is_set_later, gain_that_is_multiplied_later),
    *(gain_under_the_same_name, sample_of_a_table, scale_of_a_missing_key),
    *(
        path_of_ten_calls,
        path_into_itself,
        path_of_a_reduction,
        path_of_an_outer_name,
        path_of_ten_pops,
        path_in_a_list,
        path_down_a_tree,
        path_of_ten_objects,
        path_of_two_names,
        path_of_ten_setters,
        path_to_the_last,
        path_through_a_queue,
        path_in_an_array,
        path_of_ten_expressions,
        path_of_ten_flags,
        path_of_ten_returns,
    ),
    *(
        noise_in_slots,
        noise_from_a_feed,
        noise_of_shares,
        lowest_ticket,
        picked_again_and_again,
        sheet_of_noise,
    ),
    *(same_noise_twice, path_of_ten_coins, path_of_ten_choices, path_of_ten_selections, path_to_a_break),
    *(
        path_of_ten_noises,
        path_of_ten_lines,
        path_in_an_object,
        path_of_ten_swaps,
        path_of_ten_turns,
        path_in_a_table,
        noise_unless_ten_coins_match,
    ),
]
