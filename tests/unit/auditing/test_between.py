"""Values strictly between the bounds of a mechanism's data: what only they show is a lead."""

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.records import read_all
from verifiable_dp.evidence.blackbox.trials import inner_pairs
from verifiable_dp.record import conclude
from verifiable_dp.record.model import Record
from verifiable_dp.record.words import why


def _whole_noise(data, size, rng):
    """Right for whole data; the fraction of a sum of others is not hidden."""
    noise = rng.geometric(1 - np.exp(-1), size) - rng.geometric(1 - np.exp(-1), size)
    return np.sum(data) + noise


def _refusing(data, size, rng):
    if np.any(np.mod(data, 1)):
        raise ValueError("counts are whole")
    return _whole_noise(data, size, rng)


def _laplace(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def _stated(pairs):
    def release(data, size, rng):
        return _whole_noise(data, size, rng)

    release.neighbours = pairs
    return release


def _audit(mechanism):
    return vdp.audit(mechanism, epsilon=1, budget="smoke", runs=400, seed=0)


def test_what_only_values_between_the_bounds_show_is_a_lead():
    """A sum with whole noise is right for whole data only: nobody said which data it takes."""
    record = _audit(_whole_noise).record
    assert (record["verdict"], record["reason"]) == ("inconclusive", "lead")
    assert "attribute neighbours" in why(Record.of(record))
    assert record["epsilon_lower"] < 1.2  # what the doubtful values cost is not claimed of the data
    # Control: without the check the same record acquits.
    assert (
        conclude.privacy(read_all([c for c in record["checks"] if c["kind"] != "between"])) == "not_refuted"
    )


@pytest.mark.parametrize(
    ("mechanism", "verdict"),
    [
        (_stated([(np.zeros(5), np.eye(5)[0])]), "not_refuted"),
        (_stated([(np.zeros(5), 0.37 * np.eye(5)[0])]), "refuted"),
        (_refusing, "not_refuted"),
        (_laplace, "not_refuted"),
    ],
    ids=["stated to be whole", "stated to be real", "refuses fractions", "right for all data"],
)
def test_said_data_and_right_code_are_decided(mechanism, verdict):
    """Whoever says which data are taken gets a verdict on these; what is right for all data needs no word."""
    assert _audit(mechanism).verdict == verdict


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        (0.0, "replace"),
        (0.0, "zero-out"),
        (np.zeros(1), "replace"),
        *((np.zeros(5), kind) for kind in ("replace", "zero-out", "add-remove")),
    ],
)
def test_inner_pairs_are_neighbours_within_the_bounds(kind, left):
    """One entry differs, or is left out; one value at least lies strictly between the bounds."""
    found = inner_pairs(left, (-1.0, 3.0), kind)
    assert found
    for one, other in found:
        values = np.concatenate([np.ravel(one), np.ravel(other)])
        assert values.min() >= -1
        assert values.max() <= 3
        assert ((values > -1) & (values < 3)).any()
        assert np.shape(one) == np.shape(left)
        if kind == "add-remove":
            assert np.size(other) == np.size(one) - 1
        else:
            assert (np.ravel(one) != np.ravel(other)).sum() == 1
