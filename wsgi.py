"""The WSGI entry: `gunicorn wsgi:app`."""

import gc

from photosvc.app import create_app

app = create_app()

# What was imported lives as long as the process: the collector of cycles need not look at it again and again.
gc.collect()
gc.freeze()
