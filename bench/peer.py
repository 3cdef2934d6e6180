"""The peer: the least a Flask app needs to answer a page of photos from SQLite, without accounts, filters or orders.

It reads the 59 columns of a photo result for each row and dumps them with orjson.
"""

import os
import sqlite3

import orjson
from flask import Flask, Response, request

COLUMNS = int(os.environ.get("PEER_COLUMNS", "59"))
app = Flask(__name__)
database = sqlite3.connect(os.environ["PEER_DATABASE"], check_same_thread=False)
database.execute("PRAGMA mmap_size=1073741824")
names = [row[1] for row in database.execute("PRAGMA table_info(results)")][:COLUMNS]
query = f"SELECT {', '.join(names)} FROM results ORDER BY TakenAt DESC, ID DESC LIMIT ? OFFSET ?"


@app.get("/api/v1/photos")
def photos() -> Response:
    count, offset = request.args.get("count", 100, int), request.args.get("offset", 0, int)
    rows = database.execute(query, (count, offset)).fetchall()
    body = orjson.dumps([dict(zip(names, row, strict=True)) for row in rows])
    return Response(body, content_type="application/json", headers={"X-Count": str(len(rows))})
