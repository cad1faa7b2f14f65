"""Mechanisms of OpenDP and diffprivlib in traced code: what they cost, given how far their input moves.

Both draw from sources of their own, which cannot be followed, nor repeated. What a call costs follows from
the library's documentation and from how far tracing says that its input moves: of OpenDP's measurements the
privacy map tells, of diffprivlib's mechanisms their law. A plain run that is compared with a traced one gets
the outputs of the traced one.
"""

from __future__ import annotations

import functools
import importlib
import math
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np

from verifiable_dp.core import paths
from verifiable_dp.core.validate import Foreign, Function
from verifiable_dp.evidence.symbolic import adding, boxes, comparing, multiplying
from verifiable_dp.evidence.symbolic.atoms import Charge, SymbolicDraw, moves_of
from verifiable_dp.evidence.symbolic.terms import Term, is_term, number
from verifiable_dp.evidence.symbolic.world import World

_STOP = "a mechanism of {} that we cannot follow"
_DISCRETE, _L1, _L2, _LARGEST = (
    "DiscreteDistance",
    ("L1Distance", "AbsoluteDistance"),
    "L2Distance",
    "LInfDistance",
)

_METRIC = re.compile(r"(?P<kind>\w+)\((?P<monotonic>monotonic, )?(T=)?[a-z0-9]*\)")
_OURS = str(Path(__file__).parents[2])
_OWN_CODE = "honest-but-curious"  # the feature with which OpenDP takes functions of the code's own

# Selections by the largest utility with noise; permute-and-flip: Ding, Kifer, Saghaian & Wang (2021).
_SELECTING = {"Exponential": "gumbel", "PermuteAndFlip": "exponential"}


@contextmanager
def patched(call: Callable[[str, Foreign, Foreign, Foreign], Foreign]) -> Iterator[None]:
    """Let `call(library, method, self, value)` stand in for mechanisms of libraries that are imported."""
    changed = []
    opendp, drawing = sys.modules.get("opendp.mod"), sys.modules.get("diffprivlib.mechanisms")
    kinds: list[tuple[str, Foreign, str]] = []
    if opendp is not None:
        kinds += [("OpenDP", opendp.Measurement, name) for name in ("__call__", "invoke")]
        # OpenDP loads it when it first needs it.
        kinds.append(("", importlib.import_module("opendp.typing").RuntimeType, "parse"))
    if drawing is not None:
        base = drawing.base.DPMechanism if hasattr(drawing, "base") else object
        own = {v for v in vars(drawing).values() if isinstance(v, type) and issubclass(v, base)}
        kinds += [("diffprivlib", kind, "randomise") for kind in own if "randomise" in vars(kind)]
        kinds += [("diffprivlib", kind, "__init__") for kind in own if kind.__name__ in _SELECTING]
    try:
        for library, kind, name in kinds:
            real = vars(kind).get(name)
            changed.append((kind, name, real))
            setattr(kind, name, _standing_in(call, library, real or getattr(kind, name), name))
        yield
    finally:
        for kind, name, real in changed:
            if real is None:
                delattr(kind, name)
            else:
                setattr(kind, name, real)


def _standing_in(call: Function[Foreign], library: str, real: Foreign, name: str) -> Foreign:
    if name == "parse":  # stand-ins for `float` and `int` are no types that OpenDP knows
        plain: Foreign = getattr(real, "__func__", real)

        def parse(kind: Foreign, type_name: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
            return plain(kind, getattr(type_name, "stands_for", type_name), *args, **kwargs)

        return classmethod(parse)
    if name == "__init__":

        @functools.wraps(real)
        def make(self: Foreign, *args: Foreign, **kwargs: Foreign) -> None:
            utility = kwargs.get("utility")
            real(self, *args, **{**kwargs, "utility": _values(utility)} if utility is not None else kwargs)
            if boxes.has_terms(utility):  # nothing untracked may be read from it
                self.utility, self._probabilities = utility, None

        return make

    @functools.wraps(real)
    def draw(self: Foreign, *args: Foreign, **kwargs: Foreign) -> Foreign:
        return call(library, real, self, (args or tuple(kwargs.values()) or (None,))[0])

    return draw


def _values(value: Foreign) -> Foreign:
    """The same with the numbers of this run, which the library's own sampler takes."""
    if type(value) is boxes.Box:
        return np.array(_values(value.data.ravel().tolist())).reshape(value.shape)
    if type(value) in (list, tuple):
        return type(value)(_values(v) for v in value)
    value = number(value)
    if type(value) is not Term:
        return value
    return round(value.value()) if value.whole else value.value()


def _raw(value: Foreign) -> list[Foreign]:
    """Entries with data that were not shown, however deep they lie; what has noise is shown."""
    flat = value.data.ravel().tolist() if type(value) is boxes.Box else value
    if isinstance(flat, list | tuple):
        return [entry for part in flat for entry in _raw(part)]
    return [flat.settle() if is_term(flat) and flat.noise else number(flat)]


def _is_unseeded(generator: Foreign) -> bool:
    """Whether it draws from the system, or NumPy has taken its seed from there: 128 bits."""
    if not isinstance(generator, np.random.Generator):
        return isinstance(generator, random.SystemRandom)
    entropy = getattr(generator.bit_generator.seed_seq, "entropy", None)
    return isinstance(entropy, int) and entropy >= 1 << 64


class Followed:
    """What stands in while a run is traced.

    Parameters
    ----------
    world
        The run.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.outputs: list[Foreign] = []
        self._rng = np.random.default_rng([20260404, world.chooser.number])

    def __call__(self, library: str, real: Foreign, mechanism: Foreign, value: Foreign) -> Foreign:
        """The output of a mechanism, whose cost is charged."""
        entries = _raw(value)
        if any(boxes.has_terms(one) and not is_term(one) for one in entries):
            raise self.world.stop(_STOP.format(library))
        if library == "OpenDP":
            with self._alone():
                made = real(mechanism, _typed(mechanism, value))
                charge = self._by_map(mechanism, entries) if any(map(is_term, entries)) else None
            if charge is not None:
                self.world.charge(charge)
        else:
            # A staircase has a generator of NumPy's if it was given none.
            if not _is_unseeded(mechanism.__dict__.get("_rng")):
                raise self.world.stop("a mechanism of diffprivlib draws from a generator with a seed")
            kind = type(mechanism)
            if kind is not vars(sys.modules["diffprivlib.mechanisms"]).get(kind.__name__):
                raise self.world.stop("one of the code's own classes draws instead of diffprivlib's")
            selects = type(mechanism).__name__ in _SELECTING
            made = self._by_law(real, mechanism, _raw(mechanism.utility) if selects else entries)
        self.outputs.append(made)
        return made

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While OpenDP works by itself: code of the user's in a measurement is not followed."""
        theirs = list[str]()

        def called(frame: FrameType, event: str, given: object) -> None:
            file = frame.f_code.co_filename
            if event == "call" and not (file[:1] == "<" or paths.installed(file) or file.startswith(_OURS)):
                theirs.append(file)

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            yield
        finally:
            sys.setprofile(before)
        if theirs or _OWN_CODE in vars(sys.modules["opendp.mod"]).get("GLOBAL_FEATURES", ()):
            raise self.world.stop("a measurement of OpenDP may run the code's own functions")

    def _by_map(self, measurement: Foreign, entries: Sequence[Foreign]) -> Charge:
        metric = str(measurement.input_metric)
        known = _METRIC.fullmatch(metric)
        if known is None:
            raise self.world.stop(f"a measurement of OpenDP with the metric {metric} is not followed")
        kind, measure = known["kind"], str(measurement.output_measure)
        sizes, ways = dict[int, list[float]](), dict[int, set[float]]()
        for entry in filter(is_term, entries):
            for unit, move in moves_of(entry.raw).items():
                sizes.setdefault(unit, []).append(max(map(abs, move)))
                ways.setdefault(unit, set()).update(np.sign(move))
        if known["monotonic"] and any({-1, 1} <= signs for signs in ways.values()):
            raise self.world.stop(
                "a measurement of OpenDP assumes monotonic utilities, but these rise and fall"
            )
        costs, curves = {}, {}
        for unit, moved in sizes.items():
            if kind in _L1:
                size = math.fsum(moved)
            elif kind == _L2:
                size = math.hypot(*moved)
            elif kind in (_LARGEST, _DISCRETE):
                size = max(moved) if kind == _LARGEST else float(any(moved))
            else:
                raise self.world.stop(f"we cannot follow a measurement of OpenDP with the metric {metric}")
            whole = kind == _DISCRETE or "(f" not in metric.replace("(T=", "(")
            found = measurement.map(math.ceil(size - 1e-9) if whole else size) if size else 0.0
            if measure == "MaxDivergence":
                costs[unit] = (float(found), float(found))
            elif measure == "ZeroConcentratedDivergence":
                curves[unit] = float(found)
            else:
                raise self.world.stop(f"we cannot follow a measurement of OpenDP with the measure {measure}")
        return Charge(self.world.place(), costs, rho=curves)

    def _by_law(self, real: Foreign, mechanism: Foreign, entries: Sequence[Foreign]) -> Foreign:
        name = type(mechanism).__name__
        if name in _SELECTING:
            return self._selected(mechanism, entries, _SELECTING[name])
        if len(entries) != 1:
            raise self.world.stop(_STOP.format("diffprivlib"))
        (entry,) = entries
        if not is_term(entry):
            return real(mechanism, entry)
        reach = float(mechanism.sensitivity)
        if name == "Laplace":
            scale = reach / (mechanism.epsilon - math.log1p(-mechanism.delta))
            return self._noisy(entry, "laplace", scale, self._rng.laplace())
        if name in ("Gaussian", "GaussianAnalytic"):
            return self._noisy(entry, "normal", float(mechanism._scale), self._rng.standard_normal())
        drawn = self._rng.laplace() * reach / mechanism.epsilon  # public: its law is paid for
        per_unit: dict[str, Callable[[float], float]] = {
            "Geometric": lambda move: mechanism.epsilon * move / reach,
            "Staircase": lambda move: mechanism.epsilon * math.ceil(move / reach - 1e-9),
        }
        if name not in per_unit or (name == "Geometric" and not entry.whole):
            raise self.world.stop(_STOP.format("diffprivlib"))
        costs = {}
        for unit, move in moves_of(entry.raw).items():
            cost = per_unit[name](max(map(abs, move)))
            costs[unit] = (cost, cost)
        self.world.charge(Charge(self.world.place(), costs))
        return entry.value() + drawn if name == "Staircase" else round(entry.value() + drawn)

    def _noisy(self, entry: Term, kind: str, scale: float, drawn: float) -> Foreign:
        if not scale > 0:
            raise self.world.stop("noise has a scale that is not a positive number")
        return adding.add(entry, Term(self.world, 0.0, {}, {SymbolicDraw(kind, float(drawn)): scale}))

    def _selected(self, mechanism: Foreign, entries: Sequence[Foreign], kind: str) -> Foreign:
        """The position of the largest utility with noise, as one of the candidates."""
        scale = mechanism.epsilon / mechanism.sensitivity / (2 - bool(getattr(mechanism, "monotonic", False)))
        measure = getattr(mechanism, "measure", None) or [1.0] * len(entries)
        noisy = []
        for entry, weight in zip(entries, measure, strict=True):
            drawn = getattr(self._rng, kind)()
            noise = Term(self.world, math.log(weight), {}, {SymbolicDraw(kind, float(drawn)): 1.0})
            noisy.append(adding.add(multiplying.multiply(entry, scale), noise))
        place = comparing.largest(self.world, noisy)
        return mechanism.candidates[place] if mechanism.candidates else place

    def told(self) -> list[Foreign]:
        """The outputs as plain numbers, when the run has ended."""
        return [value.value() if type(value) is Term else value for value in self.outputs]


def _typed(measurement: Foreign, value: Foreign) -> Foreign:
    plain = _values(value)
    return bool(plain) if "bool" in str(measurement.input_domain) and np.ndim(plain) == 0 else plain


class Replayed:
    """Gives the outputs of a traced run again, in a plain one."""

    def __init__(self, outputs: Sequence[Foreign]) -> None:
        self._left = list(outputs)

    def __call__(self, library: str, real: Foreign, mechanism: Foreign, value: Foreign) -> Foreign:
        """The next output."""
        if not self._left:
            raise RuntimeError("a plain run draws more often than the traced one")
        return self._left.pop(0)
