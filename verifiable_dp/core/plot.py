"""Plots as values: what `Report.plot`, `Simulation.plot` and `Session.plot` return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verifiable_dp.core.files import write_text
from verifiable_dp.core.validate import InputError

NEEDED = 'plot needs matplotlib: pip install "verifiable-dp[plots]"'


@dataclass(frozen=True, repr=False)
class Plot:
    """A plot, which a notebook shows.

    Attributes
    ----------
    title
        What it shows.
    svg
        The whole file.
    """

    title: str
    svg: str

    def __repr__(self) -> str:
        """One line."""
        return f"<Plot: {self.title}; save(path) writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write it to an SVG file, and return its path.

        Raises
        ------
        InputError
            If `path` does not end in ``.svg`` or cannot be written.
        """
        place = Path(path)
        if place.suffix != ".svg":
            raise InputError(f"path must end in .svg, got {str(path)!r}")
        return write_text(place, self.svg)


_WIDE, _HIGH = 600, 200  # of the space between the axes


def spending(steps: Sequence[Sequence[float]], rounds: int, claimed: float) -> Plot:
    """Epsilon spent over the rounds of a live session, as steps below the claim; needs no matplotlib.

    Parameters
    ----------
    steps
        Rounds and epsilon spent, each time that it grew, as of `Session.spending`.
    rounds
        Rewards received so far, where the line ends.
    claimed
        The epsilon that is promised, which is the upper edge.
    """
    first = int(steps[0][0]) if steps else 0
    path = ""
    for at, spent in steps:
        x = _WIDE * (at - first) / max(rounds - first, 1)
        y = _HIGH * (1 - spent / claimed)
        path += f" H {x:.1f} V {y:.1f}" if path else f"M {x:.1f} {y:.1f}"
    line = f'<path d="{path} H {_WIDE}" fill="none" stroke="#2563a8" stroke-width="2"/>' if path else ""
    title = f"epsilon spent: {steps[-1][1] if steps else 0:.4g} of {claimed:g} after {rounds} rounds"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-40 -34 {_WIDE + 50} {_HIGH + 70}" role="img" '
        f'font-family="sans-serif" font-size="13" fill="#1f2933"><title>{title}</title>'
        f'<rect x="-40" y="-34" width="100%" height="100%" fill="#ffffff"/><text y="-16">{title}</text>'
        f'<rect width="{_WIDE}" height="{_HIGH}" fill="none" stroke="#6b7280"/>'
        f'<path d="M 0 0 H {_WIDE}" stroke="#b45309" stroke-dasharray="6 4"/>{line}'
        f'<text x="-6" y="4" text-anchor="end" fill="#b45309">{claimed:g}</text>'
        f'<text x="-6" y="{_HIGH + 4}" text-anchor="end">0</text>'
        f'<text y="{_HIGH + 18}">round {first}</text>'
        f'<text x="{_WIDE}" y="{_HIGH + 18}" text-anchor="end">round {rounds}</text></svg>\n'
    )
    return Plot(title, svg)
