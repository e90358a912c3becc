"""``python -m casmore`` is the command ``casmore``."""

import sys

from casmore.cli import main

if __name__ == "__main__":
    sys.exit(main())
