"""Survival trees: splitters, growing, pruning, the frozen record, saving."""
