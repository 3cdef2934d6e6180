"""What makes the tests cheap without a difference to what they check. Processes that tests start are not concerned."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from argon2 import PasswordHasher
from werkzeug.routing import Rule

from photosvc.auth.accounts import passwords

#: The hasher of the service, whose cost protects real accounts.
SERVICE_HASHER = passwords._HASHER
#: Log-ins of tests are many and their passwords no secrets.
TEST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def hash_passwords_cheaply() -> None:
    """Replace the hasher of passwords; `tests/unit/auth/test_auth_passwords.py` tests the one of the service."""
    passwords._HASHER = TEST_HASHER


def share_compiled_routes() -> None:
    """Compile the address builders of equal routes once: each of hundreds of apps has the same ninety."""
    compile_builder: Callable[..., Any] = Rule._compile_builder
    known: dict[object, Any] = {}

    @wraps(compile_builder)
    def compile_once(rule: Rule, append_unknown: bool = True) -> Any:
        if rule.defaults:
            return compile_builder(rule, append_unknown)
        key = (tuple(rule._trace), append_unknown)
        if key not in known:
            known[key] = compile_builder(rule, append_unknown)
        return known[key]

    Rule._compile_builder = compile_once
