"""The five answers for a request, from what is known about its service, path and headers. Pure."""

import re
from functools import lru_cache

from netpolicy.call import Call, Finding
from netpolicy.headers import REMEMBERED, Headers
from netpolicy.words import words
from netpolicy.world import World
from sekisho.core.action import Answers, Credential, Effect, Reach, Stakes
from sekisho.core.rules import PRODUCTION, environments_of

_CREDENTIAL_HEADERS = words(
    "authorization proxy-authorization cookie x-api-key api-key x-auth-token x-access-token "
    "private-token job-token x-vault-token x-goog-api-key x-amz-security-token x-csrf-token apikey "
    "x-session-token deploy-token"
)
SECRET_PARAMETERS = words(
    "token key api_key apikey access_token auth password passwd secret sig signature client_secret "
    "apitoken private_token refresh_token x-amz-signature x-amz-security-token x-amz-credential "
    "x-goog-signature code jwt session sessionid awsaccesskeyid"
)
_STAKES: dict[str, Stakes] = {
    word: stakes
    for stakes, listed in (
        (
            Stakes.VISIBILITY,
            "visibility gists releases publish publisher access pages share shared_links sharing public",
        ),
        (
            Stakes.PERMISSIONS,
            (
                "collaborators members memberships permission permissions role roles "
                "rolebindings clusterrolebindings access_tokens token tokens setiampolicy iam acl policy "
                "policies keys hooks invitations users teams admin_api_keys secrets oauth login listkeys "
                "assumerole"
            ),
        ),
        (Stakes.CONTRACT, "contract contracts agreement agreements terms consent consents envelopes"),
        (
            Stakes.PAYMENT,
            (
                "charges payment payments payment_intents refund refunds checkout payout payouts "
                "subscriptions invoices billing orders"
            ),
        ),
    )
    for word in words(listed)
}
_SPLIT = re.compile(r"[/:.]+")


@lru_cache(maxsize=REMEMBERED)
def _shows_credential(headers: Headers) -> bool:
    return not _CREDENTIAL_HEADERS.isdisjoint(headers.fields)


def _credential(call: Call, effect: Effect) -> Credential:
    shown = [key for key, _ in call.query.pairs if key.lower() in SECRET_PARAMETERS]
    if not shown and not _shows_credential(call.headers):
        return Credential.NONE
    # A model call spends the agent's own key on what the key is for.
    return Credential.READ if effect in (Effect.READ, Effect.MODEL, Effect.LOCAL) else Credential.WRITE


def _stakes(call: Call) -> Stakes:
    settings = {key.lower() for key, value in call.query if not value}
    if settings & {"acl", "policy", "publicaccessblock"} or "public" in call.header("x-amz-acl").lower():
        return Stakes.PERMISSIONS
    found = (_STAKES.get(word) for word in _SPLIT.split(call.path.lower()))
    return next((stakes for stakes in found if stakes is not None), Stakes.NONE)


def answers(call: Call, finding: Finding, world: World, stakes: Stakes | None = None) -> Answers:
    """The answers for `finding`; `stakes` are those that the service has whatever the path."""
    effect = finding.effect
    if effect is Effect.LOCAL:
        return Answers(
            reversible=True, reach=Reach.SANDBOX, credential=_credential(call, effect), checkable=True
        )
    production = not PRODUCTION.isdisjoint(environments_of(world.policy, call.host, call.request.port))
    changes = effect not in (Effect.READ, Effect.MODEL)
    return Answers(
        reversible=finding.reversible or not changes,
        reach=Reach.PRODUCTION if production else Reach.OUTSIDE,
        credential=_credential(call, effect),
        stakes=(finding.stakes or stakes or _stakes(call)) if changes else Stakes.NONE,
        checkable=finding.checkable or not changes,
    )
