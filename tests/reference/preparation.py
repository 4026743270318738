"""What an encoder does, once more and slowly: one cell at a time, over rows that are repeated as their weights say."""

from collections import Counter
from statistics import median

import numpy as np


def is_gap(cell):
    return cell is None or cell != cell


def encode_numbers(training, cells):
    """One column: the number, or the median of the training rows."""
    fill = float(median(cell for cell in training if not is_gap(cell)))
    return np.array([[fill if is_gap(cell) else float(cell)] for cell in cells])


def encode_levels(training, cells, reference="most_common"):
    """One column per level but the reference, for cells of text; an unknown level counts as the most common."""
    counts = Counter(cell for cell in training if not is_gap(cell))
    levels = sorted(counts)
    common = min(levels, key=lambda level: (-counts[level], level))
    left_out = common if reference == "most_common" else levels[0]
    rows = []
    for cell in cells:
        level = cell if cell in counts else common
        rows.append([float(level == other) for other in levels if other != left_out])
    return np.array(rows)


def encode_order(training, cells, order):
    """One column: the place in the order; a gap is at the median place, rounded down."""
    fill = median(order.index(cell) for cell in training if not is_gap(cell)) // 1
    return np.array([[float(fill if is_gap(cell) else order.index(cell))] for cell in cells])


def mark_gaps(training, cells):
    """One column that marks gaps, where a share of 5 % and 10 of the training rows have one; none otherwise."""
    gaps = sum(map(is_gap, training))
    marked = gaps >= 10 and gaps >= 0.05 * len(training)
    return np.array([[float(is_gap(cell))] * marked for cell in cells]).reshape(len(cells), int(marked))
