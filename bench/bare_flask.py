"""The peers of the search benchmark, as short as a Flask app can be: no accounts, filters or orders.

`/photos` reads the 59 columns of a photo result for each row and dumps them with orjson; its page begins at `offset`,
or after the row with the keys `taken` and `id`. `/memory` sends the same bytes as the service, kept in memory. `/hello`
reads nothing.
"""

import os
import sqlite3

import orjson
from flask import Flask, Response, request

#: Ends each result: the service stores them without it.
TAIL = ',"Merged":false,"Files":[]}'

app = Flask(__name__)
database = sqlite3.connect(os.environ["PEER_DATABASE"], check_same_thread=False)
library = sqlite3.connect(os.environ["PEER_LIBRARY"], check_same_thread=False)
for opened in (database, library):
    opened.execute("PRAGMA mmap_size=1073741824")
names = [row[1] for row in database.execute("PRAGMA table_info(results)")]
selected, order = f"SELECT {', '.join(names)} FROM results", "ORDER BY TakenAt DESC, ID DESC LIMIT ?"
query = f"{selected} {order} OFFSET ?"
behind = f"{selected} WHERE (TakenAt, ID) < (?, ?) {order}"
stored = """
    SELECT result_head FROM photosvc_search_rows AS row JOIN photosvc_search_documents AS document USING (file_id)
    WHERE row.listed = 1 ORDER BY row.taken_at DESC, row.newest_key DESC LIMIT ?
"""

#: Answers of `/memory` by their count.
kept: dict[int, bytes] = {}


@app.get("/photos")
def photos() -> Response:
    count, offset = request.args.get("count", 100, int), request.args.get("offset", 0, int)
    if taken := request.args.get("taken"):
        rows = database.execute(behind, (taken, request.args.get("id", ""), count)).fetchall()
    else:
        rows = database.execute(query, (count, offset)).fetchall()
    body = orjson.dumps([dict(zip(names, row, strict=True)) for row in rows])
    return Response(body, content_type="application/json", headers={"X-Count": str(len(rows))})


@app.get("/memory")
def memory() -> Response:
    count = request.args.get("count", 100, int)
    if count not in kept:
        rows = library.execute(stored, (count,)).fetchall()
        kept[count] = f"[{f'{TAIL},'.join(head for (head,) in rows)}{TAIL}]".encode()
    return Response(kept[count], content_type="application/json")


@app.get("/hello")
def hello() -> str:
    return "hello"
