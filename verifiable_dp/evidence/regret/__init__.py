"""Judges of regret: bounds, exponents, growth, comparisons."""
