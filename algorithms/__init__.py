"""The catalogue: one file per algorithm."""

if __name__ == "algorithms":
    raise ImportError("not a top-level package: import verifiable_dp.algorithms")
