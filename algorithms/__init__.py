"""The catalogue: one file per algorithm; `Elimination` is the base class of one family."""

if __name__ == "algorithms":
    raise ImportError("not a top-level package: import verifiable_dp.algorithms")

from verifiable_dp.algorithms._elimination import Elimination

__all__ = ["Elimination"]
