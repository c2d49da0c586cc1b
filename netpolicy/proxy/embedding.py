"""mitmproxy with those parts alone that are used, and the hooks that the gate answers."""

# mypy: disallow-untyped-calls=False
# mitmproxy annotates only a part of its functions.

from collections.abc import Callable, Mapping

from mitmproxy import options
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.addons.tlsconfig import TlsConfig
from mitmproxy.master import Master
from mitmproxy.proxy.context import Context

from netpolicy.ports import Gatekeeper
from netpolicy.proxy.addon import GateAddon
from netpolicy.proxy.handler import Hook
from netpolicy.proxy.layers import StrictNextLayer
from netpolicy.proxy.settings import Settings


def embed(
    gatekeeper: Gatekeeper,
    settings: Settings,
    not_http: Callable[[Context], None],
    broken: Callable[[str], None],
) -> tuple[Master, Mapping[str, Hook]]:
    """The master and its hooks by name. `not_http` is told of connections that speak something else."""
    master = Master(options.Options())
    master._legacy_log_events.uninstall()  # would turn each log line into an event
    tls = TlsConfig()
    layers = StrictNextLayer(settings, not_http)
    gate = GateAddon(gatekeeper, broken, settings.via_authorization)
    master.addons.add(Proxyserver(), layers, tls, gate)
    _set_options(master.options, settings)
    return master, {
        "next_layer": layers.next_layer,
        "tls_clienthello": tls.tls_clienthello,
        "tls_start_client": tls.tls_start_client,
        "tls_start_server": tls.tls_start_server,
        "requestheaders": gate.requestheaders,
        "request": gate.request,
        "response": gate.response,
        "error": gate.error,
        "http_connect_upstream": gate.http_connect_upstream,
        "tcp_start": gate.tcp_start,
        "websocket_message": gate.websocket_message,
    }


def _set_options(opts: options.Options, settings: Settings) -> None:
    opts.update(
        mode=[],
        confdir=str(settings.authority),
        http2=False,
        http3=False,
        rawtcp=False,
        connection_strategy="lazy",
        validate_inbound_headers=True,
        ssl_insecure=False,
        upstream_cert=False,
        ssl_verify_upstream_trusted_ca=str(settings.roots),
        tcp_timeout=int(settings.limits.idle),
    )
    for name in ("emudhra", "emudhra_old"):  # sign with a compromised public authority
        if name in opts and getattr(opts, name):
            raise RuntimeError(f"mitmproxy's option {name} is on")
