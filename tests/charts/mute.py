"""A process that takes what it is asked and never answers."""

import threading

if __name__ == "__main__":
    threading.Event().wait()
