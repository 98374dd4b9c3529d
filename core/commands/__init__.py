"""The commands of ``python -m core``, one file a command.

Heavy imports (torch, pandas, the rooms) happen inside the commands, so that ``--help`` is quick.
"""
