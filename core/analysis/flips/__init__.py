"""Flip risk: how often a harmless edit inverts a ranking."""
