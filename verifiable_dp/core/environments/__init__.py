"""Where rewards come from: stochastic environments, fixed tables, interactive adversaries."""

from verifiable_dp.core.environments.adversarial import Interactive, Past
from verifiable_dp.core.environments.arms import (
    Binomial,
    Discrete,
    Drawn,
    Draws,
    Environment,
    Generated,
    Huber,
    Multinomial,
    Pareto,
    Pulled,
    StudentT,
    TwoPoint,
    bernoulli,
    two_point,
)
from verifiable_dp.core.environments.tables import Table

__all__ = [
    "Binomial",
    "Discrete",
    "Drawn",
    "Draws",
    "Environment",
    "Generated",
    "Huber",
    "Interactive",
    "Multinomial",
    "Pareto",
    "Past",
    "Pulled",
    "StudentT",
    "Table",
    "TwoPoint",
    "bernoulli",
    "two_point",
]
