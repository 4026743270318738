"""The figures of the studies; these modules alone need matplotlib."""
