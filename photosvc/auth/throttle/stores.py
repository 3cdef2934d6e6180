"""Where failures are counted, as the settings say."""

from photosvc.auth.throttle.attempts import FailureStore
from photosvc.auth.throttle.database import DatabaseFailureStore
from photosvc.settings import Settings


def failure_store(settings: Settings) -> FailureStore:
    """Redis where the settings name one, else the database.

    Raises:
        SettingError: the address is not valid, or the extra `redis` is not installed.

    """
    if not settings.redis_url:
        return DatabaseFailureStore()
    from photosvc.auth.throttle.redis import RedisFailureStore

    return RedisFailureStore(settings.redis_url)
