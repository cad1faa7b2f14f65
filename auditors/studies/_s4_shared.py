"""Sizes and names that the figures and the rates of S4 share."""

from __future__ import annotations

from collections.abc import Mapping

from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear

HORIZON, ARMS, DIMENSION = 1_000_000, 10, 2
LONG, MANY = 10_000_000, 1000  # of Figure 3(b)
KINDS: Mapping[str, type[DPLinear]] = {"central": DPLinear, "shuffled": ShuffledLinear, "local": LDPLinear}
NAMES = {"central": "Alg. 1 (central)", "shuffled": "Alg. 3 (shuffled)", "local": "Alg. 2 (local)"}
THEOREMS = {"central": "1", "local": "2", "shuffled": "3"}
