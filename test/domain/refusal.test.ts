import { describe, expect, test } from 'vitest'
import { type ErrorCode, errors, invalid, Refusal } from '../../shared/domain/refusal.ts'
import { rowsOf } from '../support/rows.ts'

const published = rowsOf(`
  1000  An unexpected error occurred                    general         500
  1007  Validation failed                               validation      422
  1010  Validation error                                general         422
  1020  Resource not found                              general         404
  1400  Bad request                                     request         400
  1401  Unauthorized                                    authentication  401
  1402  Bank identifier not supported                   banks           402
  1403  Forbidden                                       authorization   403
  1404  Resource not found                              general         404
  1405  Method not allowed                              request         405
  1409  Request conflicts with current state            general         409
  1422  Invalid record                                  validation      422
  1429  Too many requests                               rate_limiting   429
  1451  IP address not authorized                       security        403
  1452  IP address validation failed                    security        403
  1453  Rate limit exceeded for IP address              security        429
  1454  Rate limit exceeded for payment partner         security        429
  1455  Rate limit exceeded for bank                    security        429
  1456  Payment processing rate limit exceeded          security        429
  1500  Internal server error                           general         500
  1503  Service temporarily unavailable                 availability    503
  2001  Bank connector error                            connectors      502
  2002  Bank API error                                  connectors      502
  2003  No connector available for bank                 connectors      503
  2010  Authentication failed                           security        401
  2030  Rate limit exceeded                             security        429
  2100  Bank connector error                            connectors      502
  2408  Upstream service timeout                        connectors      504
  2500  Upstream service error                          connectors      502
  2502  Upstream connection failed                      connectors      502
  3001  Invalid status transition                       transactions    400
  3002  Invalid approval method                         transactions    400
  3003  Duplicate transaction reference                 transactions    409
  3004  Unsupported currency (must be GHS)              transactions    400
  3005  Transaction limit exceeded                      transactions    400
  3006  Transaction already processed                   transactions    409
  3007  Invalid transaction amount                      transactions    400
  3008  Account is inactive                             accounts        400
  3009  Insufficient funds                              accounts        400
  3404  Transaction not found                           transactions    404
  3422  Validation failed                               validation      422
  4001  Webhook delivery failed                         webhooks        502
  4400  Invalid webhook payload                         webhooks        400
  4401  Invalid webhook signature                       webhooks        401
  4403  Partner not subscribed to event                 webhooks        403
  4404  Webhook not configured for partner              webhooks        404
  4408  Webhook delivery timeout                        webhooks        408
  5001  Settlement batch cannot be processed            settlements     400
  5002  No transactions to settle                       settlements     400
  5003  Settlement currency not supported               settlements     400
  5004  Settlement line item transaction type invalid   settlements     400
  5005  Settlement batch already processed              settlements     409
  5404  Settlement batch not found                      settlements     404
`)

const codes = Object.keys(errors).map((code) => Number(code) as ErrorCode)

test('the error table is exactly the published one', () => {
  const rows = codes.map((code) => {
    const { message, category, http } = errors[code]
    return [String(code), message, category, String(http)]
  })
  expect(rows).toEqual(published)
})

describe('ranges of codes', () => {
  const others = [2010, 2030, 3008, 3009, 3422]
  const ranges = rowsOf(`
    2  connectors
    3  transactions
    4  webhooks
    5  settlements
  `)

  test('every code is in a published range', () => {
    expect(codes.filter((code) => code < 1000 || code > 5999)).toEqual([])
  })

  test.each(ranges)(
    'codes of %s000 have the category %s, with exceptions',
    (thousand, category) => {
      const range = codes.filter((code) => String(code).startsWith(thousand))
      const strangers = range.filter((code) => errors[code].category !== category)
      expect(strangers.filter((code) => !others.includes(code))).toEqual([])
    },
  )
})

describe('severity', () => {
  const marked = rowsOf(`
    1000  critical
    1451  high
    1452  medium
    1453  medium
    1454  medium
    1455  medium
    1456  high
    2010  high
    2100  high
  `)

  test('the severity is the published one if the table has it', () => {
    expect(marked.map(([code]) => [code, errors[Number(code) as ErrorCode].severity])).toEqual(
      marked,
    )
  })

  const open = codes.filter((code) => !marked.some(([known]) => Number(known) === code))

  test.each([
    ['our and upstream faults', 'high', (http: number) => http >= 500],
    ['conflicts and limits', 'medium', (http: number) => [409, 429].includes(http)],
    ['invalid and missing objects', 'low', (http: number) => [404, 422].includes(http)],
  ])('the severity of %s is %s', (_, severity, isOfKind) => {
    const ofKind = open.filter((code) => isOfKind(errors[code].http))
    expect(ofKind.filter((code) => errors[code].severity !== severity)).toEqual([])
  })
})

describe('refusals', () => {
  test('a refusal has the values of its row', () => {
    const refusal = new Refusal(3404)
    expect([refusal.http, refusal.details]).toEqual([404, undefined])
    expect(refusal.error).toEqual({
      code: 3404,
      message: 'Transaction not found',
      category: 'transactions',
      severity: 'low',
    })
  })

  test('a refusal may have a published variant of message, category and status', () => {
    const variant = { message: 'Account not found', category: 'accounts', http: 404 } as const
    const { http, error } = new Refusal(1404, variant)
    expect({ http, ...error }).toEqual({ ...variant, code: 1404, severity: 'low' })
    expect(new Refusal(3001, { http: 422 }).http).toBe(422)
  })

  test('a refusal of fields is 422/1007 with their messages', () => {
    const refusal = invalid({ customer: ['account not found'] })
    expect([refusal.http, refusal.error.code]).toEqual([422, 1007])
    expect(refusal.details).toEqual({ customer: ['account not found'] })
  })
})
