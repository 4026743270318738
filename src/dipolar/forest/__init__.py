"""Forests: how their trees are sampled, grown level by level, averaged, explained and kept."""
