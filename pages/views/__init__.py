"""What the pages are made of: a folder a page, and ``common`` for what they share."""
