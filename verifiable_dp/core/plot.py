"""Plots as values: what `Report.plot` and `Simulation.plot` return."""

from __future__ import annotations

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
