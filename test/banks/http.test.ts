import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import { rowsOf } from '../support/rows.ts'
import { closeReceivers, receiver } from '../webhooks/http/servers.ts'
import {
  ACCEPTED,
  accepted,
  ECHO,
  faultOf,
  filled,
  queryOutcome,
  SECRET,
  saying,
  submit,
} from './one-bank.ts'
import { account, submissionOf } from './one-submission.ts'

afterEach(closeReceivers)

describe('what the bank gets', () => {
  test('is the debit as JSON, under its uuid', async () => {
    const { url, asked } = await saying(202, ACCEPTED)
    const submission = submissionOf()
    expect(await submit(url, submission)).toEqual(accepted)
    expect(asked).toMatchObject([
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
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
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

  test('without an account number that nobody knows', async () => {
    const { url, asked } = await saying(202, ACCEPTED)
    await submit(url, submissionOf({ account: undefined }))
    expect(JSON.parse(asked[0]?.body ?? '')).not.toHaveProperty('account_number')
  })

  test('is signed like a request to the API, a question too', async () => {
    const { url, asked } = await saying(404, '')
    const submission = submissionOf({ narration: 'Nyansapɔ \u{1F600}', repeated: true })
    expect(await faultOf(submit(url, submission))).toBe(2001)
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /hooks/submissions/${submission.uuid}`,
      'POST /hooks/submissions',
    ])
    for (const { method, path, headers, body } of asked) {
      const signed = {
        method,
        targets: [path],
        body: Buffer.from(body),
        signature: String(headers['x-signature']),
        timestamp: String(headers['x-timestamp']),
      }
      expect(checkSignature(signed, [SECRET], new Date())).toBeUndefined()
      expect(checkSignature(signed, ['cs_another'], new Date())).toBeDefined()
    }
  })

  test('has the same bytes when it comes again', async () => {
    const { url, asked } = await saying(503, '')
    const submission = submissionOf()
    for (let n = 0; n < 2; n += 1) await faultOf(submit(url, submission))
    expect(asked[1]?.body).toBe(asked[0]?.body)
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

describe('only a well-formed answer is one', () => {
  test.each(CASES)('%s %s: %s', async (status, body = '', expected) => {
    const { url, methods } = await saying(Number(status), body === '-' ? '' : body)
    const submitting = submit(url)
    if (/^[0-9]+$/.test(expected ?? '')) {
      expect(await faultOf(submitting)).toBe(Number(expected))
    } else {
      const result = await submitting
      const said =
        result.kind === 'rejected' ? result.code : 'bankReference' in result && result.bankReference
      expect(`${result.kind} ${said}`).toBe(expected)
    }
    // Whatever it was, this attempt says it once.
    expect(methods()).toEqual(['POST'])
  })

  test('a rejection keeps the words and the reference of the bank', async () => {
    const { url } = await saying(
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

describe('a submission that comes again is asked for first', () => {
  const again = () => submissionOf({ repeated: true })

  test.each([
    [200, ACCEPTED, 'accepted'],
    [
      422,
      `{${ECHO},"status":"rejected","code":"invalid_account","message":"No account"}`,
      'rejected',
    ],
  ])('%i %s is the answer, and nothing is submitted', async (status, body, kind) => {
    const { url, methods } = await saying(status, body)
    expect(await submit(url, again())).toMatchObject({ kind })
    expect(methods()).toEqual(['GET'])
  })

  test.each([
    [500, '', 2500],
    [401, '', 2001],
    [302, '', 2001],
    [200, `{${ECHO},"status":"unknown"}`, 2002],
  ])('%i %s says nothing, and nothing is submitted', async (status, body, code) => {
    const { url, methods } = await saying(status, body)
    expect(await faultOf(submit(url, again()))).toBe(code)
    expect(methods()).toEqual(['GET'])
  })

  test('404 is the word that it never came: it is submitted', async () => {
    const methods: string[] = []
    const url = await receiver(async (request, response) => {
      const { method = '', url: path = '' } = request
      methods.push(method)
      const reply = filled(ACCEPTED, { method, path, body: await text(request) })
      response.writeHead(method === 'GET' ? 404 : 202).end(reply)
    })
    expect(await submit(url, again())).toEqual(accepted)
    expect(methods).toEqual(['GET', 'POST'])
  })
})

describe('the outcome query', () => {
  const query = async (status: number, reply: string) => {
    const { url, methods } = await saying(status, reply)
    const outcome = queryOutcome(url)
    return { outcome, methods }
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
      `{${ECHO},"status":"failed","bank_reference":"HTB-9","code":"insufficient_funds","message":"Too little"}`,
      {
        kind: 'rejected',
        bankReference: 'HTB-9',
        code: 'insufficient_funds',
        message: 'Too little',
      },
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
  ])('%s', async (reply, expected) => {
    const { outcome, methods } = await query(200, reply)
    expect(await outcome).toEqual(expected)
    expect(methods()).toEqual(['GET'])
  })

  test('404 is no outcome, and nothing is submitted', async () => {
    const { outcome, methods } = await query(404, '')
    expect(await outcome).toBeUndefined()
    expect(methods()).toEqual(['GET'])
  })

  test.each([
    [200, '{"status":"completed","bank_reference":"HTB-9"}', 2002],
    [200, '{"uuid":"$UUID","amount":"99.00","status":"completed","bank_reference":"HTB-9"}', 2002],
    [500, '', 2500],
    [302, '', 2001],
  ])('%i %s is a fault', async (status, reply, code) => {
    const { outcome } = await query(status, reply)
    expect(await faultOf(outcome)).toBe(code)
  })
})
