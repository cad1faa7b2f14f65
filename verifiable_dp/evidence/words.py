"""Numbers in words, for the sentences that stand beside the judges."""

from __future__ import annotations

import math
from collections.abc import Iterable

from verifiable_dp.core.validate import Json


def digits(value: float | str | None, infinity: str = "infinity") -> str:
    """Four significant digits; whole numbers whole; nothing for None."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    found = float(value)
    if math.isnan(found):
        return "undefined"
    if math.isinf(found):
        return infinity if found > 0 else f"-{infinity}"
    return str(int(found)) if found == int(found) and abs(found) < 1e9 else f"{found:.4g}"


def one_of(items: Iterable[object], conjunction: str = "or") -> str:
    """A list to choose from, such as ``1, 2 or 3``; all of it with another conjunction."""
    *before, last = map(str, items)
    return f"{', '.join(before)} {conjunction} {last}" if before else last


def p_value(value: float) -> str:
    """Three digits; what underflows is bounded."""
    return f"{value:.3g}" if value > 0 else "below 1e-300"


def interval(result: Json) -> str:
    """The two-sided 95 % interval of a result, in parentheses; empty without one."""
    if result.get("lower") is None or result.get("upper") is None:
        return ""
    return f" (95 %: {digits(result['lower'])} to {digits(result['upper'])})"


def bounded(numbers: Json, result: Json) -> str:
    """What a statistical test of privacy says of epsilon."""
    level = f"{100 * float(numbers['confidence']):.4g} % confidence"
    return (
        f"epsilon at least {digits(result['epsilon_lower'])} with {level}, claimed "
        f"{digits(numbers['epsilon'])}, p-value {p_value(float(result['p_value']))}"
    )
