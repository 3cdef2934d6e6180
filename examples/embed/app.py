"""A host app with log-ins, tables and migrations of its own, and a page of photos by photosvc: `make example`."""

import os
import secrets

from flask import Flask, flash, redirect, render_template, request, url_for
from flask_login import LoginManager, UserMixin, current_user, login_required, login_user, logout_user
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from flask_wtf import CSRFProtect
from werkzeug.security import check_password_hash, generate_password_hash

from photosvc import HostUser, PhotoService, PhotosvcError, samples
from photosvc.migrations import include_name

app = Flask(__name__, instance_path=os.environ.get("INSTANCE"))
app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY") or secrets.token_hex()
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///app.db"
app.config["PHOTOSVC_ORIGINALS"] = os.environ.get("PHOTOS") or samples.ORIGINALS
db, logins, csrf = SQLAlchemy(app), LoginManager(app), CSRFProtect(app)
logins.login_view = "enter"
Migrate(app, db, directory=os.path.join(app.root_path, "migrations"), include_name=include_name)  # noqa: PTH118


class User(UserMixin, db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.Text, unique=True, nullable=False)
    password = db.Column(db.Text, nullable=False)


class Note(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.ForeignKey(User.id), nullable=False)
    photo_uid = db.Column(db.Text, nullable=False, index=True)
    text = db.Column(db.Text, nullable=False)


@logins.user_loader
def load_user(user_id):
    return db.session.get(User, int(user_id))


def who():
    """The signed-in user for photosvc: who came first also changes photos and sees private ones."""
    if current_user.is_authenticated:
        return HostUser(
            id=current_user.get_id(), name=current_user.name, role="user" if current_user.id == 1 else "viewer"
        )
    return None


photos = PhotoService(app, db=db, url_prefix="/media", parts=("search", "media"), principal_loader=who)
photos.exempt(csrf)


@app.get("/")
@login_required
def gallery():
    found, asked = (), {name: request.args.get(name) for name in ("q", "cursor")}
    try:
        found = photos.search(**asked, count=12, order="newest", primary=True, principal=who())
    except PhotosvcError as error:
        flash(error.message)
    notes = db.session.query(Note).filter(Note.photo_uid.in_([photo["UID"] for photo in found])).order_by(Note.id)
    show = lambda photo: photos.thumbnail_url(photo["Hash"], "tile_500", who())  # noqa: E731
    return render_template("gallery.html", found=found, q=asked["q"] or "", notes=notes.all(), thumbnail=show)


@app.post("/notes/<photo_uid>")
@login_required
def write(photo_uid):
    db.session.add(Note(user_id=current_user.id, photo_uid=photo_uid[:32], text=request.form["text"][:500]))
    db.session.commit()
    return redirect(url_for("gallery", q=request.form.get("q")))


@app.route("/enter", methods=["GET", "POST"])
def enter():
    if request.method == "POST":
        name, password = request.form["name"].strip(), request.form["password"]
        user = db.session.query(User).filter_by(name=name).one_or_none()
        if user is None and name and len(password) >= 8:  # the example lets everybody in
            db.session.add(user := User(name=name, password=generate_password_hash(password)))
            db.session.commit()
        if user is not None and check_password_hash(user.password, password):
            login_user(user)
            return redirect(url_for("gallery"))
        flash("Wrong password, or a new one of fewer than 8 characters.")
    return render_template("enter.html")


@app.post("/leave")
def leave():
    logout_user()
    return redirect(url_for("enter"))
