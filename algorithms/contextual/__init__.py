"""Bandits that see a context before they choose."""
