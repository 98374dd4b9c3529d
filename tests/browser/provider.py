"""An OIDC provider on this machine: it signs whoever chooses an account in, and lies where an account says so."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.browser.conftest import PATIENCE_S, free_port

CLIENT, SECRET = "invariscope", "secret-of-this-client"
LASTS_S = 3600


@dataclass(frozen=True)
class Account:
    """Somebody whom the provider knows, or whom it pretends to know.

    Args:
        claims: in the ID token beside those of every account; None: left out of it.
        state: what comes back in place of the state that was sent.
        stranger: whether a key signs the token that the provider does not publish.
    """

    claims: Mapping[str, Any]
    state: str | None = None
    stranger: bool = False


@dataclass
class Provider:
    """The provider: accounts by name, and the address at which it answers."""

    accounts: Mapping[str, Account]
    port: int = field(default_factory=free_port)
    ended: list[str] = field(default_factory=list)
    """Where browsers were sent after they signed out here."""

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "published"}, private=True)
        self._other = RSAKey.generate_key(2048, {"kid": "published"}, private=True)
        self._codes: dict[str, tuple[str, Mapping[str, str]]] = {}
        self._routes = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/keys", self._keys),
                Route("/authorize", self._choose),
                Route("/chosen", self._chosen),
                Route("/token", self._token, methods=["POST"]),
                Route("/end", self._end),
            ]
        )

    @property
    def address(self) -> str:
        """Its issuer."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer while the context is open."""
        server = uvicorn.Server(uvicorn.Config(self._routes, port=self.port, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        until = time.monotonic() + PATIENCE_S
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        try:
            yield
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)

    async def _metadata(self, _: Request) -> Response:
        places = {"authorization": "authorize", "token": "token", "end_session": "end"}
        return JSONResponse(
            {
                "issuer": self.address,
                "jwks_uri": f"{self.address}/keys",
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "subject_types_supported": ["public"],
                "code_challenge_methods_supported": ["S256"],
                **{f"{name}_endpoint": f"{self.address}/{place}" for name, place in places.items()},
            }
        )

    async def _keys(self, _: Request) -> Response:
        return JSONResponse(KeySet([self._key]).as_dict(private=False))

    async def _choose(self, request: Request) -> Response:
        """The page of the provider on which somebody says who they are."""
        asked = request.query_params
        links = [
            f'<li><a href="/chosen?{escape(urlencode({**asked, "account": name}))}">{escape(name)}</a>'
            for name in self.accounts
        ]
        return HTMLResponse(f"<!doctype html><title>Provider</title><h1>Who are you?</h1><ul>{''.join(links)}</ul>")

    async def _chosen(self, request: Request) -> Response:
        asked = request.query_params
        name, code = asked["account"], uuid4().hex
        self._codes[code] = name, dict(asked)
        told = {"code": code, "state": self.accounts[name].state or asked["state"]}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(told)}", 302)

    async def _token(self, request: Request) -> Response:
        form = await request.form()
        name, asked = self._codes.pop(str(form["code"]), ("", {}))
        if not name or form.get("redirect_uri") != asked["redirect_uri"] or not form.get("code_verifier"):
            return JSONResponse({"error": "invalid_grant"}, 400)
        account, now = self.accounts[name], int(time.time())
        told = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": f"subject of {name}",
            "iat": now,
            "exp": now + LASTS_S,
            "nonce": asked["nonce"],
            **account.claims,
        }
        signed = jwt.encode(
            {"alg": "RS256", "kid": "published"},
            {claim: value for claim, value in told.items() if value is not None},
            self._other if account.stranger else self._key,
        )
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "expires_in": LASTS_S, "id_token": signed})

    async def _end(self, request: Request) -> Response:
        self.ended.append(request.query_params["post_logout_redirect_uri"])
        return RedirectResponse(self.ended[-1], 302)
