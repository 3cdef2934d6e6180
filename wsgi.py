"""The WSGI entry: `gunicorn wsgi:app`."""

from photosvc.app import create_app

app = create_app()
