"""Mechanisms: how an exact answer becomes a release. Each states its scale, its cost and its alignment."""

from verifiable_dp.core.mechanisms.above_threshold import AboveThreshold
from verifiable_dp.core.mechanisms.gaussian import Gaussian
from verifiable_dp.core.mechanisms.laplace import Exact, Laplace
from verifiable_dp.core.mechanisms.tree import AdaptiveTree, NormalTree, Tree, TreeMemory
from verifiable_dp.core.mechanisms.wishart import WishartTree

__all__ = [
    "AboveThreshold",
    "AdaptiveTree",
    "Exact",
    "Gaussian",
    "Laplace",
    "NormalTree",
    "Tree",
    "TreeMemory",
    "WishartTree",
]
