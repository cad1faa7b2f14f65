"""What is another thing in another turn or call, where no loop is in sight: leaks of one run in hundreds.

EPSILON = 1 is claimed of each. A leak makes a table of weights in which one of hundreds is large, by state
that changes while the table is made, and weighs data with a drawn one. A right twin makes a table of means in
each of its phases, all by one expression.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, defaultdict, deque
from functools import partial

import numpy as np

EPSILON = 1.0
MANY = 400
FIRST = 2


def _place(rng):
    """One of many, by where two rows of noise are largest: no number that was drawn."""
    row, column = (int(np.argmax(rng.laplace(0, 1, 20))) for _ in range(2))
    return 20 * row + column


def _weighed(rewards, weights, rng):
    """Who leads by sums that one of many weights multiplies, after turns of both arms."""
    horizon, k = rewards.shape
    half, at = horizon // 2, _place(rng)
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    noisy = [weights[at] * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


def walrus(rewards, rng):
    n = 0
    return _weighed(rewards, [1000.0 if (n := n + 1) == 37 else 1.0 for _ in range(MANY)], rng)


def popped(rewards, rng):
    left = list(range(MANY))
    return _weighed(rewards, [1000.0 if left.pop() == 37 else 1.0 for _ in range(MANY)], rng)


def popped_in_a_loop(rewards, rng):
    left, weights = list(range(MANY)), []
    for _ in range(MANY):
        weights.append(1000.0 if left.pop() == 37 else 1.0)
    return _weighed(rewards, weights, rng)


def taken_from_the_front(rewards, rng):
    left, weights = list(range(MANY)), []
    for _ in range(MANY):
        weights.append(1000.0 if left[0] == 37 else 1.0)
        del left[0]
    return _weighed(rewards, weights, rng)


def heap(rewards, rng):
    left = list(range(MANY))
    return _weighed(rewards, [1000.0 if heapq.heappop(left) == 37 else 1.0 for _ in range(MANY)], rng)


def turned_round(rewards, rng):
    ring = deque(range(MANY))
    weights = [1000.0 if int(ring[0] + 0 * (ring.rotate(1) or 1)) == 37 else 1.0 for _ in range(MANY)]
    return _weighed(rewards, weights, rng)


def next_one(rewards, rng):
    left = iter(range(MANY))
    return _weighed(rewards, [1000.0 if next(left) == 37 else 1.0 for _ in range(MANY)], rng)


def taken_by_zip(rewards, rng):
    left = map(abs, range(MANY))
    weights = [
        1000.0 if max([n for _, n in zip("a", left, strict=False)]) == 37 else 1.0 for _ in range(MANY)
    ]
    return _weighed(rewards, weights, rng)


def counted(rewards, rng):
    left = itertools.count()
    return _weighed(rewards, [1000.0 if next(left) == 37 else 1.0 for _ in range(MANY)], rng)


def yielded(rewards, rng):
    def numbers():
        yield from range(MANY)

    left = numbers()
    return _weighed(rewards, [1000.0 if next(left) == 37 else 1.0 for _ in range(MANY)], rng)


def set_from_within(rewards, rng):
    n = 0

    def up():
        nonlocal n
        n = n + 1
        return n

    return _weighed(rewards, [1000.0 if up() == 37 else 1.0 for _ in range(MANY)], rng)


class Count:
    n = 0

    def up(self):
        self.n = self.n + 1
        return self.n


def attribute(rewards, rng):
    count = Count()
    return _weighed(rewards, [1000.0 if count.up() == 37 else 1.0 for _ in range(MANY)], rng)


def grown_elsewhere(rewards, rng):
    rows = [0]

    def up():
        rows.append(0)
        return len(rows)

    return _weighed(rewards, [1000.0 if up() == 37 else 1.0 for _ in range(MANY)], rng)


def cut_later(rewards, rng):
    left, weights = list(range(MANY + 1)), []
    for t in range(MANY):
        weights.append(1000.0 if left[t:][0] == 37 else 1.0)
    return _weighed(rewards, weights, rng)


def waits_for_its_turn(rewards, rng):
    size, weights = 1.0, []
    for t, one in enumerate(size for _ in range(MANY)):
        weights.append(one)
        size = 1000.0 if t == 37 else 1.0
    return _weighed(rewards, weights, rng)


def row_of_each_turn(rewards, rng):
    weights = []
    for t in range(MANY):
        size = 1000.0 if t == 37 else 1.0
        weights.extend([size for _ in range(1)])
    return _weighed(rewards, weights, rng)


def chained(rewards, rng):
    rows = itertools.chain(
        itertools.repeat(1.0, 37), itertools.repeat(1000.0, 1), itertools.repeat(1.0, MANY)
    )
    return _weighed(rewards, list(rows), rng)


def filled_with_a_row(rewards, rng):
    row = [1.0] * MANY
    row[37] = 1000.0
    return _weighed(rewards, np.full((2, MANY), row)[0], rng)


def made_when_asked(rewards, rng):
    ticks = itertools.count()
    weights = defaultdict(lambda: 1000.0 if next(ticks) == 37 else 1.0)
    for key in range(MANY):
        weights[key]
    return _weighed(rewards, weights, rng)


def made_by_map(rewards, rng):
    ticks = itertools.count()
    weights = map(lambda base: 1000.0 if next(ticks) == 37 else base, [1.0] * MANY)  # noqa: C417 - as users write it
    return _weighed(rewards, list(weights), rng)


def made_in_part(rewards, rng):
    ticket = partial(next, itertools.count())
    return _weighed(rewards, [1000.0 if ticket() == 37 else 1.0 for _ in range(MANY)], rng)


def corner(rewards, rng):
    band = np.tril(np.triu(np.ones((20, 20)), 19), 19)
    return _weighed(rewards, np.ravel(1.0 + 999.0 * band), rng)


def inserted(rewards, rng):
    weights = list(np.ones(MANY - 1))
    weights.insert(37, 1000.0)
    return _weighed(rewards, weights, rng)


def seldom_there(rewards, rng):
    horizon, k = rewards.shape
    half, at = horizon // 2, _place(rng)
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    special = dict.fromkeys([37], 1000.0)
    try:
        weight = special[at]
    except KeyError:
        weight = 1.0
    noisy = [weight * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


def first_of_the_rest(rewards, rng):
    horizon, k = rewards.shape
    half, at = horizon // 2, _place(rng)
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    weights = [1.0] * 37 + [1000.0] + [1.0] * (MANY - 38)
    weight = weights[at:][0]
    noisy = [weight * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


class Shelf:
    def __init__(self):
        self.made = 0

    def make(self):
        slot = Slot()
        slot.share = 1.0 + 999.0 * 0.0 ** abs(self.made - 37)
        self.made += 1
        return slot


class Slot:
    share = 1.0


def numbered_objects(rewards, rng):
    horizon, k = rewards.shape
    half, at, shelf = horizon // 2, _place(rng), Shelf()
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    slots = [shelf.make() for _ in range(MANY)]
    noisy = [slots[at].share * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


def characters(rewards, rng):
    horizon, k = rewards.shape
    half, at = horizon // 2, _place(rng)
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    text = "1" * 37 + "9" + "1" * (MANY - 38)
    noisy = [float(text[at]) ** 3 * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


def counts_of_others(rewards, rng):
    horizon, k = rewards.shape
    half, at = horizon // 2, _place(rng)
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    noisy = [(1 + 999 * Counter([37])[at]) * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half)


def _gained(rewards, gain, dice, rng):
    """The same with a weight that dice have set, which are shown in the end."""
    horizon, k = rewards.shape
    half, shown = horizon // 2, [int(die > 1) for die in dice]
    sums = [rewards[a:half:k, a].sum() for a in range(k)]
    noisy = [gain * s + rng.laplace(0, 1 / EPSILON) for s in sums]
    return list(np.arange(half) % k) + [int(np.argmax(noisy))] * (horizon - half - len(shown)) + shown


def _dice(rng, number=6):
    return [int(rng.integers(1, 4)) for _ in range(number)]


def truths(rewards, rng):
    dice = _dice(rng)
    twos = sum(die == 2 for die in dice)
    return _gained(rewards, 1.0 + 999.0 * (twos // 6), dice, rng)


def truths_in_a_row(rewards, rng):
    dice = np.array(_dice(rng))
    return _gained(rewards, 1.0 + 999.0 * int((dice == 2).sum() / 6), dice.tolist(), rng)


def colours(rewards, rng):
    dice, seen = [int(rng.integers(1, 7)) for _ in range(6)], set()
    for die in dice:
        seen.add(die)
    return _gained(rewards, 1.0 + 999.0 * (len(seen) // 6), dice, rng)


def buckets(rewards, rng):
    dice, found = _dice(rng), [[] for _ in range(4)]
    for die in dice:
        found[die].append(die)
    return _gained(rewards, 1.0 + 999.0 * (len(found[2]) // 6), dice, rng)


def ranking(rewards, rng):
    dice = [int(rng.integers(1, 10)) for _ in range(4)]
    code = 0
    for place in sorted(range(4), key=lambda place: dice[place]):
        code = 10 * code + place
    return _gained(rewards, 1.0 + 999.0 * (code == 2130), dice, rng)


def prefix(rewards, rng):
    dice = _dice(rng)
    first = list(itertools.takewhile(lambda place: dice[place] == 2, range(6)))
    return _gained(rewards, 1.0 + 999.0 * (len(first) // 6), dice, rng)


def streak(rewards, rng):
    dice = _dice(rng)
    streaks = list(itertools.accumulate(dice, lambda n, die: (n + 1) * (die == 2), initial=0))
    return _gained(rewards, 1.0 + 999.0 * (streaks[-1] // 6), dice, rng)


def places(rewards, rng):
    one, other = _dice(rng), _dice(rng)
    gain = 1.0 + 999.0 * (int(np.argmax(one)) // 5) * (int(np.argmax(other)) // 5)
    return _gained(rewards, gain, one, rng)


def product(rewards, rng):
    dice = [int(rng.integers(1, 10)) for _ in range(3)]
    parts = dice[0] * dice[1] * dice[2] / 125
    return _gained(rewards, 1.0 + 999.0 * parts.is_integer(), dice, rng)


def deleted(rewards, rng):
    dice, plan = _dice(rng, 7), [1.0] * 21 + [1000.0] + [1.0] * 20
    del plan[: sum(dice) + 7]
    return _gained(rewards, plan[0], dice, rng)


def padded(rewards, rng):
    dice = _dice(rng, 7)
    table = [1.0] * sum(dice) + [1000.0] + [1.0] * 20
    return _gained(rewards, table[20], dice, rng)


def last_turn(rewards, rng):
    dice, gain = _dice(rng), 1.0
    for turn in range(sum(dice)):
        gain = 1000.0 if turn == 16 else 1.0
    return _gained(rewards, gain, dice, rng)


def chosen_by_a_key(rewards, rng):
    """Right: the arm with the largest noisy sum."""
    horizon, k = rewards.shape
    half = horizon // 2
    noisy = [rewards[a:half:k, a].sum() + rng.laplace(0, 1 / EPSILON) for a in range(k)]
    leader = max(range(k), key=lambda a: noisy[a])
    return list(np.arange(half) % k) + [leader] * (horizon - half)


LEAKS = [
    *(walrus, popped, popped_in_a_loop, taken_from_the_front, heap, turned_round, next_one, taken_by_zip),
    *(counted, yielded, set_from_within, attribute, grown_elsewhere, cut_later, waits_for_its_turn),
    *(row_of_each_turn, chained, filled_with_a_row, made_when_asked, made_by_map, made_in_part, corner),
    *(inserted, seldom_there, first_of_the_rest, numbered_objects, characters, counts_of_others),
]
DRAWS = [
    *(truths, truths_in_a_row, colours, buckets, ranking, prefix, streak, places, product, deleted, padded),
    last_turn,
]


def a_part_at_a_fixed_place(rewards, rng):
    """One of 1024 cells holds a reward beside its noise, which another name put into it."""
    cells = [[] for _ in range(1024)]
    for cell in cells:
        cell.append(rng.laplace(0, 1.0))
    part = cells[7]
    part.append(rewards[0, 0])
    told = sum(cells[int(np.argmax(rng.laplace(0, 1.0, 1024)))])
    return [int(told > 0.5)] + [0] * (len(rewards) - 1)


def a_queue_that_is_not_empty(rewards, rng):
    """One of 1024 scales is there before the others, as a function without arguments gives it."""
    scales = _begun()
    for _ in range(7):
        scales.appendleft(1.0)
    for _ in range(1016):
        scales.append(1.0)
    return _scaled(rewards, scales, rng)


def a_queue_set_beside_another(rewards, rng):
    """As before, where two names are set at once."""
    scales, arms = deque([0.0]), []
    for _ in range(7):
        scales.appendleft(1.0)
    for _ in range(1016):
        scales.append(1.0)
    return arms + _scaled(rewards, scales, rng)


def a_queue_looped_over(rewards, rng):
    """As before, of a name that a loop sets."""
    for scales in [deque([0.0])]:
        for _ in range(7):
            scales.appendleft(1.0)
        for _ in range(1016):
            scales.append(1.0)
        return _scaled(rewards, scales, rng)


def a_queue_named_in_passing(rewards, rng):
    """As before, of a name that an expression sets."""
    if scales := deque([0.0]):
        for _ in range(7):
            scales.appendleft(1.0)
        for _ in range(1016):
            scales.append(1.0)
    return _scaled(rewards, scales, rng)


def a_queue_with_its_type(rewards, rng):
    """As before, of a name with an annotation."""
    scales: deque[float] = deque([0.0])
    for _ in range(7):
        scales.appendleft(1.0)
    for _ in range(1016):
        scales.append(1.0)
    return _scaled(rewards, scales, rng)


def _begun():
    return deque([0.0])


def _scaled(rewards, scales, rng):
    scale = scales[int(np.argmax(rng.laplace(0, 1.0, 1024)))]
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return [int(s > 0.5)] + [0] * (len(rewards) - 1)


PARTS = [
    *(a_part_at_a_fixed_place, a_queue_that_is_not_empty, a_queue_set_beside_another, a_queue_looped_over),
    *(a_queue_named_in_passing, a_queue_with_its_type),
]


def batches_by_another_name(rewards, rng):
    """Rewards wait in a list of their arm; with four of them their sum is told."""
    waiting, totals, arms = [[] for _ in range(2)], [0.0, 0.0], []
    for t in range(len(rewards)):
        arm = int(rng.integers(2)) if rng.random() < 0.5 else totals.index(max(totals))
        arms.append(arm)
        mine = waiting[arm]
        mine.append(rewards[t, arm])
        if len(mine) == 4:
            totals[arm] += sum(mine) + rng.laplace(0, 1.0)
            mine.clear()
    return arms


def windows_of_reports(rewards, rng):
    """The last reports of each arm; their means."""
    windows, arms = [deque(maxlen=3) for _ in range(2)], []
    for t in range(len(rewards)):
        means = [sum(one) / len(one) if one else 1.0 for one in windows]
        arms.append(int(np.argmax(means)))
        windows[arms[-1]].append(rewards[t, arms[-1]] + rng.laplace(0, 1.0))
    return arms


def halves_by_numpy(rewards, rng):
    """The better half goes on; how many there are follows from how many there were."""
    (rounds, arms), told = rewards.shape, []
    left = np.arange(arms)
    while len(left) > 1 and len(told) + 4 * left.size <= rounds:
        played = np.repeat(left, 4)
        at = len(told) + np.arange(played.size)
        sums = rewards[at, played].reshape(left.size, 4).sum(axis=1)
        order = np.argsort(-(sums + rng.laplace(0, 1.0, left.size)))
        told = [*told, *played]
        left = np.take_along_axis(left, order[: left.size // 2], axis=0)
    return told + [int(left[0])] * (rounds - len(told))


def best_of_a_heap(rewards, rng):
    """Blocks of three rounds of what the heap gives first; it is given the noisy sum."""
    number, arms = rewards.shape[1], []
    heap = [(0.0, arm) for arm in range(number)]
    heapq.heapify(heap)
    for start in range(0, len(rewards), 3):
        for _ in range(number):
            _, arm = heap[0]
        block = rewards[start : start + 3, arm].sum() + rng.laplace(0, 1.0)
        arms += [arm] * len(rewards[start : start + 3])
        heapq.heapreplace(heap, (-block, arm))
    return arms


def added_at_places(rewards, rng):
    """Arms that are drawn at once; their rewards are added up where they belong, and told with noise."""
    sums, arms = np.zeros(2), []
    for start in range(0, len(rewards), 6):
        drawn = rng.choice(2, size=6, p=_shares(sums))
        got = rewards[np.arange(start, start + 6), drawn]
        more = np.zeros(2)
        np.add.at(more, drawn, got)
        sums = sums + more + rng.laplace(0, 1.0, 2)
        arms += [int(arm) for arm in drawn]
    return arms


def _shares(sums):
    weights = np.exp(np.clip(sums / 20, -5, 5))
    return weights / weights.sum()


FACTS = [batches_by_another_name, windows_of_reports, halves_by_numpy, best_of_a_heap, added_at_places]


def _special(rewards, scales, rng):
    """The scale that a drawn one of 4096 is; the usual one is 1."""
    scale = scales[int(rng.random() * 4096)]
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return [int(s > 0.5)] + [0] * (len(rewards) - 1)


def appended_to_a_history(rewards, rng):
    scales, history = [1.0] * 4096, []
    history.append(scales)
    history[0][700] = 1e-6
    return _special(rewards, scales, rng)


def pushed_on_a_heap(rewards, rng):
    scales, queue = [1.0] * 4096, []
    heapq.heappush(queue, scales)
    queue[0][700] = 1e-6
    return _special(rewards, scales, rng)


def added_to_a_ledger(rewards, rng):
    scales, ledger = [1.0] * 4096, []
    ledger += [scales]
    ledger[0][700] = 1e-6
    return _special(rewards, scales, rng)


def set_with_a_step(rewards, rng):
    scales = np.ones(4096)
    scales[::-5000] = 1e-6
    return _special(rewards, scales, rng)


class _Sized:
    def __init__(self):
        self.size = [1.0] * 4096
        self.size[700] = 1e-6


def named_like_a_shape(rewards, rng):
    return _special(rewards, _Sized().size, rng)


def extended_by_one_name(rewards, rng):
    scales, part = [], [1.0] * 700
    scales.extend(part)
    part = [1e-6]
    scales.extend(part)
    part = [1.0] * 3395
    scales.extend(part)
    return _special(rewards, scales, rng)


def _in_parts():
    yield from [1.0] * 700
    yield 1e-6
    yield from [1.0] * 3395


def yielded_in_parts(rewards, rng):
    return _special(rewards, [*_in_parts()], rng)


def one_of_two_results(rewards, rng):
    chosen = math.modf(1.000001)[int(int(rng.random() * 4096) != 700)]
    s = rewards[0, 0] + chosen * rng.laplace(0, 1.0)
    return [int(s > 0.5)] + [0] * (len(rewards) - 1)


def marked_at_a_fixed_place(rewards, rng):
    marks = [[] for _ in range(4096)]
    marks[700].append(1.0)
    scale = 1.0 - 0.999999 * len(marks[int(rng.random() * 4096)])
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return [int(s > 0.5)] + [0] * (len(rewards) - 1)


def marked_at_a_drawn_place(rewards, rng):
    marks = [[] for _ in range(4096)]
    mine = marks[int(rng.random() * 4096)]
    mine.append(1.0)
    s = rewards[0, 0] + (1.0 - 0.999999 * len(marks[700])) * rng.laplace(0, 1.0)
    return [int(s > 0.5)] + [0] * (len(rewards) - 1)


def _note(row, value):
    row.append(value)


def noted_by_a_helper(rewards, rng):
    rows = [[1.0] * 4095 for _ in range(1)]
    _note(rows[int(rng.random())], 1e-6)
    return _special(rewards, rows[0], rng)


def edges_of_bins(rewards, rng):
    scales = np.ones(4097)
    _, edges = np.histogram([1.0], bins=scales)
    edges[700] = 1e-6
    return _special(rewards, scales, rng)


SHARED = [
    *(appended_to_a_history, pushed_on_a_heap, added_to_a_ledger, set_with_a_step, named_like_a_shape),
    *(extended_by_one_name, yielded_in_parts, one_of_two_results, marked_at_a_fixed_place),
    *(marked_at_a_drawn_place, noted_by_a_helper, edges_of_bins),
]


class _Dial:
    def __init__(self):
        self.at = 1.0

    def turn(self, to):
        self.at = to


def turned_by_its_class(rewards, rng):
    """A draw says which of two calls, each by the class, gives a number."""
    dial = _Dial()
    if rng.random() < 0.5:
        _Dial.turn(dial, 1.0)
    else:
        _Dial.turn(dial, 2.0)
    return [0] * len(rewards)
