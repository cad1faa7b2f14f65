"""The contract of algorithms: one definition that is batched, replayed, compiled and used live alike."""

import dataclasses

import numpy as np
import pytest

from tests.live import quick_folder
from verifiable_dp import make, simulate
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Binomial, Pulled, Table, TwoPoint
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import Prefix

NAMES = registry.names()
RUNS = 24


def small(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **auditor.small})


def instance(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**auditor.instance)


def table_of(algorithm, seed=0):
    rng = np.random.default_rng(seed)
    low, high = algorithm.search_bounds
    return low + (high - low) * rng.integers(0, 2, (algorithm.horizon, algorithm.n_arms)).astype(float)


class Arms:
    """Keeps the arm of every round of one run."""

    def __init__(self):
        self.played = []

    def block(self, position, query):
        self.played += [int(query.arm(np.array([step]))[0]) for step in range(int(query.rounds[0]))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [small, instance])
def test_a_run_does_not_depend_on_its_batch(name, size):
    algorithm = size(name)
    table = table_of(algorithm)
    whole = play(algorithm, Table(table), Seeded(3), np.arange(RUNS))
    for part in ([0], [RUNS - 1], [5, 2, 11]):
        alone = play(algorithm, Table(table), Seeded(3), np.array(part))
        assert np.array_equal(alone.pulls, whole.pulls[part])
        assert np.array_equal(alone.output, whole.output[part], equal_nan=True)
        width = alone.actions.shape[1]
        assert np.array_equal(alone.actions, whole.actions[part][:, :width])
        assert (whole.actions[part][:, width:] == -1).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_run_plays_its_horizon_and_no_more(name):
    algorithm = instance(name)
    outcome = play(algorithm, Table(table_of(algorithm)), Seeded(3), np.arange(RUNS))
    total = outcome.pulls.sum(axis=1)
    assert (total <= algorithm.horizon).all()
    if algorithm.n_arms > 1:
        assert (total == algorithm.horizon).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_live_session_is_a_run(name, seed):
    """Round by round, the session selects what `play` selects, and ends in the same state."""
    algorithm = small(name)
    table = table_of(algorithm, seed)
    arms = Arms()
    outcome = play(algorithm, Table(table), Seeded(seed), np.zeros(1, np.int64), watch=arms)
    expected = arms.played
    assert np.bincount(expected, minlength=algorithm.n_arms).tolist() == outcome.pulls[0].tolist()
    session = algorithm.session(seed=seed)
    chosen = []
    while not session.finished:
        arm = session.select()
        assert session.select() == arm
        session.update(table[session.rounds, arm])
        chosen.append(arm)
    assert chosen == expected
    assert session.rounds == len(expected)
    for field in dataclasses.fields(outcome.final):
        assert np.array_equal(
            getattr(outcome.final, field.name), getattr(session.state, field.name), equal_nan=True
        )
    with pytest.raises(InputError, match="finished"):
        session.select()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -float("inf"), None, "1"])
def test_a_live_session_refuses_a_bad_reward_and_stays_as_it_was(name, reward):
    session = small(name).session(seed=0)
    before = (session.rounds, session.select())
    with pytest.raises(InputError, match="reward must be finite and lie within"):
        session.update(reward)
    assert (session.rounds, session.select()) == before


@pytest.fixture
def quick():
    with quick_folder() as folder:
        yield folder


class Counted:
    """Counts what is drawn, by kind."""

    def __init__(self, seed):
        self.inner, self.draws = Seeded(seed), {"laplace": 0, "reports": 0, "hidden": 0}

    def __call__(self, draw):
        kind = "hidden" if draw.hidden else "laplace" if draw.count is None else "reports"
        self.draws[kind] += int(draw.where.sum())
        return self.inner(draw)


class Blocks:
    """Keeps the round after each block of one run."""

    def __init__(self):
        self.ends = []

    def block(self, position, query):
        self.ends.append(int(query.start[0] + query.rounds[0]))


def stops_of(algorithm, table, seed):
    """Rounds to save at: the start, the end, inside blocks, right before and right after releases."""
    blocks = Blocks()
    play(algorithm, Table(table), Seeded(seed), np.zeros(1, np.int64), watch=blocks)
    ends = blocks.ends
    middle = (([0, *ends])[-2] + ends[-1]) // 2
    around = {end + step for end in (ends[0], ends[len(ends) // 2]) for step in (-1, 0, 1)}
    return sorted(stop for stop in {0, 1, middle, ends[-1] - 1, ends[-1], *around} if 0 <= stop <= ends[-1])


def go_on(session, table, arms, until):
    """Play up to round `until`; append the arms."""
    while not session.finished and session.rounds < until:
        arm = session.select()
        session.update(table[session.rounds, arm])
        arms.append(arm)


def same_records(one, two):
    return type(one) is type(two) and all(
        np.array_equal(getattr(one, field.name), getattr(two, field.name), equal_nan=True)
        for field in dataclasses.fields(one)
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("counted", [False, True])
def test_a_session_that_was_saved_and_restored_is_one_that_was_not(name, counted, quick):
    """Once at each stop, and through all stops: same arms, states, memories and numbers of draws."""
    algorithm, path = small(name), quick / "session"
    table = table_of(algorithm)
    stops = stops_of(algorithm, table, 7)

    def start():
        noise = Counted(7) if counted else None
        return noise, algorithm.session(noise=noise) if counted else algorithm.session(seed=7)

    noise, whole = start()
    expected = []
    go_on(whole, table, expected, algorithm.horizon)
    draws = noise.draws if counted else None
    for chosen in [*([stop] for stop in stops), stops]:
        noise, session = start()
        path.unlink(missing_ok=True)
        arms = []
        for stop in chosen:
            go_on(session, table, arms, stop)
            session.save(path)
            session.close()
            before, session = session, algorithm.restore(path, noise=noise, seeded=not counted)
            assert session.rounds == before.rounds == min(stop, len(expected))
            assert same_records(session.state, before.state)
        go_on(session, table, arms, algorithm.horizon)
        assert arms == expected
        assert same_records(session.state, whole.state)
        assert same_records(session._now.memory, whole._now.memory)
        session.close()
        assert not counted or noise.draws == draws


@pytest.mark.parametrize("name", NAMES)
def test_a_session_restored_from_before_a_release_draws_again(name, quick):
    """The counter's control: an old file makes more draws than an uninterrupted session."""
    algorithm, path = small(name), quick / "session"
    table, noise = table_of(algorithm), Counted(7)
    session = algorithm.session(noise=noise, path=path)
    backup = path.read_bytes()
    with session, session.batch():
        go_on(session, table, [], algorithm.horizon)
    once = dict(noise.draws)
    assert sum(once.values()) > 0
    path.write_bytes(backup)
    with algorithm.restore(path, noise=noise) as session, session.batch():
        go_on(session, table, [], algorithm.horizon)
    assert noise.draws == {kind: 2 * count for kind, count in once.items()}


@pytest.mark.parametrize("name", NAMES)
def test_replay_on_the_same_input_costs_nothing(name):
    algorithm = instance(name)
    pair = registry.auditor(name).pairs(algorithm)[0]

    @dataclasses.dataclass(frozen=True)
    class Same:
        def worlds(self):
            left = pair.worlds()[0]
            return left, left

    done = alignment.replay(algorithm, Same(), seed=4, runs=8)
    assert not done.diverged
    if len(done.tape.hidden.address):  # the threshold's noise moves in any case
        assert (done.cost <= algorithm.claim.epsilon).all()
    else:
        assert not done.cost.any()
        assert not done.loss.any()


# The dear ones by day in unit/algorithms: test_dp_ucb_kernel.py and test_dp_robust_elimination.py.
# Lazy DP-TS plays in blocks, by law alone: unit/algorithms/test_schedules.py.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("dp-ucb", "dp-robust-ucb") else [])
        for name in NAMES
        if hasattr(instance(name), "kernel") and name != "lazy-dp-ts"
    ],
)
def test_the_kernel_plays_the_definition_draw_for_draw(name):
    algorithm = small(name)
    low, high = algorithm.search_bounds
    # Means near one another, and a clear best one.
    for share in (0.5, 0.8):
        shares = np.where(np.arange(algorithm.n_arms) == 1 % algorithm.n_arms, share, 0.5)
        environment = TwoPoint(tuple(low + (high - low) * shares), low, high)
        run = np.arange(RUNS)
        times = np.array([1, max(1, algorithm.horizon // 3), algorithm.horizon])
        pulls, at_times, output = algorithm.kernel(environment, 9, run, times)
        rewards = Pulled(environment, key_of(9, (1,)), np.zeros((RUNS, algorithm.n_arms), np.int64))
        outcome = play(algorithm, rewards, Seeded(9, (0,)), run)
        assert np.array_equal(pulls, outcome.pulls)
        assert np.array_equal(at_times[:, -1], pulls)
        assert np.array_equal(output, outcome.output, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_results_do_not_depend_on_the_workers(name):
    algorithm = small(name)
    low, high = algorithm.search_bounds
    environment = TwoPoint(tuple(np.linspace(high - 0.1, low + 0.1, algorithm.n_arms)), low, high)
    one, two = (simulate(algorithm, environment, runs=9, seed=4, workers=w) for w in (1, 2))
    assert np.array_equal(one.pulls, two.pulls)
    assert np.array_equal(one.regrets, two.regrets)
    assert np.array_equal(one.output, two.output, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_make_the_same_algorithm(name):
    algorithm = instance(name)
    assert make(name, **algorithm.parameters) == algorithm
    assert all(value is not None for value in algorithm.parameters.values())


@pytest.mark.parametrize("name", [n for n in NAMES if "n_arms" in small(n).parameters])
def test_a_prefix_plays_the_first_rounds(name):
    algorithm = small(name)
    cut = Prefix(algorithm, algorithm.horizon // 2)
    table = table_of(algorithm)
    whole, part = Arms(), Arms()
    run = np.zeros(1, np.int64)
    play(algorithm, Table(table), Seeded(1), run, watch=whole)
    play(cut, Table(table), Seeded(1), run, watch=part)
    assert part.played == whole.played[: cut.horizon]


BAD = [
    ("n_arms", 1),
    ("n_arms", 2.5),
    ("horizon", 1),
    ("horizon", 0),
    ("epsilon", 0.0),
    ("epsilon", -1.0),
    ("epsilon", float("inf")),
    ("epsilon", float("nan")),
    ("epsilon", None),
    ("beta", 0.0),
    ("beta", 1.0),
    ("beta", float("nan")),
    ("alpha", 0.0),
    ("alpha", 1.0),
    ("radius", 0.0),
    ("gamma", 0.0),
    ("leaves", 0),
]


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (n, f, v)
        for n in NAMES
        for f, v in BAD
        if f in instance(n).parameters and not (f == "horizon" and v == 1 == instance(n).n_arms)
    ],
)
def test_a_bad_parameter_is_refused_in_one_line_that_names_it(name, field, value):
    with pytest.raises(InputError, match=field) as error:
        make(name, **{**instance(name).parameters, field: value})
    assert "\n" not in str(error.value)


def test_an_unknown_name_or_parameter_is_refused():
    with pytest.raises(InputError, match="dp-see"):
        make("dp-see")
    with pytest.raises(InputError, match="colour"):
        make("dp-se", n_arms=2, epsilon=1.0, horizon=10, colour="red")


def test_block_sums_have_the_law_of_pulls():
    """Binomial block sums and rewards pull by pull give DP-SE the same mean regret (6 standard errors)."""
    algorithm = make("dp-se", n_arms=2, epsilon=1.0, horizon=20_000, beta=0.2)
    environment = TwoPoint((0.9, 0.4))
    run = np.arange(400)
    by_block = play(algorithm, Binomial(environment, 1), Seeded(1), run).pulls @ environment.gaps
    by_pull = play(algorithm, environment.pulled(2, 400), Seeded(2), run).pulls @ environment.gaps
    error = np.hypot(by_block.std() / 20, by_pull.std() / 20)
    assert abs(by_block.mean() - by_pull.mean()) <= 6 * error + 1e-9
