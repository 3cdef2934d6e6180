"""The WSGI entry: `gunicorn wsgi:app`."""

import atexit
import gc

from photosvc.app import create_app
from photosvc.web.auditing import write_last_refusals

app = create_app()
atexit.register(write_last_refusals, app)

# What was imported lives as long as the process: the collector of cycles need not look at it again and again.
gc.collect()
gc.freeze()
