"""The least that a photo service on Flask and SQLAlchemy does: `bare_flask` with a mapped class in place of sqlite3.

One table of results, a column for each field; a page is read as objects of the class.
"""

import os
import sqlite3
from typing import Any

import orjson
from flask import Flask, Response, request
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Column, Table, Text, select
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    pass


with sqlite3.connect(os.environ["PEER_DATABASE"]) as reading:
    names = [row[1] for row in reading.execute("PRAGMA table_info(results)")]

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{os.environ['PEER_DATABASE']}"
db = SQLAlchemy(app, model_class=Base)


class Result(Base):
    __table__ = Table("results", Base.metadata, *(Column(name, Text, primary_key=name == "ID") for name in names))


def _record(result: Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


@app.get("/photos")
def photos() -> Response:
    count, offset = request.args.get("count", 100, int), request.args.get("offset", 0, int)
    columns = Result.__table__.c
    newest = select(Result).order_by(columns.TakenAt.desc(), columns.ID.desc()).limit(count).offset(offset)
    found = db.session.scalars(newest).all()
    body = orjson.dumps([_record(one) for one in found])
    return Response(body, content_type="application/json", headers={"X-Count": str(len(found))})


@app.get("/hello")
def hello() -> str:
    return "hello"
