"""Reports get their noise when they arrive: files hold no raw reward that is not named, and laws stay."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from tests.live import Blocks, Logged, feed, small
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Draw, Seeded
from verifiable_dp.core.units import TrustModel
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as registry

PRIVATE = [name for name in registry.names() if small(name).claim is not None]
LOCAL = [name for name in PRIVATE if small(name).claim.trust_model != TrustModel.CENTRAL]
LEVEL = 1e-6  # of each test of a law


def numbers(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    if isinstance(value, str) and "0x" in value:
        return [float.fromhex(value)]
    return [float(value)] if isinstance(value, int | float) else []


class Given:
    """What was given: each reward, and the sums over each block and over each arm."""

    def __init__(self):
        self.found, self._block, self._arm = [], {}, {}

    def add(self, arm, reward, ended):
        self._block[arm] = self._block.get(arm, 0.0) + reward
        self._arm[arm] = self._arm.get(arm, 0.0) + reward
        self.found += [reward, self._block[arm], self._arm[arm], *np.cumsum(list(self._block.values()))]
        if ended:
            self._block = {}


def holds(path, given, tolerance=1e-9):
    """Whether a file holds anything that was given."""
    there = np.array(numbers(json.loads(path.read_bytes())))
    return bool((np.abs(there[:, None] - np.array(given.found)) < tolerance).any())


def searched(algorithm, path, batch=1):
    """In how many rounds the file of a run holds a raw reward or a sum of some."""
    rng, given, found = np.random.default_rng(1), Given(), 0
    low, high = algorithm.search_bounds
    session = algorithm.session(noise=Logged(), path=path)
    while not session.finished and session.rounds < 120:
        with session.batch():
            for _ in range(batch):
                if session.finished:
                    break
                arm, reward, before = session.select(), float(rng.uniform(low, high)), session._now.query
                session.update(reward)
                given.add(arm, reward, session._now.query is not before)
        found += holds(path, given)
    return found


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("batch", [1, 7])
def test_the_file_of_a_local_model_never_holds_a_raw_reward(name, batch, quick):
    assert searched(small(name), quick / "s", batch) == 0


@pytest.mark.parametrize("name", ["dp-se", "dp-linear", "tree-sum"])
def test_that_of_a_central_one_does(name, quick):
    """Negative control: the sums of a block, which need no noise before it ends."""
    assert searched(small(name), quick / "s") > 0


def test_nothing_of_a_local_session_in_memory_is_raw():
    assert LOCAL
    for name in LOCAL:
        session = small(name).session(noise=Logged())
        low, high = session._turns.algorithm.search_bounds
        reward = low + (high - low) * 0.765432101
        while not session.finished and session.rounds < 60:
            session.update(reward)
            assert not (np.abs(session._now.sums % reward) < 1e-9)[session._now.sums != 0].any()
        assert session.rounds >= 15, name


# ---------------------------------------------------------------- what is raw


class Kept:
    """Keeps what was drawn, and gives another run the same."""

    def __init__(self, answers=None):
        self.answers, self._again = [] if answers is None else list(answers), answers is not None

    def __call__(self, draw):
        if self._again:
            return self.answers.pop(0)
        out = Seeded(len(self.answers))(draw)
        if draw.hidden is not None and draw.hidden.outcome is not None:
            out = out - 1e9  # rules do not stop
        self.answers.append(out)
        return out


def files(algorithm, noise, seed, path):
    """What the file of a run holds after each round."""
    rng = np.random.default_rng(seed)
    low, high = algorithm.search_bounds
    with algorithm.session(noise=noise, path=path) as session:
        while not session.finished and session.rounds < 150:
            session.update(float(rng.uniform(low, high)))
            yield json.loads(path.read_bytes())


@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_said_to_be_raw_is_what_follows_from_rewards_beside_the_noise(name, quick):
    """Two runs on other rewards are answered the same: what differs in their files is raw, and is named."""
    algorithm, noise = small(name), Kept()
    one = list(files(algorithm, noise, 1, quick / "one"))
    two = list(files(algorithm, Kept(noise.answers), 2, quick / "two"))
    assert len(one) == len(two) > 6
    differing, named = set(), set()
    for here, there in zip(one, two, strict=True):
        assert here["raw"] == there["raw"]
        parts = {"block.sums": lambda record: record["block"]["sums"]}
        parts |= {key: lambda record, key=key: record[key] for key in ("private", "meter")}
        differ = {key for key, part in parts.items() if part(here) != part(there)}
        assert differ <= set(here["raw"])
        same = [key for key in here if key not in ("digest", "private", "meter", "block")]
        if name in LOCAL:
            same += ["private", "meter"]
        assert [here[key] for key in same] == [there[key] for key in same]
        differing |= differ
        named |= set(here["raw"])
    unmetered = {"meter"} if algorithm.claim.curved else set()  # of normal noise no cost is kept
    assert differing - unmetered == named - unmetered
    assert (name in LOCAL) <= (named == set())


# ---------------------------------------------------------------- laws


@dataclass(frozen=True)
class Reports(Blocks):
    """The sum of a block of reports, each with noise of its own."""

    block: int = 3

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, trust_model="local", observe="reports")

    def release(self, state, memory, query, answer, noise):
        where, slot = np.ones(answer.shape, bool), state.t[:, None]
        scale, count = np.full(answer.shape, 1 / self.epsilon), query.pulls()
        return memory, noise(Draw(answer, scale, state.run, slot, where, count))


def released(algorithm, noise):
    """Noise of all releases of a run on zeros."""
    session = algorithm.session(noise=noise)
    return feed(session, algorithm.horizon, 0.0).state.seen[0]


def before(blocks, count):
    """The noise as it was drawn at the end of a block: by one call, of a sum of reports."""
    shape = (1, blocks)
    draw = Draw(
        *(np.zeros(shape), np.ones(shape), np.zeros(1, np.int64), np.arange(blocks)[None]),
        *(np.ones(shape, bool), np.full(shape, count)),
    )
    return Seeded(11)(draw)[0]


def test_the_law_of_a_released_sum_is_what_it_was():
    """Two-sample tests, each at level 1e-6; the control has the noise of two reports instead of three."""
    found = released(Reports(12_000), Logged(5))
    assert len(found) == 4000
    assert stats.ks_2samp(found, before(20_000, 3)).pvalue > LEVEL
    assert stats.ks_2samp(found, before(20_000, 2)).pvalue < LEVEL


def test_the_law_of_secure_reports_is_what_it_was():
    """The noise has no seed: the control, of one report instead of three, passes once in 10^9 runs."""
    pytest.importorskip("opendp")
    found = released(Reports(9_000), None)
    assert stats.ks_2samp(found, before(20_000, 3)).pvalue > LEVEL
    assert stats.ks_2samp(found, before(20_000, 1)).pvalue < LEVEL


def test_a_report_is_drawn_once_and_the_release_draws_nothing():
    noise = Logged()
    session = feed(Reports(30).session(noise=noise), 2)
    assert len(noise.slots) == 2
    feed(session, 1)
    assert len(noise.slots) == 3
    assert session.state.seen.shape == (1, 1)
    assert session.spent == pytest.approx(1.0)


@dataclass(frozen=True)
class Elsewhere(Reports):
    """Asks for other noise at the end of a block than at its beginning."""

    def release(self, state, memory, query, answer, noise):
        doubled = 1.0 + (answer != 0)
        where, slot = np.ones(answer.shape, bool), state.t[:, None]
        return memory, noise(Draw(answer, doubled / self.epsilon, state.run, slot, where, query.pulls()))


@dataclass(frozen=True)
class Whole(Blocks):
    """Says that it is of the local model, and releases a sum with one noise."""

    block: int = 3

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, trust_model="local", observe="reports")


def test_reports_that_cannot_get_their_noise_when_they_arrive_are_refused():
    session = feed(Elsewhere(30).session(noise=Logged()), 2)
    with pytest.raises(InputError, match="asks for other noise at the end of a block"):
        session.update(0.5)
    with pytest.raises(InputError, match="must release one sum of reports per block"):
        Whole(30).session(noise=Logged())
