import { expect, test } from 'vitest'
import { type ErrorCode, errors } from '../../shared/domain/refusal.ts'
import { rowsOf } from '../support/rows.ts'

const published = rowsOf(`
  1000  An unexpected error occurred                     general         500  critical
  1007  Validation failed                                validation      422  low
  1010  Validation error                                 general         422  low
  1020  Resource not found                               general         404  low
  1400  Bad request                                      request         400  low
  1401  Unauthorized                                     authentication  401  high
  1402  Bank identifier not supported                    banks           402  low
  1403  Forbidden                                        authorization   403  high
  1404  Resource not found                               general         404  low
  1405  Method not allowed                               request         405  low
  1409  Request conflicts with current state             general         409  medium
  1422  Invalid record                                   validation      422  low
  1429  Too many requests                                rate_limiting   429  medium
  1451  IP address not authorized                        security        403  high
  1452  IP address validation failed                     security        403  medium
  1453  Rate limit exceeded for IP address               security        429  medium
  1454  Rate limit exceeded for payment partner          security        429  medium
  1455  Rate limit exceeded for bank                     security        429  medium
  1456  Payment processing rate limit exceeded           security        429  high
  1500  Internal server error                            general         500  high
  1503  Service temporarily unavailable                  availability    503  high
  2001  Bank connector error                             connectors      502  high
  2002  Bank API error                                   connectors      502  high
  2003  No connector available for bank                  connectors      503  high
  2010  Authentication failed                            security        401  high
  2030  Rate limit exceeded                              security        429  medium
  2100  Bank connector error                             connectors      502  high
  2408  Upstream service timeout                         connectors      504  high
  2500  Upstream service error                           connectors      502  high
  2502  Upstream connection failed                       connectors      502  high
  3001  Invalid status transition                        transactions    400  medium
  3002  Invalid approval method                          transactions    400  low
  3003  Duplicate transaction reference                  transactions    409  medium
  3004  Unsupported currency (must be GHS)               transactions    400  low
  3005  Transaction limit exceeded                       transactions    400  medium
  3006  Transaction already processed                    transactions    409  medium
  3007  Invalid transaction amount                       transactions    400  low
  3008  Account is inactive                              accounts        400  medium
  3009  Insufficient funds                               accounts        400  medium
  3404  Transaction not found                            transactions    404  low
  3422  Validation failed                                validation      422  low
  4001  Webhook delivery failed                          webhooks        502  high
  4400  Invalid webhook payload                          webhooks        400  low
  4401  Invalid webhook signature                        webhooks        401  high
  4403  Partner not subscribed to event                  webhooks        403  medium
  4404  Webhook not configured for partner               webhooks        404  low
  4408  Webhook delivery timeout                         webhooks        408  medium
  5001  Settlement batch cannot be processed             settlements     400  medium
  5002  No transactions to settle                        settlements     400  medium
  5003  Settlement currency not supported                settlements     400  low
  5004  Settlement line item transaction type invalid    settlements     400  low
  5005  Settlement batch already processed               settlements     409  medium
  5404  Settlement batch not found                       settlements     404  low
`)

test('the error table is exactly the published one', () => {
  const rows = Object.keys(errors).map((code) => {
    const { message, category, http, severity } = errors[Number(code) as ErrorCode]
    return [code, message, category, String(http), severity]
  })
  expect(rows).toEqual(published)
})
