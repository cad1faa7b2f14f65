"""The power that a record states must be that of a check, or of a variant that was tried."""

from types import SimpleNamespace

import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.record import verify


def by_alignment(largest=1.0, smallest=1.0 * (1 + verify.TOLERANCE), visible=True, verdict="not_refuted"):
    check = SimpleNamespace(statistics={"visible": visible, "max_cost": 1.0}, verdict=verdict)
    power = SimpleNamespace(by="alignment", largest=largest, smallest_epsilon=smallest, black_box=None)
    return SimpleNamespace(power=power, claim=SimpleNamespace(epsilon=1.0), of_kind=lambda kind: [check])


def by_test(smallest=2.0, probability=0.75, row=(0.5, 2.0, 0.75), stated=None, **power):
    box = SimpleNamespace(noise_divided_by=0.5, smallest_epsilon=2.0, probability=0.75, tried=[row])
    said = {"by": "black_box", "smallest_epsilon": smallest, "probability": probability} | power
    found = SimpleNamespace(**said, black_box=box, variant=SimpleNamespace(stated=stated))
    return SimpleNamespace(power=found, claim=SimpleNamespace(epsilon=1.0))


@pytest.mark.parametrize(
    "record",
    [
        by_alignment(),
        by_test(),
        by_test(row=(0.5, "nan", 0.75)),
        by_test(row=(0.5, 2.0, "0.9")),
        by_test(smallest=3.0, probability=0.1, stated="event"),  # that of the event is stated then
        by_test(by="exact", smallest=3.0),
        SimpleNamespace(power=None, claim=SimpleNamespace(epsilon=1.0)),
        SimpleNamespace(power=by_test(smallest=3.0).power, claim=None),
    ],
)
def test_a_power_that_is_that_of_its_check(record):
    verify._powered(record)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (by_alignment(largest=2.0), "must be that of alignment"),
        (by_alignment(smallest=1.01), "must be that of alignment"),
        (by_alignment(visible=False), "must be that of alignment"),
        (by_alignment(verdict="refuted"), "must be that of alignment"),
        (by_test(row=(0.25, 2.0, 0.75)), "must be that of a variant that was tried"),
        (by_test(row=(0.5, 3.0, 0.75)), "must be that of a variant that was tried"),
        (by_test(row=(0.5, 2.0, 0.74)), "must be that of a variant that was tried"),
        (by_test(smallest=3.0), "power must be that of power.black_box"),
        (by_test(probability=0.8), "power must be that of power.black_box"),
    ],
)
def test_a_power_that_is_of_nothing_is_refused(record, words):
    with pytest.raises(InputError, match=words):
        verify._powered(record)
