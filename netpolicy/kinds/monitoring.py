"""Monitoring: queries read, what pushes measurements or acts on the server writes. Pure.

Sources: HTTP API references of Prometheus, Loki, Tempo, Pushgateway, Grafana; OTLP/HTTP.
"""

from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table

_prometheus = Table(
    "prometheus",
    read=[
        "POST /**/api/v1/{query,query_range,query_exemplars,series,labels,format_query,parse_query,read}",
    ],
)
_loki = Table(
    "loki",
    read=[
        "POST /**/loki/api/v1/{query,query_range,series,labels,format_query,patterns}",
        "POST /**/loki/api/v1/index/{stats,volume,volume_range}",
    ],
)
_grafana = Table(
    "grafana",
    read=["POST /**/api/ds/query", "POST /**/api/tsdb/query"],
    unknown=["* /**/api/datasources/proxy/**", "* /**/api/datasources/*/*/resources/**"],
)
_telemetry = Table("otlp", drop=["POST /v1/{traces,logs,metrics,profiles}", "POST /v1development/profiles"])
_pushgateway = Table("pushgateway")
_alertmanager = Table("alertmanager")

KINDS = {
    "prometheus": _prometheus.judge,
    "mimir": _prometheus.judge,
    "thanos": _prometheus.judge,
    "loki": _loki.judge,
    "grafana": _grafana.judge,
    "otlp": _telemetry.judge,
    "pushgateway": _pushgateway.judge,
    "alertmanager": _alertmanager.judge,
}
EXAMPLES = (
    Example("prometheus", "POST /api/v1/query_range", READ, b"query=up", FORM),
    Example("prometheus", "POST /api/v1/write", EXTERNAL, b"x"),
    Example("prometheus", "POST /-/reload", EXTERNAL),
    Example("prometheus", "POST /api/v1/admin/tsdb/delete_series?match[]=up", EXTERNAL),
    Example("loki", "POST /loki/api/v1/push", EXTERNAL, b"{}", JSON),
    Example("loki", "POST /loki/api/v1/query_range", READ, b"query=x", FORM),
    Example("grafana", "POST /api/ds/query", READ, b"{}", JSON),
    Example("grafana", "GET /api/datasources/proxy/1/admin", UNKNOWN),
    Example("grafana", "POST /api/dashboards/db", EXTERNAL, b"{}", JSON),
    Example("otlp", "POST /v1/traces", EXTERNAL, b"{}", JSON),
    Example("pushgateway", "PUT /metrics/job/x", EXTERNAL, b"a 1\n"),
    Example("alertmanager", "POST /api/v2/silences", EXTERNAL, b"{}", JSON),
)
