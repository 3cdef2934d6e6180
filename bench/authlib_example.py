# ruff: noqa: ANN001, ANN201, ANN202, ARG002
"""The peer of the token benchmark: Authlib's own example of an OAuth2 server, reduced to client credentials.

It has Flask, Flask-SQLAlchemy and Authlib's server only. Secrets and tokens are stored as digests and SQLite has the
same pragmas as in the service, so that only the server code differs. The peer has no token cap, checks no scope and
never deletes a token.
"""

import hashlib
import hmac
import os
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import grants
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event

db = SQLAlchemy()


def digest(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


class Client(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    client_id = db.Column(db.String(48), index=True)
    client_secret = db.Column(db.String(64))
    scope = db.Column(db.Text)

    def check_client_secret(self, client_secret):
        return hmac.compare_digest(self.client_secret, digest(client_secret))

    def check_endpoint_auth_method(self, method, endpoint):
        return method in {"client_secret_basic", "client_secret_post"}

    def check_grant_type(self, grant_type):
        return grant_type == "client_credentials"

    def get_allowed_scope(self, scope):
        allowed = set(self.scope.split())
        return " ".join(word for word in (scope or "").split() if word in allowed)


class Token(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    client_id = db.Column(db.String(48), index=True)
    access_token = db.Column(db.String(64), unique=True)
    token_type = db.Column(db.String(40))
    scope = db.Column(db.Text)
    issued_at = db.Column(db.Integer)
    expires_in = db.Column(db.Integer)


def save_token(token, request):
    stored = {**token, "access_token": digest(token["access_token"])}
    db.session.add(Token(client_id=request.client.client_id, issued_at=int(time.time()), **stored))
    db.session.commit()


def on_connect(connection, _record):
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=15000"):
        connection.execute(f"PRAGMA {pragma}")


def create_app(uri=None):
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = uri or os.environ["PEER_DATABASE"]
    db.init_app(app)
    with app.app_context():
        event.listen(db.engine, "connect", on_connect)
        db.create_all()

    def query_client(client_id):
        return db.session.query(Client).filter_by(client_id=client_id).first()

    server = AuthorizationServer(app, query_client, save_token)
    server.register_grant(grants.ClientCredentialsGrant)

    @app.post("/oauth/token")
    def token():
        return server.create_token_response()

    return app
