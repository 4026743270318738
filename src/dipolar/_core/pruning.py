"""Weakest-link pruning of a tree given as arrays.

Glossary
--------
G(h)         statistic of the split at node h
S_h          the splits of branch h, those at and below h that have not been cut yet
g(h)         G(T_h) / |S_h|, the mean statistic of branch h: from that price per split on, it is not worth it
"""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled

__all__ = ["cut_weakest_links"]

# Links whose strengths differ by less are equally weak and are cut in one step.
TIE = 1e-10


@compiled()
def _set(heap, n_slots, node, value):
    """Set an entry of a tournament tree: heap[1] is the smallest of all, heap[n_slots + node] a node's."""
    j = n_slots + node
    heap[j] = value
    j >>= 1
    while j > 0:
        smallest = min(heap[2 * j], heap[2 * j + 1])
        if heap[j] == smallest:
            return
        heap[j] = smallest
        j >>= 1


@compiled()
def _weakest(heap, n_slots):
    j = 1
    while j < n_slots:
        j *= 2
        if heap[j] != heap[j >> 1]:
            j += 1
    return j - n_slots


@compiled()
def cut_weakest_links(left, parent, statistic, n_slots, branch_total, branch_size, stack, heap, removed_at, alphas):
    """Cut one weakest link after the other until only the root is left.

    Parameters
    ----------
    left, parent : int64 arrays (n_nodes,)
        Left child (-1 in leaves; the right child is the next node) and parent (-1 at the root); a parent has
        a smaller number than its children.
    statistic : float64 array (n_nodes,)
        G of every split, 0 in leaves.
    n_slots : int
        A power of two, at least n_nodes.
    branch_total, branch_size, stack : float64, int64, int64 arrays (n_nodes,)
        Scratch, overwritten.
    heap : float64 array (2 * n_slots,)
        Scratch, overwritten.
    removed_at : int32 array (n_nodes,)
        Overwritten: the step at which a node stopped being a split; 0 for leaves.
    alphas : float64 array (n_nodes + 1,)
        Overwritten: entry k is the strength of the links that step k cut; entry 0 is 0.

    Returns
    -------
    n_steps : int
        The number of steps, so that the path has n_steps + 1 members.
    """
    n_nodes = len(left)
    for j in range(2 * n_slots):
        heap[j] = np.inf
    alphas[0] = 0.0
    for node in range(n_nodes):
        removed_at[node] = 0
        branch_total[node] = statistic[node] if left[node] >= 0 else 0.0
        branch_size[node] = 1 if left[node] >= 0 else 0
    for node in range(n_nodes - 1, 0, -1):
        branch_total[parent[node]] += branch_total[node]
        branch_size[parent[node]] += branch_size[node]
    for node in range(n_nodes):
        if branch_size[node] > 0:
            heap[n_slots + node] = branch_total[node] / branch_size[node]
    for j in range(n_slots - 1, 0, -1):
        heap[j] = min(heap[2 * j], heap[2 * j + 1])

    step = 0
    while branch_size[0] > 0:
        strength = heap[1]
        top = _weakest(heap, n_slots)
        if top >= n_nodes or branch_size[top] == 0:
            return step  # no statistic is a number: there is nothing to compare
        if step == 0 or strength > alphas[step] * (1.0 + TIE):
            step += 1
            alphas[step] = strength

        # The whole branch goes: its splits at and below `top` ...
        total, size = branch_total[top], branch_size[top]
        stack[0] = top
        n_stack = 1
        while n_stack > 0:
            n_stack -= 1
            node = stack[n_stack]
            if branch_size[node] == 0:
                continue
            removed_at[node] = step
            branch_size[node] = 0
            _set(heap, n_slots, node, np.inf)
            stack[n_stack] = left[node]
            stack[n_stack + 1] = left[node] + 1
            n_stack += 2
        # ... and the ancestors lose what it held.
        node = parent[top]
        while node >= 0:
            branch_total[node] -= total
            branch_size[node] -= size
            _set(heap, n_slots, node, branch_total[node] / branch_size[node])
            node = parent[node]
    return step
