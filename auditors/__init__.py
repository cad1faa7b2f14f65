"""The auditors: one file per algorithm, under its name; `elimination` is what those of a family share."""

if __name__ == "auditors":
    raise ImportError("not a top-level package: import verifiable_dp.auditors")

from verifiable_dp.auditors import _elimination as elimination

__all__ = ["elimination"]
