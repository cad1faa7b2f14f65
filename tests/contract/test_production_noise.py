"""Every live release of the catalogue, bit by bit, as `--numerics` looks at it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contract.test_live_noise import LIVE, small
from tests.live import Blocks
from verifiable_dp.auditing import production
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Secure
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox import numerics as bits
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.registry.wrapped import Wrapped

COMPARED = {"dp-nas", "dp-exponential-nas"}
BY_DAY = {"dp-nas", "ldp-ucb"}
EACH = [
    pytest.param(
        name, other, id=f"{name}{'-raw' if other else ''}", marks=[] if name in BY_DAY else pytest.mark.slow
    )
    for name, other in LIVE
]


def asked(name, other):
    """What live sessions draw on which the test says something, and its terms.

    What is shuffled promises more than a report: the bits of a report are held against what that one costs.
    """
    algorithm = small(name, **other, epsilon=1.0)
    found = production.draws(algorithm)
    cost = max(abs(float(pair.left[0] - pair.right[0])) / pair.scale for pair in found)
    claim = algorithm.claim if algorithm.claim.delta == 0 else PrivacyClaim(cost)
    terms = Terms(claim, 0, 1, 1e-8, 0.95, 1)
    return [pair for pair in found if bits.telling(pair, pair.scale, production._RUNS, terms)], terms


def verdict(source, pairs, terms, monkeypatch):
    monkeypatch.setattr(production, "Secure", source)
    scales = [pair.scale for pair in pairs]
    check, _ = bits.check(production.Production(tuple(pairs)), pairs, production._RUNS, terms, scales)
    return check.verdict


class Textbook:
    """`value + noise` in floats."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, draw):
        return draw.value + self.rng.laplace(0.0, draw.scale)


@pytest.mark.parametrize(("name", "other"), EACH)
def test_no_live_release_tells_inputs_apart_by_its_bits(name, other, monkeypatch):
    pytest.importorskip("opendp")
    pairs, terms = asked(name, other)
    assert verdict(Secure, pairs, terms, monkeypatch) == "not_refuted"


@pytest.mark.parametrize(("name", "other"), LIVE)
def test_textbook_noise_in_any_of_them_is_refuted(name, other, monkeypatch):
    """Negative control, for each kind of draw by itself."""
    pairs, terms = asked(name, other)
    assert {bool(pair.draw.hidden) for pair in pairs} == ({False, True} if name in COMPARED else {False})
    source = Textbook()
    for pair in pairs:
        assert verdict(lambda: source, [pair], terms, monkeypatch) == "refuted"


def test_one_leak_among_right_draws_is_found(monkeypatch):
    """Of several kinds of draws only the comparisons have textbook noise."""
    pytest.importorskip("opendp")
    pairs, terms = asked("dp-nas", {})
    naive, secure = Textbook(), Secure()

    def source(draw):
        return (naive if draw.hidden else secure)(draw)

    assert verdict(lambda: source, pairs, terms, monkeypatch) == "refuted"


def test_reports_are_those_of_single_rewards():
    """A live session of the local model draws when a reward arrives, not once a block."""
    pairs, _ = asked("ldp-robust-se", {})
    assert all(pair.count is None for pair in pairs)
    assert min(abs(pair.left[0]) for pair in pairs) == 0


def test_a_first_release_that_is_late_is_examined():
    assert production.draws(Blocks(5000, 3000))
    assert not production.draws(Blocks(1 << 18, 1 << 17))  # nobody waits that long


class Less(Wrapped):
    """Less noise, of releases or of comparisons."""

    compared, factor = False, 0.25

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            return noise(
                replace(draw, scale=draw.scale * (self.factor if bool(draw.hidden) == self.compared else 1))
            )

        return super().release(state, memory, query, answer, source)


class LessCompared(Less):
    compared, factor = True, 0.01


def test_a_release_with_too_little_noise_is_refuted_too(monkeypatch):
    """The meter stops such a session; what it asked for is examined all the same."""
    pytest.importorskip("opendp")
    algorithm = Less(Blocks(20))
    pairs = production.draws(algorithm)
    assert max(abs(float(pair.left[0] - pair.right[0])) / pair.scale for pair in pairs) == 4
    terms = Terms(algorithm.claim, 0, 1, 1e-8, 0.95, 1)
    assert verdict(Secure, pairs, terms, monkeypatch) == "refuted"


def test_a_comparison_is_not_taken_for_a_release():
    """Its value would tell more than its outcome does, which is all that is shown."""
    whole, less = (production.draws(made(small("dp-nas", epsilon=1.0))) for made in (Wrapped, LessCompared))
    assert any(pair.draw.hidden for pair in whole)
    assert not any(pair.draw.hidden for pair in less)


def test_an_instance_without_a_release_is_refused():
    import verifiable_dp as vdp

    rule = vdp.make("dp-se", n_arms=2, epsilon=1.0, horizon=20, beta=0.5)
    with pytest.raises(InputError, match="add no noise to"):
        vdp.audit(rule, budget="smoke", mutants=False, numerics=True)
