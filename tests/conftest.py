"""Fixtures of the whole suite."""

from hypothesis import settings

pytest_plugins = ["pytester"]

# How long an example takes depends on what else the machine does.
settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")
