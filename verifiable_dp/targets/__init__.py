"""How a user's code is found, adapted, guarded and run."""
