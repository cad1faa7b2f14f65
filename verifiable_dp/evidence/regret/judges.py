"""A name that the page imports from here; it is defined in `linear_in_log`."""

from verifiable_dp.evidence.regret.linear_in_log import claimed_slope

__all__ = ["claimed_slope"]
