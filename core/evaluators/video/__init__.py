"""Scores of videos: EMScore's formula, document frequencies, and what an evaluator of videos is."""
