"""A bank on the server that python-fastapi generates from docs/bank-protocol.json, with books in memory."""

import hashlib
import hmac
import os
import sys
import time

import uvicorn
from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse
from openapi_server.apis.accounts_api_base import BaseAccountsApi
from openapi_server.apis.debits_api_base import BaseDebitsApi
from openapi_server.apis.payouts_api_base import BasePayoutsApi
from openapi_server.apis.refunds_api_base import BaseRefundsApi
from openapi_server.main import app
from openapi_server.models.accepted import Accepted
from openapi_server.models.account import Account
from openapi_server.models.paid import Paid

_, port, known_phone = sys.argv
secret = os.environ["CONNECTOR_SECRET"].encode()
replies: dict[str, Response] = {}


@app.middleware("http")
async def verify(request: Request, call_next):
    """Refuses a request without a valid signature, which is over the bytes of the body."""
    timestamp = request.headers.get("x-timestamp", "")
    signed = request.method.encode() + request.scope["raw_path"] + timestamp.encode() + await request.body()
    expected = hmac.new(secret, signed, hashlib.sha256).hexdigest()
    is_signed = hmac.compare_digest(expected, request.headers.get("x-signature", ""))
    if not is_signed or abs(time.time() - int(timestamp)) > 300:
        return Response(status_code=401)
    return await call_next(request)


def receive(kind: str, key: str, order, model, **members) -> Response:
    """Returns the reply to an order, and stores it for repeats."""
    if order.uuid != key:
        raise HTTPException(400)
    status = 202 if model is Accepted else 200
    reply = model(uuid=order.uuid, amount=order.amount, bank_reference=f"B-{len(replies)}", **members)
    return replies.setdefault(f"{kind}/{key}", JSONResponse(reply.to_dict(), status))


def query(kind: str, uuid: str) -> Response:
    if reply := replies.get(f"{kind}/{uuid}"):
        return reply
    raise HTTPException(404)


class Bank(BaseDebitsApi, BasePayoutsApi, BaseRefundsApi, BaseAccountsApi):
    async def submit_debit(self, key, timestamp, signature, order):
        return receive("submissions", key, order, Accepted, status="accepted")

    async def query_debit(self, uuid, timestamp, signature):
        return query("submissions", uuid)

    async def pay_provider(self, key, timestamp, signature, order):
        return receive("settlements", key, order, Paid, status="paid")

    async def query_payment(self, uuid, timestamp, signature):
        return query("settlements", uuid)

    async def refund_customer(self, key, timestamp, signature, order):
        return receive("refunds", key, order, Paid, status="paid")

    async def query_refund(self, uuid, timestamp, signature):
        return query("refunds", uuid)

    async def find_account(self, phone, timestamp, signature):
        if phone != known_phone:
            raise HTTPException(404)
        return Account(account_number="1041001001", name="Ama Mensah", active=True)


uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="critical")
