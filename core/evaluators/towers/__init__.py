"""Image and text encoders of published evaluators, from their publishers' files."""
