"""Settings of the service, typed and checked at start-up; each value records its source.

Sources, later ones win: defaults, the folder that `svc run` remembers, `instance/config.py`, `PHOTOSVC_*`
environment variables, and what the embedding app passes. An unknown name or an invalid value stops the start.
"""

from photosvc.settings.sources import PREFIX, REMEMBERED, load_settings
from photosvc.settings.table import Settings, setting_fields

__all__ = ["PREFIX", "REMEMBERED", "Settings", "load_settings", "setting_fields"]
