"""The way out of the sandbox: mitmproxy on ready-made sockets, made-up names, trust files, the spool.

Code in here carries out what a `netpolicy.ports.Gatekeeper` decides, and fails closed where it cannot ask.
"""

from netpolicy.proxy import slim as slim
