"""Writers of tiny checkpoints in the publishers' exact on-disk formats; the loaders that users run read them."""
