"""The probes themselves: the only modules in which probes are looked for."""
