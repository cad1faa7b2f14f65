"""Tables of pandas, which is an extra: most of what the package does needs none."""

from __future__ import annotations

from verifiable_dp.core.validate import InputError


def needed() -> None:
    """Refuse to make a table without pandas.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise InputError('tables need pandas: pip install "verifiable-dp[frames]"') from None
