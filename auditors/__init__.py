"""The auditors: one file per algorithm, under the same name."""

if __name__ == "auditors":
    raise ImportError("not a top-level package: import verifiable_dp.auditors")
