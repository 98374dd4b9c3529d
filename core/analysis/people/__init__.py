"""What people said of the pairs, as items and as tables."""
