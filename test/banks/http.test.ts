import { afterEach, describe, expect, test } from 'vitest'
import { rowsOf } from '../support/rows.ts'
import { closeReceivers } from '../webhooks/http/servers.ts'
import { account, submissionOf } from './examples.ts'
import {
  ACCEPTED,
  accepted,
  bankReplying,
  ECHO,
  faultOf,
  queryOutcome,
  submit,
} from './stub-bank.ts'

afterEach(closeReceivers)

describe('the request of a submission', () => {
  test('has the debit as JSON and its uuid as idempotency key', async () => {
    const { url, calls } = await bankReplying(202, ACCEPTED)
    const submission = submissionOf()
    expect(await submit(url, submission)).toEqual(accepted)
    expect(calls).toMatchObject([
      {
        method: 'POST',
        path: '/hooks/submissions',
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'x-idempotency-key': submission.uuid,
        },
      },
    ])
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({
      uuid: submission.uuid,
      reference: submission.reference,
      phone_number: '+233249999999',
      account_number: account.accountNumber,
      amount: '100.00',
      currency: 'GHS',
      narration: 'Order 1',
      timestamp: '2026-11-21T12:00:00.000Z',
    })
  })

  test('has no account number if it is unknown', async () => {
    const { url, calls } = await bankReplying(202, ACCEPTED)
    await submit(url, submissionOf({ account: undefined }))
    expect(JSON.parse(calls[0]?.body ?? '')).not.toHaveProperty('account_number')
  })
})

const CASES = rowsOf(`
  200  ${ACCEPTED}                                                              accepted HTB-1
  202  ${ACCEPTED}                                                              accepted HTB-1
  422  ${ACCEPTED}                                                              2002
  201  ${ACCEPTED}                                                              2001
  200  {${ECHO},"status":"rejected","code":"insufficient_funds","message":"Too little"}   rejected insufficient_funds
  422  {${ECHO},"status":"rejected","code":"invalid_account","message":"No account"}      rejected invalid_account
  422  {${ECHO},"status":"rejected","code":"transaction_declined","message":"Declined"}   rejected transaction_declined
  422  {${ECHO},"status":"rejected","code":"timeout","message":"Took too long"}           rejected timeout
  422  {${ECHO},"status":"rejected","code":"network_error","message":"Core is down"}      rejected network_error
  422  {${ECHO},"status":"rejected","code":"dormant_account","message":"Dormant"}         rejected unknown_error
  202  {${ECHO},"status":"rejected","code":"invalid_account","message":"No account"}      2002
  422  {${ECHO},"status":"rejected","message":"No code"}                                  2002
  422  {${ECHO},"status":"rejected","code":"invalid_account"}                             2002
  422  {${ECHO},"status":"rejected","code":"invalid_account","message":""}                2002
  400  {${ECHO},"status":"rejected","code":"invalid_account","message":"No account"}      2001
  200  {${ECHO},"status":"accepted"}                                                      2002
  200  {${ECHO},"status":"accepted","bank_reference":""}                                  2002
  200  {${ECHO},"status":"accepted","bank_reference":7}                                   2002
  200  {${ECHO},"status":"accepted","bank_reference":"${'x'.repeat(256)}"}                2002
  202  {"uuid":"$UUID","status":"accepted","bank_reference":"HTB-1"}     2002
  202  {"amount":"$AMOUNT","status":"accepted","bank_reference":"HTB-1"}     2002
  202  {"uuid":"$UUID","amount":"50.00","status":"accepted","bank_reference":"HTB-1"}     2002
  202  {"uuid":"$UUID","amount":100.00,"status":"accepted","bank_reference":"HTB-1"}     2002
  202  {"uuid":"85cb9470-fd1a-4344-b945-18a86d2efeac","amount":"$AMOUNT","status":"accepted","bank_reference":"HTB-1"}     2002
  422  {"status":"rejected","code":"invalid_account","message":"No account"}     2002
  200  {${ECHO},"status":"completed","bank_reference":"HTB-9"}               completed HTB-9
  200  {${ECHO},"status":"failed","code":"timeout","message":"No approval"}     rejected timeout
  202  {${ECHO},"status":"completed","bank_reference":"HTB-9"}               2002
  200  {${ECHO},"status":"completed"}                                        2002
  200  {${ECHO},"status":"ACCEPTED","bank_reference":"HTB-1"}                             2002
  200  {${ECHO},"status":"pending","bank_reference":"HTB-1"}                              2002
  200  {${ECHO},"success":false}                                                          2002
  200  {${ECHO},"success":true,"bank_reference":"HTB-1"}                                  2002
  200  [${ACCEPTED}]                                                              2002
  200  ${ACCEPTED}${ACCEPTED}                                                     2002
  200  "accepted"                                                                 2002
  200  null                                                                       2002
  200  {                                                                          2002
  422  <html>Unprocessable</html>                                                 2002
  204  -                                                                          2001
  400  -                                                                          2001
  401  -                                                                          2001
  403  -                                                                          2001
  404  -                                                                          2001
  408  -                                                                          2001
  409  -                                                                          2001
  429  -                                                                          2001
  500  ${ACCEPTED}                                                                2500
  502  -                                                                          2500
  503  -                                                                          2500
  504  -                                                                          2500
  599  -                                                                          2500
`)

describe('the result of a submission', () => {
  test.each(CASES)('after the response %s %s is %s', async (status, body = '', expected) => {
    const { url, methods } = await bankReplying(Number(status), body === '-' ? '' : body)
    const submitting = submit(url)
    if (/^[0-9]+$/.test(expected ?? '')) {
      expect(await faultOf(submitting)).toBe(Number(expected))
    } else {
      const result = await submitting
      const detail =
        result.kind === 'rejected' ? result.code : 'bankReference' in result && result.bankReference
      expect(`${result.kind} ${detail}`).toBe(expected)
    }
    expect(methods()).toEqual(['POST'])
  })

  test('has the message and the reference of a rejection', async () => {
    const { url } = await bankReplying(
      422,
      `{${ECHO},"status":"rejected","code":"dormant_account","message":"Dormant","bank_reference":"HTB-2"}`,
    )
    expect(await submit(url)).toEqual({
      kind: 'rejected',
      code: 'unknown_error',
      message: 'Dormant',
      bankReference: 'HTB-2',
    })
  })
})

describe('the outcome query', () => {
  const query = async (status: number, reply: string) => {
    const { url, methods } = await bankReplying(status, reply)
    return { outcome: queryOutcome(url), methods }
  }

  test.each([
    [
      `{${ECHO},"status":"completed","bank_reference":"HTB-9"}`,
      { kind: 'completed', bankReference: 'HTB-9' },
    ],
    [
      `{${ECHO},"status":"completed","bank_reference":"HTB-9","fee":1.505,"approval_method":"mobile_app"}`,
      { kind: 'completed', bankReference: 'HTB-9', fee: 150, approvalMethod: 'mobile_api' },
    ],
    [
      `{${ECHO},"status":"completed","bank_reference":"HTB-9","fee":"none","approval_method":"fax"}`,
      { kind: 'completed', bankReference: 'HTB-9' },
    ],
    [
      `{${ECHO},"status":"failed","bank_reference":"HTB-9","code":"insufficient_funds","message":"No funds"}`,
      { kind: 'rejected', bankReference: 'HTB-9', code: 'insufficient_funds', message: 'No funds' },
    ],
    [
      `{${ECHO},"status":"failed","message":"Declined by customer"}`,
      { kind: 'rejected', code: 'transaction_declined', message: 'Declined by customer' },
    ],
    [
      `{${ECHO},"status":"failed"}`,
      { kind: 'rejected', code: 'unknown_error', message: 'The bank failed the debit' },
    ],
    [ACCEPTED, undefined],
    [`{${ECHO},"status":"rejected","code":"timeout","message":"No"}`, undefined],
  ])('reads %s', async (reply, expected) => {
    const { outcome, methods } = await query(200, reply)
    expect(await outcome).toEqual(expected)
    expect(methods()).toEqual(['GET'])
  })

  test('returns undefined for 404 and submits nothing', async () => {
    const { outcome, methods } = await query(404, '')
    expect(await outcome).toBeUndefined()
    expect(methods()).toEqual(['GET'])
  })

  test.each([
    [200, '{"status":"completed","bank_reference":"HTB-9"}', 2002],
    [200, '{"uuid":"$UUID","amount":"99.00","status":"completed","bank_reference":"HTB-9"}', 2002],
    [500, '', 2500],
    [302, '', 2001],
  ])('throws for %i %s', async (status, reply, code) => {
    const { outcome } = await query(status, reply)
    expect(await faultOf(outcome)).toBe(code)
  })
})
