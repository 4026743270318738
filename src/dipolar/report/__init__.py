"""A fitted tree as one HTML file that opens offline: look at it, compare its leaves, predict for one person."""

from dipolar.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
