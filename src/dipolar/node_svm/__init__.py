"""The problem that splits one node: its solvers, the re-orientation loop around them, the surface they find."""
