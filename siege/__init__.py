"""Everything that bad luck or an adversary may do to Invariscope, tried and counted; no part of the program."""
