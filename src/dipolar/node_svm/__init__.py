"""The problem that splits one node: its solvers, the search around them, the surface they find, `DipoleSVM`."""
