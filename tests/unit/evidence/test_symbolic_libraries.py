"""Upper bounds for bandits on mechanisms of OpenDP and diffprivlib, as the table of the docs has them."""

import functools
import importlib
import importlib.metadata
import re
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp.auditing.request import Inputs
from verifiable_dp.auditing.traced import bound
from verifiable_dp.core.claims import zcdp_epsilon
from verifiable_dp.evidence.judge.values import STEEP, Value
from verifiable_dp.evidence.symbolic import libraries
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

DOCS = Path(__file__).parents[3] / "docs" / "upper-bounds.md"
ROW = re.compile(r"^\| (OpenDP|diffprivlib) \| `(\w+)` \| (.+?) \| (\S+) \| (\S+) \|$", re.MULTILINE)
MODULES = {"OpenDP": "opendp_bandits", "diffprivlib": "diffprivlib_bandits"}
ROWS = ROW.findall(DOCS.read_text(encoding="utf-8"))
BY_DAY = ("laplace", "exponential", "staircase", "permute_and_flip", "phases", "twice", "after_a_branch")


@functools.cache
def module_of(library):
    if not {*importlib.metadata.packages_distributions()} >= {library.lower()}:
        pytest.skip(f"{library} is not installed")
    return importlib.import_module(f"tests.user_code.{MODULES[library]}")


def bandit(library, name):
    return getattr(module_of(library), name)


def bounded(function, delta=0.0, horizon=12):
    return bound(function, function.__name__, Inputs(2, horizon, (0.0, 1.0)), delta)[:2]


def delta_of(name):
    return 1e-5 if "gaussian" in name or "deviation" in name else 0.0


@pytest.mark.parametrize(
    ("library", "name", "upper"),
    [
        pytest.param(
            library, name, upper, id=f"{library}-{name}", marks=[] if name in BY_DAY else pytest.mark.slow
        )
        for library, name, _, _, upper in ROWS
    ],
)
def test_the_docs_have_the_upper_bound(library, name, upper):
    made, why = bounded(bandit(library, name), delta_of(name))
    if upper == "none":
        assert made is None
        assert "raw rewards decide" in why.what or "with a seed" in why.what
    else:
        assert made.epsilon == pytest.approx(float(upper), rel=1e-3)
        assert any(premise.id == "libraries" for premise in made.premises)


@pytest.mark.parametrize("library", MODULES)
def test_every_bandit_is_in_the_docs_and_no_leak_is_within_its_claim(library):
    module = module_of(library)
    helpers = {"explored", "committed", "by_noise"}
    own = {n for n, f in vars(module).items() if callable(f) and f.__module__ == module.__name__}
    assert {name for lib, name, *_ in ROWS if lib == library} == {n for n in own if n[0] != "_"} - helpers
    for _, _, what, _, upper in (row for row in ROWS if row[0] == library):
        assert (upper == "none" or float(upper) > 1) == what.startswith("leaks")


@pytest.mark.slow
def test_normal_noise_of_opendp_has_its_curve():
    """Two measurements of scale 8, each of a sum that moves by 1: rho is 1 / 128 each."""
    made, _ = bounded(bandit("OpenDP", "gaussian_twice"), 1e-5, horizon=4)
    assert made.epsilon == pytest.approx(zcdp_epsilon(2 / 128, 1e-5))
    charges = [profile["charges"] for profile in made.certificate["profiles"]]
    assert {sum(charge["rho"] for charge in each) for each in charges} == {2 / 128}
    assert bounded(bandit("OpenDP", "gaussian_twice"), horizon=4)[0] is None  # without delta


def test_mechanisms_are_the_libraries_own_again_afterwards():
    opendp, drawing = (pytest.importorskip(name) for name in ("opendp.mod", "opendp.typing"))
    before = opendp.Measurement.__call__, opendp.Measurement.invoke, vars(drawing.RuntimeType)["parse"]
    with libraries.patched(lambda *a: 3.0):
        assert opendp.Measurement.__call__ is not before[0]
        assert bandit("OpenDP", "_LAPLACE")([1.0]) == 3.0
    assert (opendp.Measurement.__call__, opendp.Measurement.invoke) == before[:2]
    assert vars(drawing.RuntimeType)["parse"] is before[2]


def test_what_a_mechanism_was_told_cannot_be_read_from_it():
    mechanisms = module_of("diffprivlib").mechanisms

    def read(rewards, rng):
        made = mechanisms.Exponential(epsilon=1, sensitivity=1, utility=[rewards[0, 0], 0.0])
        return np.full(len(rewards), int(max(made.utility) > 0.5))

    def probable(rewards, rng):
        made = mechanisms.Exponential(epsilon=1, sensitivity=1, utility=[rewards[0, 0], 0.0])
        return np.full(len(rewards), int(made._probabilities[0] > 0.5))

    assert bounded(read)[0] is None
    assert bounded(probable)[0] is None


def test_other_mechanisms_have_no_bound():
    mechanisms = module_of("diffprivlib").mechanisms

    def folded(rewards, rng):
        made = mechanisms.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=1)
        return np.full(len(rewards), int(made.randomise(rewards[0, 0]) > 0.5))

    assert "not followed" in bounded(folded)[1].what


def test_a_part_of_opendp_that_is_not_loaded_yet_ends_no_bound(monkeypatch):
    """OpenDP loads its types when it first needs them; other code must not depend on that."""
    pytest.importorskip("opendp.mod")
    monkeypatch.delitem(sys.modules, "opendp.typing", raising=False)

    def play(rewards, rng):
        return rng.integers(0, 2, len(rewards))

    made, why = bounded(play)
    assert made is not None, why
    assert made.epsilon == 0


def test_a_peak_in_noise_of_a_library_sets_no_scale(monkeypatch):
    """Broken variant: what libraries release does not count as noise."""
    pytest.importorskip("opendp")
    leak = importlib.import_module("tests.user_code.opendp_scale").scale_by_a_measurement
    assert bounded(leak)[0] is None
    monkeypatch.setattr(Value, "varies", property(lambda value: value.level >= STEEP))
    assert bounded(leak)[0].epsilon == pytest.approx(1.0)


def mean(rewards, rng):
    noisy = [statistics.mean(list(rewards[:10, arm])) + rng.laplace(0, 0.1) for arm in (0, 1)]
    return np.where(np.arange(len(rewards)) < 10, 0, int(np.argmax(noisy)))


def fmean(rewards, rng):
    noisy = [statistics.fmean(list(rewards[:10, arm])) + rng.laplace(0, 0.1) for arm in (0, 1)]
    return np.where(np.arange(len(rewards)) < 10, 0, int(np.argmax(noisy)))


@pytest.mark.parametrize("play", [mean, fmean], ids=lambda f: f.__name__)
def test_means_of_the_standard_library_are_followed(play):
    """Broken variant: they are computed as of plain numbers, and raw rewards leave tracing."""
    assert explore(Program(play, (20, 2), (0.0, 1.0)), 2, most=6).epsilon() == pytest.approx(1.0)
