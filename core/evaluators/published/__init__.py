"""What the published evaluators share: their catalogue, their weights on disk, their towers."""
