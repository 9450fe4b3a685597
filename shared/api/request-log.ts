import type { APIGatewayProxyResult } from 'aws-lambda'
import * as v from 'valibot'
import { Reference, readReference, Uuid } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { parseDeliveryId } from '../domain/webhooks/event.ts'
import { log } from '../log.ts'
import type { Figures } from '../metrics.ts'
import { environment } from '../runtime.ts'
import type { ApiEvent, RequestContext } from './context.ts'
import type { Success, TextReply } from './envelope.ts'
import { type OperationName, operations } from './operations.ts'

/** Returns the debit or batch that a reply shows. */
export const referenceIn = (result: Success | TextReply | Refusal): Reference | undefined => {
  const source = result instanceof Refusal ? result.details : 'data' in result && result.data
  return readReference((source as { reference?: string } | undefined)?.reference)
}

/** Returns the well-formed ids of a path, in any case, as the caller sent them; never a phone number. */
const idsInPath = ({ reference, uuid = '', id }: Record<string, string | undefined>) => {
  const text = reference ?? id ?? ''
  return {
    reference: v.is(Reference, text.toUpperCase())
      ? text
      : parseDeliveryId(environment.referencePrefix, id)?.reference,
    uuid: v.is(Uuid, uuid) ? uuid : undefined,
  }
}

/**
 * Returns the metric of a 4xx reply to a bank, because a rejected report can cost a customer's money, or
 * to a charge of a known caller, except 429. An unavailable bank counts with its 5xx.
 */
const refusedReply = (operation: OperationName, context: RequestContext, status = 0): Figures => {
  const { caller, credentialRefused, hasToken, isBankUnavailable } = context
  if (isBankUnavailable) return { ChargesRefused: 1, BankUnavailable: 1 }
  if (status < 400 || status >= 500) return {}
  if (operation === 'charge') return caller && status !== 429 ? { ChargesRefused: 1 } : {}
  if (operations[operation].caller !== 'bank') return {}
  // Anybody can send requests without a token.
  if (credentialRefused) return hasToken ? { BankCredentialsRefused: 1 } : {}
  return status === 429 ? { BankRequestsLimited: 1 } : { BankRequestsRefused: 1 }
}

/** Logs one line per request. The access log has the same `request_id`, but no ids of the path. */
export const logRequest = (
  operation: OperationName,
  { context, pathParameters }: ApiEvent,
  reply: APIGatewayProxyResult | undefined,
): void => {
  const { caller, requestId, reference } = context
  const ids = idsInPath(pathParameters ?? {})
  const status = reply?.statusCode
  log.info(
    'request',
    {
      operation,
      request_id: requestId,
      caller: caller?.kind === 'provider' ? caller.provider.id : caller?.bank,
      ...ids,
      ...(reference && { reference }),
      status,
    },
    refusedReply(operation, context, status),
  )
}
