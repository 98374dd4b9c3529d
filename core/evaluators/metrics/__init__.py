"""The evaluators themselves: the only modules in which evaluators are looked for."""
