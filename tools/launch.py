"""Starts the launcher from the checkout: launch.py ARGUMENTS, by any Python from 3.9 on."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = not os.access(os.path.join(ROOT, "daemon"), os.W_OK)
sys.path.insert(0, os.path.join(ROOT, "daemon"))

try:
    from ultan.service.launcher import main

    sys.exit(main(sys.argv[1:], ROOT))
except KeyboardInterrupt:  # before the launcher's own care for it
    sys.exit(130)
