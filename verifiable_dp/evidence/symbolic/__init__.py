"""Upper bounds on epsilon for users' code: rewards as any value in bounds, noise as draws of known law."""
