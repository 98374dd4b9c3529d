"""Language models that look at a picture and answer."""
