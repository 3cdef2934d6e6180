"""Users, OAuth2 clients and credentials as rows, without the services that usually make them; and log-ins."""

from datetime import timedelta

from photosvc.auth.audit import Actor
from photosvc.auth.login import check_login, find_app_password
from photosvc.auth.login import log_in as open_session
from photosvc.auth.operation import Operation
from photosvc.auth.principal import NOWHERE
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.core.accounts import NO_LIMIT
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, Client, Credential, User
from photosvc.models.engine import begin_write
from tests.helpers.clock import NOW


def add_user(session, name="alice", role="user", **values):
    user = User(uid=ids.new_uid(ids.USER, NOW), name=name, role=role, created_at=NOW, updated_at=NOW, **values)
    begin_write(session)
    session.add(user)
    session.flush()
    return user


def add_client(session, name="frame", role="client", scope="*", secret=None, **values):
    client = Client(
        uid=ids.new_uid(ids.CLIENT, NOW),
        secret_digest=ids.digest(secret or ids.new_client_secret()),
        name=name,
        role=role,
        scope=scope,
        created_at=NOW,
        updated_at=NOW,
        **values,
    )
    begin_write(session)
    session.add(client)
    session.flush()
    return client


def add_credential(session, kind, scope="*", secret=None, **values):
    """Store a credential with these columns and return its secret."""
    secret = secret or ids.new_access_token()
    uid = "sess" + ids.random_text(8, ids.BASE36)
    values.setdefault("created_at", NOW)
    begin_write(session)
    session.add(Credential(uid=uid, kind=kind, digest=ids.digest(secret), scope=scope, **values))
    session.flush()
    return secret


def add_token(session, now, scope="*", *, user=None, name="test", lifetime=NO_LIMIT):
    """Store an app password of a user or, without one, an access token, and return its secret.

    It lasts: services that tests start have the machine's clock, which is ever further from that of the tests.
    """
    expires_at = None if lifetime == NO_LIMIT else now + timedelta(seconds=lifetime)
    values = {"name": name, "created_at": now, "expires_at": expires_at}
    if user is None:
        return add_credential(session, ACCESS_TOKEN, str(parse_scope(scope)), **values)
    return add_credential(
        session, APP_PASSWORD, str(parse_scope(scope)), ids.new_app_password(), user_id=user.id, **values
    )


def log_in(session, settings, now, *, username, password, code=None, origin=NOWHERE):
    """Both steps of a log-in, in the session's transaction."""
    connection = session.connection()
    proof = find_app_password(connection, now, username=username, password=password) or check_login(
        connection, now, username=username, password=password, code=code
    )
    operation = Operation(session=session, settings=settings, now=now, actor=Actor())
    return open_session(operation, proof, origin)
