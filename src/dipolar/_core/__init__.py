"""Compiled routines: plain functions over arrays, numpy and numba only."""

from dipolar._core.compiling import pause_collector

pause_collector()
