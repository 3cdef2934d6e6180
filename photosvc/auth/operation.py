"""One operation: its write transaction, settings and time, its actor, and the entries that it adds to the security log.

Operations on accounts, clients and credentials take an `Operation` as their first argument, and write their own entry
of the security log in its transaction, so that neither is stored without the other.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from photosvc.auth import audit, policy
from photosvc.auth.audit import BY_COMMAND, Actor, Event, Named, new_entry
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import Scope
from photosvc.core.errors import PermissionDeniedError
from photosvc.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The circumstances of one operation."""

    session: Session
    """In a write transaction."""
    settings: Settings
    now: datetime
    actor: Actor
    principal: Principal | None = None
    """The credential of the request; None on the command line, and before a log-in."""

    @property
    def is_command(self) -> bool:
        """Return whether the actor is the command line, which the policy does not restrict."""
        return self.actor.kind == BY_COMMAND

    @property
    def credential_id(self) -> int | None:
        """Return the id of the credential of the request; None without one."""
        return None if self.principal is None else self.principal.credential_id

    def acting_as(self, principal: Principal) -> "Operation":
        """Return the operation with another actor: at a log-in the new session, at the token endpoint the client."""
        by = Actor.of(principal, address=self.actor.address, request_id=self.actor.request_id)
        return replace(self, principal=principal, actor=by)

    def record(self, event: Event, *, subject: Named | None = None, target: str = "", detail: str = "") -> None:
        """Record an event in the security log, see `new_entry`; a rollback of the transaction removes it."""
        entry = new_entry(self.now, event, self.actor, subject=subject, target=target, detail=detail)
        audit.add(self.session, [entry], keep=self.settings.audit_entries)
        audit.log_after_commit(self.session, [entry])

    def check_allowed(self, action: str) -> None:
        """Raise an error of `policy.decide` or `check_proof` unless `action` is allowed, not as an account's owner."""
        if not self.is_command:
            policy.decide(self._known_principal(), action)
            policy.check_proof(self._known_principal(), action, self.now)

    def check_grantable(self, scope: Scope) -> None:
        """Raise `ScopeTooWideError` if a new credential would have a wider scope than the one that makes it."""
        if not self.is_command:
            policy.check_grantable(self._known_principal(), scope)

    def _known_principal(self) -> Principal:
        if self.principal is None:
            raise PermissionDeniedError
        return self.principal
