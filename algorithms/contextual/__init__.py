"""Bandits that are told a context before they choose."""
