"""Statistics of runs: events are chosen on some of them and tested on fresh ones."""
