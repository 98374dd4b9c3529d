"""What several pages share: entry, links, filters, downloads."""
