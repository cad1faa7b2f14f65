"""Many targets: campaign files, their runs, and the reproduction of a paper's experiments."""
