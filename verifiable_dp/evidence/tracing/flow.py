"""The way from reward to release to action through the traced code, with the lines of source it takes."""

from __future__ import annotations

import dis
import functools
import linecache
import math
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign, Function, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.judge.laws import epsilon_of_mu
from verifiable_dp.evidence.tracing.laws import family
from verifiable_dp.evidence.tracing.ledger import (
    DATA,
    Chosen,
    Lead,
    Ledger,
    Place,
    Release,
    ReplayEnd,
    Told,
    words_of,
)

# Roles of a line, in the order in which what happens on it follows.
ROLES = {
    "reward": "rewards enter",
    "release": "release",
    "raw": "raw rewards decide",
    "action": "action comes out",
}
_NAMES = {
    "laplace": "Laplace",
    "normal": "Gaussian",
    "gumbel": "Gumbel",
    "discrete_laplace": "two-sided geometric",
    "gamma": "Gamma",
    "two_sided_gamma": "two-sided Gamma",
    "negative_binomial": "Polya",
    "two_sided_polya": "two-sided Polya",
    "poisson": "Poisson",
}
_AROUND = 3  # lines shown before and after
_LINES = 60  # lines shown in all
_WIDTH = 200  # characters of a line
_READS, _RELEASES, _SPENT = 12, 12, 64


@dataclass(frozen=True)
class Step:
    """What happens on a line of the traced code.

    Attributes
    ----------
    place
        The line.
    role
        One of `ROLES`.
    words
        What happens there.
    count
        How often it did; 0 where that is not counted.
    cost
        What the releases of the line could give away together; None for other roles.
    """

    place: Place
    role: str
    words: str
    count: int = 0
    cost: float | None = None

    def as_dict(self) -> JsonDict:
        """JSON values."""
        found = {
            "file": self.place.file,
            "line": self.place.line,
            "role": self.role,
            "words": self.words,
            "source": _line(self.place.file, self.place.line).strip(),
            "count": self.count,
        }
        return found if self.cost is None else {**found, "cost": plain(self.cost)}


@dataclass(frozen=True)
class Excerpt:
    """Consecutive lines of a file.

    Attributes
    ----------
    file
        Its name.
    first
        Number of the first line.
    lines
        Text of the lines.
    """

    file: str
    first: int
    lines: tuple[str, ...]

    def as_dict(self) -> JsonDict:
        """JSON values."""
        return {"file": self.file, "first": self.first, "lines": list(self.lines)}


def _line(file: str, number: int) -> str:
    text = linecache.getline(file, number).rstrip().expandtabs(4)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def returns_of(functions: Iterable[Function[Foreign]]) -> tuple[Place, ...]:
    """Lines on which `functions` return a value."""
    codes = [function.__code__ for function in functions]
    found = {Place(code.co_filename, line) for code in codes for line in _lines_with_returns(code)}
    return tuple(sorted(found, key=_position))


@functools.lru_cache(maxsize=256)
def _lines_with_returns(code: types.CodeType) -> frozenset[int]:
    found, given = set(), True
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_CONST", "RETURN_CONST"):
            given = step.argval is not None  # without `return` a function gives None: no action
        if step.opname in ("RETURN_VALUE", "RETURN_CONST") and given:
            line = step.positions.lineno if step.positions else None
            found.add(line or code.co_firstlineno)
        if step.opname != "LOAD_CONST":
            given = True
    return frozenset(found)


def _position(place: Place) -> tuple[str, int]:
    return place.file, place.line


def _noise(release: Release | Chosen | Told) -> str:
    if isinstance(release, Chosen):
        return "an outcome is drawn with probabilities that depend on raw data"
    if isinstance(release, Told):
        return "coins decide whether bits are reported or flipped"
    kind = family(release.law.kind)
    return f"{_NAMES.get(kind, kind)} noise is added"


def _releases(ledger: Ledger, costs: Mapping[Place, float]) -> list[Step]:
    """Lines of releases, the costliest first."""
    words: dict[Place, str] = {}
    counts: dict[Place, int] = {}
    for release in ledger.releases:
        words.setdefault(release.place, _noise(release))
        counts[release.place] = counts.get(release.place, 0) + 1
    for place in costs:
        words.setdefault(place, "a coin hides the answer")
    found = [
        Step(place, "release", what, counts.get(place, 0), costs.get(place, 0.0))
        for place, what in words.items()
    ]
    return sorted(found, key=lambda s: (-(s.cost or 0.0), _position(s.place)))


def steps(
    ledger: Ledger,
    costs: Mapping[Place, float],
    leads: Sequence[tuple[Lead, bool]],
    actions: Sequence[Place],
    files: frozenset[str],
    divergence: ReplayEnd | None = None,
    data: str = DATA,
) -> list[Step]:
    """What the user's own lines do, by what it matters: raw decisions, releases, actions, rewards.

    Parameters
    ----------
    ledger
        Of the recorded run.
    costs
        What the releases of each line could give away together.
    leads
        Lines where raw rewards decided, and whether that is open, not harmless in the replayed runs.
    actions
        Lines on which actions come out.
    files
        The user's own; lines of others are left out.
    divergence
        Why the replay left the recorded run; None if it did not.
    data
        What is raw.
    """
    harmless = " (harmless in the replayed runs)"
    raw = [
        Step(lead.place, "raw", words_of(lead.what, data) + ("" if is_open else harmless), lead.count)
        for lead, is_open in sorted(leads, key=lambda pair: not pair[1])
    ]
    out = [Step(place, "action", ROLES["action"]) for place in actions]
    often = sorted(ledger.reads.items(), key=lambda row: (-row[1], _position(row[0])))[:_READS]
    reads = [Step(place, "reward", ROLES["reward"], n) for place, n in often]
    found = [*diverging(divergence), *raw, *_releases(ledger, costs)[:_RELEASES], *out, *reads]
    return [step for step in found if step.place.file in files and _line(step.place.file, step.place.line)]


def diverging(ended: ReplayEnd | None) -> list[Step]:
    """The line at which a replay could not follow, if it is known."""
    return [Step(ended.place, "raw", ended.words)] if ended and ended.place else []


def excerpts(found: Sequence[Step], around: int = _AROUND, most: int = _LINES) -> list[Excerpt]:
    """Lines around the steps, merged, in the order of files and lines.

    Parameters
    ----------
    found
        What matters first comes first: where not all fits, later steps get fewer lines around them, or none.
    around
        Lines shown before and after each.
    most
        Lines shown in all.
    """
    chosen: set[tuple[str, int]] = set()
    for reach in range(around + 1):
        for step in found:
            near = _near(step.place, reach)
            if len(chosen | near) <= most:
                chosen |= near
    return _merged(sorted(chosen))


def _near(place: Place, reach: int) -> set[tuple[str, int]]:
    """Lines around a place, up to two blank ones in a row: another definition begins there."""
    last = len(linecache.getlines(place.file))
    found = {(place.file, place.line)}
    for way in (-1, 1):
        for line in range(place.line + way, place.line + way * (reach + 1), way):
            gap = not _line(place.file, line) and not _line(place.file, line + way)
            if not 1 <= line <= last or gap:
                break
            found.add((place.file, line))
    return found


def _merged(chosen: Sequence[tuple[str, int]]) -> list[Excerpt]:
    """Runs of consecutive lines, without blank lines at their ends."""
    runs: list[list[tuple[str, int]]] = []
    for file, line in chosen:
        if runs and runs[-1][-1] == (file, line - 1):
            runs[-1].append((file, line))
        else:
            runs.append([(file, line)])
    made = []
    for run in runs:
        kept = [at for at in run if _line(*at)]
        if kept:
            file, first, last = run[0][0], kept[0][1], kept[-1][1]
            made.append(Excerpt(file, first, tuple(_line(file, n) for n in range(first, last + 1))))
    return made


def in_order(found: Iterable[Step]) -> list[Step]:
    """By file and line; on one line as it happens."""
    ranks = list(ROLES)
    return sorted(found, key=lambda s: (*_position(s.place), ranks.index(s.role), s.words))


def charged(bound: float, rho: float, delta: float) -> float:
    """What releases cost: `bound`, or the epsilon at `delta` of normal noise, which has no bound at 0."""
    return epsilon_of_mu(math.sqrt(2 * rho), delta) if delta > 0 and bound == math.inf > rho else bound


def spent(each: FloatArray, delta: float = 0.0, most: int = _SPENT) -> list[tuple[int, float]]:
    """How the cost of a pair of runs grows: (releases so far, cost so far) where it changes.

    Parameters
    ----------
    each : (n, 2) float
        Bound and rho of the releases, in their order.
    delta
        Of the claim, see `charged`.
    most
        Points at most: of longer runs every so many, and the last.
    """
    totals = np.cumsum(each, axis=0)
    endless = np.isinf(totals if delta > 0 else totals[:, :1]).all(axis=1)
    points = np.flatnonzero((each[:, 0] > 0) & (np.cumsum(endless) <= 1))
    every = max(1, -(-len(points) // most))
    kept = points[::-1][::every][::-1].tolist()
    return [(n + 1, charged(float(totals[n, 0]), float(totals[n, 1]), delta)) for n in kept]
