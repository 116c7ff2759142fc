"""A reader that never says anything."""

import time

time.sleep(600)
