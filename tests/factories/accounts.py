"""A database with people and clients in it, and a clock that tests move."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.models import Base, Client, Credential, User
from photosvc.models.database import begin_write, configure_engine

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def new_engine(folder, name="auth.db"):
    engine = create_engine(f"sqlite:///{folder / name}")
    configure_engine(engine)
    Base.metadata.create_all(engine)
    return engine


@contextmanager
def open_session(folder):
    engine = new_engine(folder)
    with Session(engine) as session:
        yield session
    engine.dispose()


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
    """A credential as it is; gives its secret."""
    secret = secret or ids.new_access_token()
    uid = "sess" + ids.random_text(8, ids.BASE36)
    values.setdefault("created_at", NOW)
    begin_write(session)
    session.add(Credential(uid=uid, kind=kind, digest=ids.digest(secret), scope=scope, **values))
    session.flush()
    return secret


def new_settings(folder, **given):
    from photosvc.settings import load_settings

    given = {"PHOTOSVC_SECRET_KEY": "k" * 32, **{f"PHOTOSVC_{name.upper()}": value for name, value in given.items()}}
    return load_settings(folder, given=given)
