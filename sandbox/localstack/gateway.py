"""Adds to LocalStack's API Gateway the limit of a body and the templates of gateway responses."""

import re

from localstack.services.apigateway.next_gen.execute_api import handlers
from localstack.services.apigateway.next_gen.execute_api.gateway_response import (
    RequestTooLargeError,
    get_gateway_response_or_default,
)
from localstack.services.apigateway.next_gen.execute_api.handlers.gateway_exception import (
    GatewayExceptionHandler,
)
from rolo import Response

BODY_LIMIT_BYTES = 10 * 1024 * 1024
HEADER = "gatewayresponse.header."
VARIABLE = re.compile(r"\$context\.(\w+)")


def refuse_large_body(chain, context, response):
    if len(context.invocation_request["body"]) > BODY_LIMIT_BYTES:
        raise RequestTooLargeError(f"Request size exceeded {BODY_LIMIT_BYTES} bytes")


def render(text, context):
    """Replaces `$context.NAME`; variables of variables do not occur."""
    return VARIABLE.sub(lambda match: str(context.context_variables.get(match[1], "")), text)


def defined_response(handler, exception, context):
    responses = context.deployment.rest_api.gateway_responses
    defined = get_gateway_response_or_default(exception.type, responses)
    headers = {"Content-Type": "application/json"}
    for name, value in (defined.get("responseParameters") or {}).items():
        is_literal = value.startswith("'")
        text = value.strip("'") if is_literal else render(f"${value}", context)
        headers[name.removeprefix(HEADER)] = text
    return Response(
        response=render(defined["responseTemplates"]["application/json"], context),
        headers=headers,
        status=defined.get("statusCode") or exception.status_code,
    )


def install():
    handlers.preprocess_request.append(refuse_large_body)
    GatewayExceptionHandler.create_exception_response = defined_response
