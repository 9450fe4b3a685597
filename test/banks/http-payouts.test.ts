import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import { httpPayouts } from '../../shared/banks/http-payouts.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { rowsOf } from '../support/rows.ts'
import { closeReceivers, receiver } from '../webhooks/http/servers.ts'
import { ECHO, faultOf, filled, PAID, paid, pay, SECRET, saying } from './one-bank.ts'
import { accountOf, instructionOf } from './one-payout.ts'
import { wiringOf } from './one-submission.ts'

afterEach(closeReceivers)

const again = () => instructionOf({ repeated: true })
const UNDERWAY = `{${ECHO},"status":"underway"}`
const REJECTED = `{${ECHO},"status":"rejected","message":"No such account"}`

describe('what the bank gets', () => {
  test('is the payment as JSON, under its uuid', async () => {
    const { url, asked } = await saying(201, PAID)
    const instruction = instructionOf()
    expect(await pay(url, instruction)).toEqual(paid)
    expect(asked).toMatchObject([
      {
        method: 'POST',
        path: '/hooks/settlements',
        headers: { 'content-type': 'application/json', 'x-idempotency-key': instruction.uuid },
      },
    ])
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      uuid: instruction.uuid,
      batch: 'STL-20261122-ABC123',
      provider: 'demo',
      account_number: '1041001001',
      account_name: 'Demo Payments Ltd',
      amount: '49250.75',
      currency: 'GHS',
      date: '2026-11-22',
    })
  })

  test('is an amount of any size to the pesewa', async () => {
    const { url, asked } = await saying(201, PAID)
    for (const amount of [1, 10_000_000_000_01]) {
      await pay(url, instructionOf({ amount: pesewas(amount) }))
    }
    const amounts = asked.map(({ body }) => JSON.parse(body).amount)
    expect(amounts).toEqual(['0.01', '10000000000.01'])
  })

  test('is signed like a submission, a question too', async () => {
    const { url, asked } = await saying(404, '')
    const instruction = again()
    const account = { ...accountOf('1041001001'), accountName: 'Nyansapɔ \u{1F600}' }
    expect(await faultOf(pay(url, { ...instruction, account }))).toBe(2001)
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /hooks/settlements/${instruction.uuid}`,
      'POST /hooks/settlements',
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
    const { url, asked } = await saying(404, '')
    const instruction = instructionOf()
    for (const repeated of [false, true]) await faultOf(pay(url, { ...instruction, repeated }))
    const [first, question, second] = asked
    expect(second?.body).toBe(first?.body)
    expect(question).toMatchObject({ method: 'GET', body: '' })
  })
})

const CASES = rowsOf(`
  200  ${PAID}                                                            paid HTB-1
  201  ${PAID}                                                            paid HTB-1
  202  ${PAID}                                                            paid HTB-1
  422  ${PAID}                                                            2002
  200  ${UNDERWAY}                                                        underway
  201  ${UNDERWAY}                                                        underway
  202  ${UNDERWAY}                                                        underway
  422  ${UNDERWAY}                                                        2002
  200  ${REJECTED}                                                        rejected No such account
  422  ${REJECTED}                                                        rejected No such account
  201  ${REJECTED}                                                        2002
  202  ${REJECTED}                                                        2002
  400  ${REJECTED}                                                        2001
  422  {${ECHO},"status":"rejected"}                                              2002
  422  {${ECHO},"status":"rejected","message":""}                                 2002
  422  {${ECHO},"status":"rejected","message":"No\\u0000account"}                  rejected No account
  200  {"uuid":"$UUID","status":"paid","bank_reference":"HTB-1"}          2002
  200  {"amount":"$AMOUNT","status":"paid","bank_reference":"HTB-1"}      2002
  200  {"uuid":"$UUID","amount":"49250.74","status":"paid","bank_reference":"HTB-1"}    2002
  200  {"uuid":"$UUID","amount":49250.75,"status":"paid","bank_reference":"HTB-1"}      2002
  200  {"uuid":"$UUID","amount":"1.00","status":"underway"}               2002
  422  {"amount":"$AMOUNT","status":"rejected","message":"No"}            2002
  200  {${ECHO},"status":"paid"}                                                  2002
  200  {${ECHO},"status":"paid","bank_reference":""}                              2002
  200  {${ECHO},"status":"paid","bank_reference":7}                               2002
  200  {${ECHO},"status":"paid","bank_reference":"${'x'.repeat(256)}"}            2002
  200  {${ECHO},"status":"PAID","bank_reference":"HTB-1"}                         2002
  200  {${ECHO},"status":"accepted","bank_reference":"HTB-1"}                     2002
  200  {${ECHO},"status":"constructor","bank_reference":"HTB-1"}                  2002
  200  {${ECHO},"success":true,"bank_reference":"HTB-1"}                          2002
  200  [${PAID}]                                                          2002
  200  ${PAID}${PAID}                                                     2002
  200  "paid"                                                             2002
  200  null                                                               2002
  200  -                                                                  2002
  204  -                                                                  2001
  400  -                                                                  2001
  401  -                                                                  2001
  404  -                                                                  2001
  409  ${PAID}                                                            2001
  429  -                                                                  2001
  500  ${PAID}                                                            2500
  503  -                                                                  2500
`)

describe('only a well-formed answer is one', () => {
  test.each(CASES)('%s %s: %s', async (status, body = '', expected = '') => {
    const { url, methods } = await saying(Number(status), body === '-' ? '' : body)
    const paying = pay(url)
    if (/^[0-9]+$/.test(expected)) {
      expect(await faultOf(paying)).toBe(Number(expected))
    } else {
      const { kind, ...said } = await paying
      expect([kind, ...Object.values(said)].join(' ')).toBe(expected)
    }
    expect(methods()).toEqual(['POST'])
  })

  test('a rejection keeps the reference of the bank', async () => {
    const { url } = await saying(
      422,
      `{${ECHO},"status":"rejected","message":"Closed","bank_reference":"HTB-2"}`,
    )
    expect(await pay(url)).toEqual({ kind: 'rejected', message: 'Closed', bankReference: 'HTB-2' })
  })
})

test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
  const other = await saying(200, PAID)
  const { url } = await saying(status, '', { location: other.url })
  expect(await faultOf(pay(url))).toBe(2001)
  expect(await faultOf(pay(url, again()))).toBe(2001)
  expect(other.asked).toEqual([])
})

describe('what may have been paid is asked for first', () => {
  test.each([
    [200, PAID, 'paid'],
    [200, UNDERWAY, 'underway'],
    [422, REJECTED, 'rejected'],
  ])('%i %s is the answer, and nothing is paid', async (status, body, kind) => {
    const { url, methods } = await saying(status, body)
    expect(await pay(url, again())).toMatchObject({ kind })
    expect(methods()).toEqual(['GET'])
  })

  test.each([
    [500, '', 2500],
    [401, '', 2001],
    [410, '', 2001],
    [204, '', 2001],
    [200, `{${ECHO},"status":"unknown"}`, 2002],
    [200, '<html>Maintenance</html>', 2002],
  ])('%i %s says nothing, and nothing is paid', async (status, body, code) => {
    const { url, methods } = await saying(status, body)
    expect(await faultOf(pay(url, again()))).toBe(code)
    expect(methods()).toEqual(['GET'])
  })

  test('404 is the word that it never came: it is paid', async () => {
    const methods: string[] = []
    const url = await receiver(async (request, response) => {
      const { method = '', url: path = '' } = request
      methods.push(method)
      const reply = filled(PAID, { method, path, body: await text(request) })
      response.writeHead(method === 'GET' ? 404 : 201).end(reply)
    })
    expect(await pay(url, again())).toEqual(paid)
    expect(methods).toEqual(['GET', 'POST'])
  })
})

test('the bank that is asked is the one that holds the account', async () => {
  const asked: BankIdentifier[] = []
  const { url } = await saying(201, PAID)
  const settingsOf = async (bank: BankIdentifier) => {
    asked.push(bank)
    return { url, secret: SECRET }
  }
  await httpPayouts(wiringOf({ settingsOf })).pay(instructionOf())
  expect(asked).toEqual(['GCB'])
})
