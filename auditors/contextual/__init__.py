"""Auditors of bandits that are told a context."""
