"""Variants: one controlled edit of an item each."""
