"""Split surfaces on a few drawn covariates: what they are, and which way they send a row.

A surface belongs to some columns of the (standardised) covariates z and has one of three kernels:

    LINEAR       score = b + sum_a c_a z_a
    QUADRATIC    score = b + sum_a c_a sqrt(2) z_a + sum_{a <= b} c_ab (sqrt(2) where a < b) z_a z_b
    GAUSSIAN     score = b + sum_k c_k exp(-|z - basis_k|^2 / (2 m)),   m columns

They are found in `surface_search`.
"""

from __future__ import annotations

import math

from dipolar._core.compiling import compiled

__all__ = [
    "GAUSSIAN",
    "LINEAR",
    "QUADRATIC",
    "ROOT_TWO",
    "fill_scores",
    "n_coefficients",
    "route_surfaces",
    "surface_score",
]

LINEAR, QUADRATIC, GAUSSIAN = 0, 1, 2

ROOT_TWO = math.sqrt(2.0)


@compiled()
def n_coefficients(kernel, n_columns, max_rank):
    """Number of coefficients of a surface; the Gaussian kernel has as many as basis rows, at most `max_rank`."""
    if kernel == LINEAR:
        return n_columns
    if kernel == QUADRATIC:
        return n_columns * (n_columns + 3) // 2
    return max_rank


@compiled()
def surface_score(kernel, z, columns, coefficient, basis, intercept):
    """Return the score of one row z; `basis` is flat, one block of len(columns) values per coefficient."""
    m = len(columns)
    score = intercept
    if kernel == GAUSSIAN:
        width = -0.5 / m
        for k in range(len(coefficient)):
            square = 0.0
            for a in range(m):
                gap = z[columns[a]] - basis[k * m + a]
                square += gap * gap
            score += coefficient[k] * math.exp(width * square)
        return score
    if kernel == LINEAR:
        for a in range(m):
            score += coefficient[a] * z[columns[a]]
        return score
    k = m
    for a in range(m):
        za = z[columns[a]]
        score += coefficient[a] * ROOT_TWO * za + coefficient[k] * za * za
        k += 1
        for b in range(a + 1, m):
            score += coefficient[k] * ROOT_TWO * za * z[columns[b]]
            k += 1
    return score


@compiled()
def fill_scores(kernel, Z, rows, columns, coefficient, basis, intercept, scores):
    """Overwrite `scores` with those of some rows of Z, to the last bit as `route_surfaces` has them."""
    for i in range(len(rows)):
        scores[i] = surface_score(kernel, Z[rows[i]], columns, coefficient, basis, intercept)


@compiled()
def route_surfaces(
    Z, left, split, kernel, column_offset, column, offset, coefficient, basis_offset, basis, intercept, leaf
):
    """Send every row of Z down to its leaf; `leaf` is overwritten with node numbers."""
    for i in range(len(Z)):
        node = 0
        while left[node] >= 0:
            s = split[node]
            score = surface_score(
                kernel[s],
                Z[i],
                column[column_offset[s] : column_offset[s + 1]],
                coefficient[offset[s] : offset[s + 1]],
                basis[basis_offset[s] : basis_offset[s + 1]],
                intercept[s],
            )
            node = left[node] if score < 0.0 else left[node] + 1
        leaf[i] = node
