"""All subtrees of a small tree that share its root, one by one."""


def all_subtrees(left, node=0):
    """Every set of nodes that can stay split: none, or this node and any choice in both branches."""
    yield frozenset()
    if left[node] < 0:
        return
    for first in all_subtrees(left, left[node]):
        for second in all_subtrees(left, left[node] + 1):
            yield frozenset([node]) | first | second


def best_subtree(left, statistic, alpha):
    """The smallest subtree with the largest G - alpha |S|, and that value."""
    subtrees = list(all_subtrees(left))
    values = [sum(statistic[node] for node in splits) - alpha * len(splits) for splits in subtrees]
    best = max(values)
    smallest = min((s for s, v in zip(subtrees, values) if v > best - 1e-9), key=len)
    return smallest, best
