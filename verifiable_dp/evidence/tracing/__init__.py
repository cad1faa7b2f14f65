"""Rung 1 for code that was not written for this framework: tracked rewards, tracked noise, replay."""
