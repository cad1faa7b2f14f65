"""From which horizon on rewards change actions, as far as that was looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Acting:
    """What a search for such a horizon came to.

    Attributes
    ----------
    first
        The horizon that was asked for.
    idle
        The longest horizon at which no reward that was tried changed any action; 0 if one did at `first`.
    acts
        The horizon at which one did; None if none did at any.
    """

    first: int
    idle: int
    acts: int | None

    @classmethod
    def of(cls, first: int, sizes: Mapping[str, int]) -> Acting:
        """From the sizes that an audit noted; without a search as if rewards changed actions."""
        return cls(first, sizes.get("idle", 0), sizes.get("acts") or None)

    def as_sizes(self) -> dict[str, int]:
        """For `of`."""
        return {"idle": self.idle, "acts": self.acts or 0}

    def words(self) -> str:
        """In one line; empty where rewards change actions at the horizon that was asked for."""
        if not self.idle:
            return ""
        if self.acts is None:
            return f"no reward that we tried changes any action up to round {self.idle}, the longest tried"
        return (
            f"no reward that we tried changes any action up to round {self.first}; from --horizon "
            f"{self.acts} on, one does"
        )
