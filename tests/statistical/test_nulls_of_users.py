"""No right program of a user is ever accused, whatever its noise is made of.

The programs are those of `tests/user_code/nulls`, which were written without a look at the auditor;
The tests at the end check that they are right. Each audit has a level of 1e-6. Negative controls: the
same audits refute twins of the same programs, with less noise or with one raw reward that decides.
"""

import functools
import inspect
import itertools
import math
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
import scipy.stats

import verifiable_dp as vdp
from tests.null_programs import FOLDER, index, outputs, run_class
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


# The right programs are right: checked without the framework, by enumeration and by counting.
#
# Negative control: where a program reaches its claim exactly, the same counts reject 0.7 of that claim.


BY_HAND = {by_hand.name: by_hand for by_hand in index()}

# A count is held against the claim at this level. A program has some thousand counts at most, so a right one
# fails with a probability below 1e-10.
LEVEL = 1e-14


# ---------------------------------------------------------------------------------------------- enumeration


class Coin:
    """A uniform number, times a factor, of which only comparisons are known; each goes both ways in turn."""

    def __init__(self, paths, factor=1.0, known=None):
        self.paths, self.factor, self.known = paths, factor, known or [0.0, 1.0]

    def __mul__(self, factor):
        return Coin(self.paths, self.factor * factor, self.known)

    def __lt__(self, bound):
        low, high = self.known
        cut = min(max(bound / self.factor, low), high)
        p = (cut - low) / (high - low)
        if p in (0.0, 1.0):
            return p == 1.0
        below = self.paths.fork([p, 1 - p]) == 0
        self.known[:] = (low, cut) if below else (cut, high)
        return below

    def __ge__(self, bound):
        return not self < bound

    __le__, __gt__ = __lt__, __ge__


class Paths:
    """Stands for a generator, and takes every outcome of every draw in turn, with its probability."""

    def __init__(self):
        self.plan = []

    def fork(self, p):
        if self.depth == len(self.plan):
            self.plan.append(0)
            self.widths.append(len(p))
        outcome = self.plan[self.depth]
        self.depth += 1
        self.probability *= p[outcome]
        return outcome

    def random(self, size=None):
        if size is None:
            return Coin(self)
        return np.array([Coin(self) for _ in range(size)], dtype=object)

    uniform = random

    def integers(self, low, high=None):
        low, high = (0, low) if high is None else (low, high)
        return low + self.fork([1 / (high - low)] * (high - low))

    def permutation(self, n):
        orders = list(itertools.permutations(range(n)))
        return orders[self.fork([1 / len(orders)] * len(orders))]

    def choice(self, values, size=None, p=None):
        values = list(range(values)) if isinstance(values, int) else values
        if size is None:
            return values[self.fork(list(p))]
        return np.array([values[self.fork(p)] for _ in range(size)])

    def law(self, run):
        """Probability of each outcome of `run`."""
        law = defaultdict(float)
        self.plan, self.widths = [], []
        while True:
            self.depth, self.probability = 0, 1.0
            outcome = run()
            if self.probability > 0:
                law[outcome] += self.probability
            while self.plan and self.plan[-1] == self.widths[-1] - 1:
                self.plan.pop()
                self.widths.pop()
            if not self.plan:
                return law
            self.plan[-1] += 1


def worst_loss(by_hand, horizon, cells):
    """Exact largest log ratio of probabilities over all tables of 0 and 1 in `cells` and their neighbours."""
    code = by_hand.load()
    paths = Paths()
    laws = {}
    for bits in itertools.product((0.0, 1.0), repeat=len(cells)):
        rewards = np.zeros((horizon, by_hand.n_arms))
        for (t, arm), bit in zip(cells, bits, strict=True):
            rewards[t, arm] = bit

        def run(rewards=rewards):
            if by_hand.kind == "class":
                return tuple(int(a) for a in run_class(seeded(code, paths), rewards, paths))
            return tuple(int(a) for a in code(rewards, paths))

        laws[bits] = paths.law(run)
        assert math.isclose(sum(laws[bits].values()), 1)
    worst = 0.0
    for bits, law in laws.items():
        for i in range(len(bits)):
            other = laws[(*bits[:i], 1 - bits[i], *bits[i + 1 :])]
            worst = max([worst, *(math.log(p / other[a]) if other[a] else math.inf for a, p in law.items())])
    return worst


def seeded(cls, paths):
    """The class; one that makes its own generator gets `paths` for it."""
    if "seed" not in inspect.signature(cls).parameters:
        return cls

    def make(n_arms, rng):
        bandit = cls(n_arms, seed=0)
        bandit.coins = paths
        return bandit

    return make


def played(n_arms, rounds):
    """Cells that a round robin reads."""
    return [(t, t % n_arms) for t in range(rounds)]


def all_cells(horizon, n_arms):
    """All cells of a table."""
    return list(itertools.product(range(horizon), range(n_arms)))


# Program: rounds, and the cells that are varied (the others stay 0).
ENUMERATED = {
    "one_response_at_the_end": (7, played(3, 6)),
    "one_flip_at_the_end": (10, played(2, 5)),
    "follow_the_reports": (5, all_cells(5, 2)),
    "echo": (5, all_cells(5, 2)),
    "echo_with_flips_first": (5, all_cells(5, 2)),
    "win_stay_lose_shift": (3, all_cells(3, 3)),
    "unbiased_bits": (5, all_cells(5, 2)),
    "two_coins": (4, all_cells(3, 2)),
    "three_reports_each": (3, all_cells(3, 2)),
    "majority_of_a_block": (11, [(t, a) for t in (0, 1, 2, 5, 6) for a in (0, 1)]),
    "signs": (5, all_cells(5, 2)),
    "repeats_its_first_answer": (4, all_cells(2, 2)),
    "exponential_mechanism": (10, played(3, 9)),
    "full_exponent": (5, played(2, 4)),
    "permute_and_flip": (10, played(3, 9)),
    "alias_table": (7, played(3, 6)),
    "a_little_each_round": (6, all_cells(4, 2)),
    "Echo": (5, all_cells(5, 2)),
    "Patience": (4, all_cells(3, 3)),
    "responses.four_levels": (7, [(0, 0), (3, 0)]),
}


def each(names, by_day):
    """What is not among `by_day` is slow: nothing but an edit of a program itself can make it wrong."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=[] if name in by_day else pytest.mark.slow) for name in names]
    )


@each(
    ENUMERATED, {"one_flip_at_the_end", "win_stay_lose_shift", "signs", "exponential_mechanism", "Patience"}
)
def test_enumerated_loss_is_at_most_the_claim(name):
    by_hand = BY_HAND[name]
    worst = worst_loss(by_hand, *ENUMERATED[name])
    assert 0 < worst <= by_hand.epsilon + 1e-9
    if by_hand.boundary:
        assert worst > by_hand.epsilon - 1e-9


# -------------------------------------------------------------------------------------------------- counting


def neighbours(by_hand):
    """Pairs of neighbouring inputs on which losses are obvious."""
    if not by_hand.horizon:
        pairs = getattr(by_hand.load(), "neighbours", None)
        return pairs or [(0.0, 1.0), (1.0, 0.0), (0.5, 1.0), (0.2, 0.7)]
    shape = (by_hand.horizon, by_hand.n_arms)
    drawn = np.random.default_rng(len(by_hand.name)).integers(0, 2, shape).astype(float)
    pairs = []
    for table, cell in (
        *((np.zeros(shape), (0, 0)), (np.ones(shape), (0, 1)), (np.zeros(shape), (1, 1))),
        *((np.full(shape, 0.5), (0, 0)), (drawn, (2, 0)), (drawn, (0, 0)), (1 - drawn, (3, 1))),
    ):
        left, right = table.copy(), table.copy()
        left[cell], right[cell] = 0.0, 1.0
        pairs.append((left, right))
    return pairs


def counts_of_events(left, right, discrete):
    """How often each of many events came on both sides: prefixes and single columns, or thresholds."""
    pairs = []
    columns = left.shape[1]
    if discrete:
        for stop in range(1, columns + 1):
            a, b = (Counter(map(bytes, np.ascontiguousarray(x[:, :stop]))) for x in (left, right))
            pairs += [(a[key], b[key]) for key in a.keys() | b.keys()]
    for j in range(columns):
        x, y = left[:, j], right[:, j]
        if discrete:
            values = np.unique(np.concatenate([x, y]))
            pairs += [((x == value).sum(), (y == value).sum()) for value in values]
        else:
            cuts = np.nanquantile(np.concatenate([x, y]), np.linspace(0.002, 0.998, 60))
            pairs += [((x <= cut).sum(), (y <= cut).sum()) for cut in cuts]
            pairs += [((x >= cut).sum(), (y >= cut).sum()) for cut in cuts]
            inside = np.array([np.histogram(side, np.unique(cuts))[0] for side in (x, y)])
            pairs += list(map(tuple, inside.T))
    return np.array([pair for pair in pairs if sum(pair) >= 30]).reshape(-1, 2)


def smallest_p(by_hand, epsilon, runs, seed=0):
    """Smallest p-value, over pairs and events, of the hypothesis that the loss is at most `epsilon`.

    Blocks of both sides alternate in a random order, so that what calls share does not tell sides apart.
    """
    code = by_hand.load()
    rng = np.random.default_rng(seed)
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    smallest = 1.0
    calls_matter = re.search("calls|clock|process", by_hand.source)
    for pair in neighbours(by_hand):
        block = 1 if calls_matter else max(1, runs // 8)
        drawn = ([], [])
        for _ in range(runs // block):
            for side in rng.permutation(2):
                drawn[side].append(outputs(by_hand, code, pair[side], rng, block))
        left, right = (np.concatenate(side) for side in drawn)
        discrete = left.dtype.kind in "iub"
        counts = counts_of_events(left, right, discrete)
        for hits in (counts, counts[:, ::-1]):
            if len(hits):
                smallest = min(smallest, scipy.stats.binom.sf(hits[:, 0] - 1, hits.sum(axis=1), share).min())
    return smallest


# What the clock shows differs between blocks; `rotates_by_calls` and `row_by_row` are the same but for it.
TIMED = {"by_the_clock", "clock_shift"}
FAST = ["two_geometrics", "staircase_noise", "sampled_rewards", "noisy_maximum_exponential", "sparse_vector"]
FAST += [
    "sparse_vector_of_counts",
    "echo_many_at_five",
    "one_order_a_call",
    "two_cohorts",
    "rejection_sampling",
]
FAST += [name for name, by_hand in BY_HAND.items() if by_hand.reference.startswith("mechanisms")]


@each(FAST, {"two_geometrics", "staircase_noise", "sparse_vector", "echo_many_at_five", "rejection_sampling"})
def test_counts_agree_with_the_claim(name):
    assert smallest_p(BY_HAND[name], BY_HAND[name].epsilon, 4000) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_HAND.keys() - TIMED))
def test_counts_of_all_programs_agree_with_their_claims(name):
    runs = 30_000 if BY_HAND[name].kind in {"play_many", "release"} else 3000
    assert smallest_p(BY_HAND[name], BY_HAND[name].epsilon, runs, seed=1) > LEVEL


@each(
    [name for name in FAST if BY_HAND[name].boundary],
    {"two_geometrics", "staircase_noise", "echo_many_at_five"},
)
def test_counting_rejects_seven_tenths_of_a_claim_that_is_reached(name):
    runs = 12_000 if BY_HAND[name].horizon else 60_000
    assert smallest_p(BY_HAND[name], 0.7 * BY_HAND[name].epsilon, runs) < LEVEL


# ----------------------------------------------------------------------------------------------------- index


def test_the_index_names_every_program_with_its_claim():
    """Every function or class that is a target is in the index, and docstring, default and index agree."""
    found = set()
    for file in FOLDER.glob("*.py"):
        heads = r"^(?:def (\w+)\((?:rewards, (?:n_runs, )?rng|data, (?:size, )?rng)\b|class (\w+))"
        for match in re.finditer(heads, file.read_text(), re.MULTILINE):
            found.add(f"{file.name}:{match[1] or match[2]}")
    assert found == {by_hand.reference for by_hand in BY_HAND.values()}
    assert len(BY_HAND) >= 64
    for by_hand in BY_HAND.values():
        code = by_hand.load()
        said = re.match(r"Epsilon (log 3|[\d.]+)(, exactly)?", inspect.getdoc(code))
        claim = math.log(3) if said[1] == "log 3" else float(said[1])
        assert claim in (0, by_hand.epsilon), by_hand.name
        assert bool(said[2]) == by_hand.boundary, by_hand.name
        default = inspect.signature(code).parameters.get("epsilon")
        assert default is None or default.default == by_hand.epsilon, by_hand.name


def test_no_program_imports_the_framework():
    programs = list(FOLDER.glob("*.py"))
    assert len(programs) > 10
    for file in programs:
        assert "verifiable_dp" not in file.read_text()
