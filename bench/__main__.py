"""`python -m bench`, which is what `make bench` calls."""

import sys

from bench.run import main

sys.exit(main())
