"""What makes the tests cheap without a difference to what they check. Processes that tests start are not concerned."""

from argon2 import PasswordHasher

from photosvc.auth.accounts import passwords

#: The hasher of the service, whose cost protects real accounts.
SERVICE_HASHER = passwords._HASHER
#: Log-ins of tests are many and their passwords no secrets.
TEST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def hash_passwords_cheaply() -> None:
    """Replace the hasher of passwords; `tests/unit/auth/test_auth_passwords.py` tests the one of the service."""
    passwords._HASHER = TEST_HASHER
