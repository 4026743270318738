"""Compiled routines: plain functions over arrays, numpy and numba only."""
