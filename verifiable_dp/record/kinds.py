"""Checks of every kind that records hold: what judges them, puts them into words and knows their scales."""

# The judges register themselves when their modules are imported.
import verifiable_dp.evidence.alignment.replay
import verifiable_dp.evidence.blackbox.curves
import verifiable_dp.evidence.blackbox.numerics
import verifiable_dp.evidence.blackbox.positions
import verifiable_dp.evidence.blackbox.sequential
import verifiable_dp.evidence.blackbox.test
import verifiable_dp.evidence.exact.halting
import verifiable_dp.evidence.exact.law
import verifiable_dp.evidence.exact.shuffle
import verifiable_dp.evidence.origins
import verifiable_dp.evidence.regret.comparison
import verifiable_dp.evidence.regret.floors
import verifiable_dp.evidence.regret.linear_in_log
import verifiable_dp.evidence.regret.mean_at_least
import verifiable_dp.evidence.regret.mean_bound
import verifiable_dp.evidence.regret.price
import verifiable_dp.evidence.regret.probability
import verifiable_dp.evidence.regret.scaling
import verifiable_dp.evidence.regret.table
import verifiable_dp.evidence.statement
import verifiable_dp.evidence.symbolic.paths
import verifiable_dp.evidence.tracing.replays
import verifiable_dp.evidence.upper  # noqa: F401
from verifiable_dp.evidence.check import in_words, judged, scales_of

__all__ = ["in_words", "judged", "scales_of"]
