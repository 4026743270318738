"""The problem that splits one node: its solvers, the search around them, the surface they find, `DipoleSVM`."""

from dipolar.node_svm.learning import DistanceQuantile

__all__ = ["DistanceQuantile"]
