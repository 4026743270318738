"""Slow and obvious twins of the compiled routines."""
