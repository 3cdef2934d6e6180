"""The gunicorn worker of the service: a slow client holds a connection, not a thread."""

from photosvc.serving.worker import Worker

__all__ = ["Worker"]
