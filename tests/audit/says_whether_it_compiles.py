"""Started as a worker is started: says over its connection whether it would compile towers."""

import sys
from multiprocessing.connection import Connection

from core.settings import compiles

if __name__ == "__main__":
    Connection(int(sys.argv[1])).send(compiles())
