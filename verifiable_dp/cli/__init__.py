"""The command line: the API's words, one command each, in a module for each family of commands."""

from verifiable_dp.cli import audit, catalogue, demo, inspect, judge, records
from verifiable_dp.cli.shell import main

__all__ = ["audit", "catalogue", "demo", "inspect", "judge", "main", "records"]
