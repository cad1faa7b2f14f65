"""Exact, for each transcript: runs are recorded on one input and replayed on its neighbour."""
