"""The cluster: service and database (/cluster), its machines (/cluster/nodes), and what is wrong (/cluster/health)."""

from typing import Final

from flask import Response

from photosvc import __version__
from photosvc.index.jobs import State
from photosvc.index.nodes import Cluster, count_jobs, database_of, look_at_cluster
from photosvc.records.upkeep import NodeSchema
from photosvc.web.answers import json_answer
from photosvc.web.contract import NUMBER, TEXT, OwnBlueprint, answers, json_object
from photosvc.web.current import current_service
from photosvc.web.protector import require

cluster = OwnBlueprint("cluster", __name__)

_node = NodeSchema()
_OBJECT: Final = {"type": "object"}
_ARRAY: Final = {"type": "array", "items": _OBJECT}
_STATUS: Final = {"type": "string", "enum": ["ok", "warning"]}


def _status(found: Cluster) -> str:
    return "warning" if found.findings else "ok"


@cluster.get("/cluster")
@require("cluster.view")
@answers(
    json_object(
        "service version status database nodes jobs",
        service=TEXT,
        version=TEXT,
        status=_STATUS,
        database=_OBJECT,
        nodes=NUMBER,
        jobs=_OBJECT,
    ),
    "The service, its database, and the numbers of machines and jobs.",
)
def show_cluster() -> Response:
    """Show version and database of the service, and the numbers of its machines and jobs.

    The database is `embedded` (SQLite), the `primary`, or a `standby`, which refuses changes. `replica` is `in step`,
    `behind` or `away`, with the bytes that it is `behind`; null if searches are not read from a replica.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        found = look_at_cluster(session, service.clock, service.replica)
        counts, database = count_jobs(session), database_of(session)
    replica = found.replica
    told = {"replica": replica.standing.value, "behind": replica.behind} if replica else {"replica": None}
    return json_answer(
        {
            "service": "photosvc",
            "version": __version__,
            "status": _status(found),
            "database": {**database._asdict(), **told},
            "nodes": len(found.nodes),
            "jobs": {"waiting": counts[State.WAITING], "running": counts[State.RUNNING]},
        }
    )


@cluster.get("/cluster/nodes")
@require("cluster.view")
@answers(NodeSchema, "The machines, by name and role.", many=True)
def list_nodes() -> Response:
    """List the machines by their heartbeats: one entry for each machine and role, at most 1000.

    A machine is `silent` 90 seconds after its last heartbeat, and forgotten after a day. One that ended properly is
    not listed.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        return json_answer([_node.dump(node) for node in look_at_cluster(session, service.clock, None).nodes])


@cluster.get("/cluster/health")
@require("cluster.view")
@answers(json_object("status findings", status=_STATUS, findings=_ARRAY), "What is wrong with the machines.")
def show_cluster_health() -> Response:
    """Tell which machines have another version or a wrong clock or fell silent, and whether the replica is away.

    The status is `warning` if there is a finding; the answer is 200 also then.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        found = look_at_cluster(session, service.clock, service.replica)
    return json_answer({"status": _status(found), "findings": [one.as_record() for one in found.findings]})
