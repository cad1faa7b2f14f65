"""What Thompson sampling tells: composition of its draws, the law of its actions, and the bound on it."""

import itertools
import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import thompson
from verifiable_dp import make
from verifiable_dp.algorithms._episodes import TurnState
from verifiable_dp.algorithms.gaussian_ts import GaussianTS
from verifiable_dp.auditors import gaussian_ts
from verifiable_dp.auditors._sampling import AnyRewards, Losses, TwoArms, composed_mu, worst_mu
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import gdp_epsilon
from verifiable_dp.core.environments import Table
from verifiable_dp.core.noise import Hidden, Secure, Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import branching, certify, normal
from verifiable_dp.evidence.forced_runs import NotOfFormError
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.mutants import noise_times

HORIZON = 9


def chance(arms, rewards, changed, reward, variance=1.0, first=1):
    """Of a sequence of arms after the first pulls in turn, term by term."""
    pulls, paid = [0, 0], [0.0, 0.0]
    whole = 1.0
    for t, arm in enumerate([0, 1] * first + list(arms)):
        if t >= 2 * first:
            means = [paid[a] / (pulls[a] + 1) for a in (0, 1)]
            spread = math.sqrt(sum(variance / (pulls[a] + 1) for a in (0, 1)))
            whole *= norm.cdf((means[arm] - means[1 - arm]) / spread)
        pulls[arm] += 1
        paid[arm] += reward if (arm, pulls[arm]) == (0, changed) else rewards[arm]
    return whole


def listed(rewards, changed, variance=1.0, first=1):
    """Every sequence of arms, with its probability in both worlds."""
    after = HORIZON - 2 * first
    both = [
        [chance(arms, rewards, changed, reward, variance, first) for reward in (0.0, 1.0)]
        for arms in itertools.product((0, 1), repeat=after)
    ]
    return Losses(*np.array(both).T)


@pytest.mark.parametrize(
    ("rewards", "changed", "variance", "first"),
    [
        ((0.0, 1.0), 1, 1.0, 1),
        ((0.75, 0.25), 1, 1.0, 1),
        ((0.5, 0.5), 3, 1.0, 1),
        ((0.2, 0.9), 2, 2.5, 2),
    ],
)
def test_the_law_of_actions_is_that_of_all_sequences(rewards, changed, variance, first):
    """Never above it, and by the bins' width no more than .02 below; the listed law adds up to 1."""
    exact = listed(rewards, changed, variance, first)
    assert exact.left.sum() == pytest.approx(1)
    assert exact.right.sum() == pytest.approx(1)
    found = TwoArms(rewards, changed, variance, first).losses([HORIZON])[HORIZON]
    for delta in (1e-6, 1e-3, 0.1):
        assert exact.epsilon(delta) - 0.02 <= found.epsilon(delta) <= exact.epsilon(delta) + 1e-9
    other = TwoArms(rewards, changed, 0.9 * variance, first).losses([HORIZON])[HORIZON]
    assert other.epsilon(1e-3) > exact.epsilon(1e-3) + 0.02  # the control: a tenth less variance


def test_paths_that_are_left_out_only_lower_epsilon():
    whole, cut = (TwoArms((0.5, 0.5), most=most).losses([40])[40] for most in (100, 12))
    assert cut.left.sum() < 0.9 < whole.left.sum()
    assert 0 < cut.epsilon(1e-3) < whole.epsilon(1e-3)
    assert TwoArms((0.5, 0.5), most=1).losses([40])[40].epsilon(0.01) == 0


@pytest.mark.parametrize("rewards", [(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (1.0, 0.0), (0.0, 0.0)])
def test_no_constant_rewards_exceed_the_bound(rewards):
    """At T = 30; the largest of them comes within a fifth of it."""
    most = AnyRewards().epsilon(30, 1e-6)
    assert TwoArms(rewards).losses([30])[30].epsilon(1e-6) <= most
    assert TwoArms((1.0, 0.0)).losses([30])[30].epsilon(1e-6) >= 0.8 * most
    # The control: a bound that allows for a smaller change is no bound on a change of 1.
    smaller = [AnyRewards(share=share).epsilon(30, 1e-6) for share in (0.25, 0.5, 0.75)]
    assert smaller == sorted(smaller)
    assert smaller[1] < TwoArms((1.0, 0.0)).losses([30])[30].epsilon(1e-6)
    assert smaller[2] < most


def test_the_bound_after_one_choice_is_the_largest_over_all_means():
    """T = 3: one choice between arms of one pull each, over a fine grid of means, in both directions."""
    gaps = np.linspace(-0.5, 0.0, 2001)
    left, right = norm.cdf(gaps), norm.cdf(gaps + 0.5)  # the deviations are 1/sqrt 2 each
    pairs = [(left, right), (right, left)]
    for epsilon in (0.1, 0.5, 1.0):
        grown = math.exp(epsilon)
        largest = max(
            (np.maximum(p - grown * q, 0) + np.maximum(1 - p - grown * (1 - q), 0)).max() for p, q in pairs
        )
        rule = AnyRewards(gaps=201)
        found = rule.delta(3)[np.argmin(np.abs(rule.losses + epsilon))]
        assert largest - 1e-9 <= found <= largest + 2e-3


def test_finer_points_lower_the_bound_and_more_gaps_do_not_raise_it():
    coarse, fine = (AnyRewards(width=width).epsilon(30, 1e-6) for width in (0.2, 0.05))
    assert fine < coarse < fine + 0.5
    assert AnyRewards(gaps=81).epsilon(30, 1e-6) == pytest.approx(AnyRewards().epsilon(30, 1e-6), abs=0.051)


# ---------------------------------------------------------------- all draws


def pulls_of(rule, table, runs):
    """Pulls of arm 0 at every draw, (runs, draws)."""
    done = play(rule, Table(table), Seeded(3), np.arange(runs), keep=("actions",))
    pulls = np.cumsum(done.actions == 1, axis=1)  # bit 0
    return pulls[:, rule.first * rule.n_arms - 1 : rule.horizon - 1]


def test_replay_costs_what_composition_says():
    """Run by run: the sum over draws of 1/(c (n + 1)) is what alignment finds in the costliest of 16 runs."""
    rule = GaussianTS(2, 40, variance=2.0, first=2, delta=1e-3)
    pairs = gaussian_ts.pairs(rule)[:3]
    assert len(pairs) == 3
    for pair in pairs:
        found = normal.examine(rule, pair, seed=3).mu
        worlds = [pulls_of(rule, world, 16) for world in pair.worlds()]
        assert found == pytest.approx(max(composed_mu(pulls, 2.0).max() for pulls in worlds), rel=1e-9)
        assert found <= worst_mu(2, 40, 2.0, 2)


def test_the_promise_is_attained_and_less_noise_breaks_it():
    rule = make("gaussian-ts", n_arms=2, horizon=52, first=20, delta=1e-3)
    pair = gaussian_ts.pairs(rule)[0]
    assert rule.mu == pytest.approx(math.sqrt(12 / 21)) == pytest.approx(worst_mu(2, 52, 1.0, 20))
    assert normal.examine(rule, pair, seed=0).mu == pytest.approx(rule.mu, rel=1e-9)
    assert normal.check(rule, rule.claim, [pair], 0)[0].verdict == "not_refuted"
    assert normal.check(noise_times(0.95)(rule), rule.claim, [pair], 0)[0].verdict == "refuted"


def over_all_paths(rule, deviation):
    """The largest mu by trying every order of arms: after a pull of arm 0, its draws of all later rounds."""
    free = rule.horizon - rule.first * rule.n_arms
    dearest = 0.0
    for arms in itertools.product(range(rule.n_arms), repeat=free):
        pulls, squares = [rule.first] * rule.n_arms, []
        for turn in range(free):
            t = rule.first * rule.n_arms + turn
            shift = 1 / (pulls[0] + 1)
            squares.append((shift / deviation(pulls[0], t)) ** 2)
            pulls[arms[turn]] += 1
        dearest = max(dearest, sum(squares))
    return math.sqrt(dearest)


@dataclass(frozen=True)
class Shaped(GaussianTS):
    """A deviation that is any function of an arm's pulls and of the rounds."""

    shape: str = "posterior"

    def deviation(self, pulls):
        return SHAPES[self.shape](pulls, pulls.sum(axis=-1, keepdims=True))


SHAPES = {
    "posterior": lambda pulls, t: np.sqrt(1 / (pulls + 1)),
    "falls with pulls": lambda pulls, t: 1 / (pulls + 1) ** 2,
    "falls with rounds": lambda pulls, t: 1 / (t + 1) + 0 * pulls,
    "dear in the middle": lambda pulls, t: np.where(pulls == 3, 0.1, 1.0) / (pulls + 1),
    "dear at a meeting": lambda pulls, t: np.where((pulls == 3) & (t == 7), 0.1, 1.0),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_certificate_finds_the_path_that_costs_most(shape, monkeypatch):
    """Fails if runs in one public state are not told apart by what they paid, or an arm is not tried."""
    monkeypatch.setattr(certify, "ours", lambda algorithm: True)
    rule = Shaped(n_arms=2, horizon=9, first=1, delta=1e-3, shape=shape)
    found = certify.certificate(rule, rule.claim, "alignment")
    dearest = over_all_paths(rule, lambda n, t: float(SHAPES[shape](np.array(n), np.array(t))))
    assert found.epsilon == pytest.approx(gdp_epsilon(dearest, 1e-3), rel=1e-9)


def test_every_mutant_of_privacy_is_certified_above_the_promise_or_not_at_all(monkeypatch):
    rule = make("gaussian-ts", n_arms=2, horizon=52, first=20, delta=1e-3)
    found = certify.certificate(rule, rule.claim, "alignment")
    assert found.epsilon == pytest.approx(rule.claim.epsilon, rel=1e-9)
    assert (found.scope, found.certificate["form"]) == ("certified", "normal")
    monkeypatch.setattr(certify, "ours", lambda algorithm: True)
    mutants = [m for m in registry.auditor("gaussian-ts").mutants if m.breaks == "privacy"]
    bounds = [certify.certificate(m.make(rule), rule.claim, "alignment") for m in mutants]
    assert all(bound is None or bound.epsilon > 1.5 * rule.claim.epsilon for bound in bounds)
    assert sum(bound is not None for bound in bounds) >= 6


def drawing(change):
    """A release whose draws are changed: `change(draw, state)`."""

    def release(self, state, memory, query, answer, noise):
        own = super(self.__class__, self)
        return own.release(state, memory, query, answer, lambda draw: noise(change(draw, state)))

    return {"release": release}


def noisy_memory(self, state, memory, query, answer, noise):
    after, drawn = GaussianTS.release(self, state, memory, query, answer, noise)
    return replace(after, sums=after.sums + np.nan_to_num(drawn) * 1e-3), drawn


def stopping(self, state):
    asked = GaussianTS.query(self, state)
    return replace(asked, rounds=np.where(state.pulls[:, 0] > 2, 0, asked.rounds))


def pairwise(self, state, query, released):
    after = GaussianTS.decide(self, state, query, released)
    return replace(after, active=np.ones_like(after.active))


def counting_draws(self, state, query, released):
    after = GaussianTS.decide(self, state, query, released)
    return replace(after, pulls=after.pulls + (after.estimate > 0))


def less_where_high(draw, state):
    return replace(draw, scale=draw.scale * np.where(state.estimate > 0.5, 0.5, 1.0))


def laplace_at_first(draw, state):
    return replace(draw, normal=bool(state.t[0] > 4))


def compared(draw, state):
    none = 0 * draw.value
    return replace(draw, value=none, hidden=Hidden(lambda shown: none, lambda noise: {"output": noise > 0}))


@dataclass(frozen=True)
class Wide(TurnState):
    """Its released values are no numbers by arm."""

    @classmethod
    def of(cls, state):
        return cls(state.run, state.t, state.pulls, np.zeros((len(state.run), 3)), state.active)


class Listed(list):
    """A memory that is no batch."""

    def take(self, index):
        return self


NOT_FOLLOWED = {
    "released values determine more than the next arm": drawing(less_where_high),
    "released values determine more than the next": {"decide": counting_draws},
    "private values depend on released values": {"release": noisy_memory},
    "runs differ in length": {"query": stopping},
    "several arms": {"decide": pairwise},
    "neither all Laplace nor all normal": drawing(laplace_at_first),
    "keeps private values, and compares values": drawing(compared),
    "used twice in a run": drawing(lambda draw, state: replace(draw, slot=draw.slot % 2)),
    "estimate is not one number for each arm": {
        "start": lambda self, run: Wide.of(GaussianTS.start(self, run))
    },
    "memory is not a batch": {
        "private": lambda self, run: Listed(),
        "release": lambda self, state, memory, query, answer, noise: (memory, np.full(answer.shape, np.nan)),
    },
}


@pytest.mark.parametrize("why", NOT_FOLLOWED)
def test_what_is_not_followed_over_all_paths(why):
    rule = type("Other", (GaussianTS,), NOT_FOLLOWED[why])(n_arms=2, horizon=9, delta=1e-3)
    assert branching.branched(GaussianTS(n_arms=2, horizon=9, delta=1e-3))[0]
    with np.errstate(all="ignore"), pytest.raises(NotOfFormError, match=why):
        branching.branched(rule)


def test_an_instance_with_too_many_paths_has_no_certificate(monkeypatch):
    rule = make("gaussian-ts", n_arms=2, horizon=9)
    assert certify.certificate(rule, rule.claim, "alignment") is not None
    monkeypatch.setattr(branching, "MOST_RUNS", 100)
    assert certify.certificate(rule, rule.claim, "alignment") is None


def test_bad_parameters_and_secure_sessions_are_refused():
    with pytest.raises(InputError, match="horizon must exceed first"):
        make("gaussian-ts", n_arms=2, horizon=6, first=3)
    with pytest.raises(InputError, match="variance"):
        make("gaussian-ts", n_arms=2, horizon=6, variance=0.0)
    session = make("gaussian-ts", n_arms=2, horizon=6).session(noise=Secure())
    session.select()
    with pytest.raises(InputError, match="supports only Laplace noise"):
        session.update(0.5)


# ---------------------------------------------------------------- the page


def test_the_page_shows_the_record_and_the_record_is_computed_again():
    record = json.loads(thompson.RECORD.read_text("utf-8"))
    page = (thompson.ROOT / "docs" / "thompson-sampling.md").read_text("utf-8")
    for table in thompson.tables(record):
        assert table in page
    assert thompson.FIGURE.read_text("utf-8") == thompson.figure(record)
    for place, t in enumerate(record["horizons"]):
        mu = math.sqrt((t - 2) / 2)
        assert record["all draws"][place] == pytest.approx({"mu": mu, "epsilon": gdp_epsilon(mu, 1e-6)})
    early = thompson.HORIZONS[:3]
    for name, (rewards, changed) in thompson.TABLES.items():
        found = TwoArms(rewards, changed).losses(early)
        again = [found[t].epsilon(thompson.DELTA) for t in early]
        assert record["actions at least"][name][:3] == pytest.approx(again, abs=1e-6)
    again = [AnyRewards(width=0.1).epsilon(t, thompson.DELTA) for t in thompson.BOUNDED[:2]]
    assert record["actions at most"][:2] == pytest.approx(again, abs=1e-6)


def test_no_lower_bound_of_the_record_exceeds_its_upper_bound():
    record = json.loads(thompson.RECORD.read_text("utf-8"))
    least = np.max(list(record["actions at least"].values()), axis=0)
    most = record["actions at most"]
    assert (least[: len(most)] <= most).all()
    assert (np.array(most) <= least[: len(most)] * 1.3).all()
    assert all(x < row["epsilon"] for x, row in zip(most[1:], record["all draws"][1:], strict=False))
