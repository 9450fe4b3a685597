import { expect, test } from 'vitest'
import { httpPayments } from '../../shared/banks/http-payments.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { rowsOf } from '../support/rows.ts'
import { account, configOf, payoutOf, submissionOf } from './examples.ts'
import {
  ACCEPTED,
  accepted,
  bankReplying,
  ECHO,
  faultOf,
  PAID,
  paid,
  pay,
  queryOutcome,
  queryPayout,
  SECRET,
  submit,
} from './stub-bank.ts'

test('a submission has the debit as JSON and its uuid as idempotency key', async () => {
  const { url, calls } = await bankReplying(202, ACCEPTED)
  const submission = submissionOf()
  expect(await submit(url, submission)).toEqual(accepted)
  const types = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const headers = { ...types, 'x-idempotency-key': submission.uuid }
  expect(calls).toMatchObject([{ method: 'POST', path: '/hooks/submissions', headers }])
  const body = {
    uuid: submission.uuid,
    reference: submission.reference,
    phone_number: '+233249999999',
    account_number: account.accountNumber,
    amount: '100.00',
    currency: 'GHS',
    payee: { name: 'Demo Payments' },
    narration: 'Order 1',
    timestamp: '2026-11-21T12:00:00.000Z',
  }
  await submit(url, { ...submission, account: undefined })
  const { account_number, ...unknown } = body
  expect(calls.map(({ body }) => JSON.parse(body))).toEqual([body, unknown])
})

test('a payout goes to the bank of its account, as JSON, with its uuid as idempotency key', async () => {
  const banks: BankIdentifier[] = []
  const { url, calls } = await bankReplying(201, PAID)
  const settingsOf = async (bank: BankIdentifier) => {
    banks.push(bank)
    return { url, secret: SECRET }
  }
  const payout = payoutOf()
  const send = httpPayments(configOf({ settingsOf })).pay
  expect(await send(payout)).toEqual(paid)
  for (const amount of [1, 10_000_000_000_01]) await send({ ...payout, amount: pesewas(amount) })
  expect(banks).toEqual(['GCB', 'GCB', 'GCB'])
  const headers = { 'content-type': 'application/json', 'x-idempotency-key': payout.uuid }
  expect(calls[0]).toMatchObject({ method: 'POST', path: '/hooks/settlements', headers })
  const body = {
    uuid: payout.uuid,
    batch: 'STL-20261122-ABC123',
    partner: 'demo',
    account_number: '1041001001',
    account_name: 'Demo Payments Ltd',
    amount: '49250.75',
    currency: 'GHS',
    date: '2026-11-22',
  }
  const amounts = ['49250.75', '0.01', '10000000000.01']
  const sent = calls.map(({ body }) => JSON.parse(body))
  expect(sent).toEqual(amounts.map((amount) => ({ ...body, amount })))
})

const UNDERWAY = `{${ECHO},"status":"underway"}`
const REJECTED = `{${ECHO},"status":"rejected","message":"No such account"}`
const CODED = `{${ECHO},"status":"rejected","code":"invalid_account","message":"No account"}`
const LONG = 'x'.repeat(256)

// The status of the response, the result (a code: a fault), and the bodies.
const SUBMISSIONS = rowsOf(`
  200,202  accepted HTB-1                 ${ACCEPTED}
  202      accepted HTB-1                 {"uuid":"$UPPER","amount":"$AMOUNT","status":"accepted","bank_reference":"HTB-1"}
  200      rejected insufficient_funds    {${ECHO},"status":"rejected","code":"insufficient_funds","message":"No"}
  422      rejected invalid_account       ${CODED}
  422      rejected transaction_declined  {${ECHO},"status":"rejected","code":"transaction_declined","message":"No"}
  422      rejected timeout               {${ECHO},"status":"rejected","code":"timeout","message":"No"}
  422      rejected network_error         {${ECHO},"status":"rejected","code":"network_error","message":"No"}
  422      rejected unknown_error         {${ECHO},"status":"rejected","code":"dormant_account","message":"No"}
  422      rejected unknown_error         {${ECHO},"status":"rejected","code":51,"message":"No"}
  200      completed HTB-9                {${ECHO},"status":"completed","bank_reference":"HTB-9"}
  200      failed timeout                 {${ECHO},"status":"failed","code":"timeout","message":"No approval"}
  202      2002  ${CODED}  {${ECHO},"status":"completed","bank_reference":"HTB-9"}
  422      2002  ${ACCEPTED}  {${ECHO},"status":"rejected","message":"No code"}  <html>Unprocessable</html>
  422      2002  {${ECHO},"status":"rejected","code":"invalid_account"}  {"status":"rejected","code":"timeout","message":"No"}
  422      2002  {${ECHO},"status":"rejected","code":"invalid_account","message":""}
  200      2002  {${ECHO},"status":"accepted"}  {${ECHO},"status":"accepted","bank_reference":""}
  200      2002  {${ECHO},"status":"accepted","bank_reference":7}  {${ECHO},"status":"accepted","bank_reference":"${LONG}"}
  200      2002  {"uuid":"$UUID","status":"accepted","bank_reference":"HTB-1"}
  200      2002  {"amount":"$AMOUNT","status":"accepted","bank_reference":"HTB-1"}
  200      2002  {"uuid":"$UUID","amount":"50.00","status":"accepted","bank_reference":"HTB-1"}
  200      2002  {"uuid":"$UUID","amount":100.00,"status":"accepted","bank_reference":"HTB-1"}
  200      2002  {"uuid":"85cb9470-fd1a-4344-b945-18a86d2efeac","amount":"$AMOUNT","status":"accepted","bank_reference":"H"}
  200      2002  {${ECHO},"status":"completed"}  {${ECHO},"status":"ACCEPTED","bank_reference":"HTB-1"}
  200      2002  {${ECHO},"status":"pending","bank_reference":"HTB-1"}  {${ECHO},"success":true,"bank_reference":"HTB-1"}
  200      2002  {${ECHO},"status":"rejected","status":"accepted","bank_reference":"HTB-1"}
  200      2002  [${ACCEPTED}]  ${ACCEPTED}${ACCEPTED}  "accepted"  null  {
  201,400  2001  ${ACCEPTED}  ${CODED}
  204,401,403,404,408,409,429  2001  -
  500      2500  ${ACCEPTED}
  502,503,504,599  2500  -
`)

const PAYOUTS = rowsOf(`
  200,201,202  paid HTB-1                ${PAID}
  200,201,202  underway                  ${UNDERWAY}  {"uuid":"$UPPER","amount":"$AMOUNT","status":"underway"}
  200,422      rejected No such account  ${REJECTED}
  422          rejected No account       {${ECHO},"status":"rejected","message":"No\\u0000account"}
  422          rejected No HTB-2         {${ECHO},"status":"rejected","message":"No","bank_reference":"HTB-2"}
  422          2002  ${PAID}  ${UNDERWAY}  {${ECHO},"status":"rejected"}
  422          2002  {"amount":"$AMOUNT","status":"rejected","message":"No"}
  201,202      2002  ${REJECTED}
  200          2002  {"uuid":"$UUID","status":"paid","bank_reference":"HTB-1"}  {${ECHO},"status":"paid"}
  200          2002  {"uuid":"$UUID","amount":"49250.74","status":"paid","bank_reference":"HTB-1"}
  200          2002  {"uuid":"$UUID","amount":"1.00","status":"underway"}  {${ECHO},"status":"paid","bank_reference":""}
  200          2002  {${ECHO},"status":"accepted","bank_reference":"HTB-1"}
  200          2002  {${ECHO},"status":"constructor","bank_reference":"HTB-1"}
  400          2001  ${REJECTED}
  500          2500  ${PAID}
`)

const casesOf = (operation: 'submission' | 'payout', rows: string[][]) =>
  rows.flatMap(([statuses = '', expected = '', ...bodies]) =>
    statuses
      .split(',')
      .flatMap((status) =>
        bodies.map((body) => [operation, Number(status), body, expected] as const),
      ),
  )

test.each([...casesOf('submission', SUBMISSIONS), ...casesOf('payout', PAYOUTS)])(
  'a %s with the response %i %s is %s',
  async (operation, status, body, expected) => {
    const { url, methods } = await bankReplying(status, body === '-' ? '' : body)
    const sending: Promise<object> = operation === 'payout' ? pay(url) : submit(url)
    if (/^[0-9]+$/.test(expected)) expect(await faultOf(sending)).toBe(Number(expected))
    else {
      const { kind, bankReference, code, message } = (await sending) as Record<string, string>
      const parts = operation === 'payout' ? [message, bankReference] : [code ?? bankReference]
      expect([kind, ...parts].filter(Boolean).join(' ')).toBe(expected)
    }
    expect(methods()).toEqual(['POST'])
  },
)

// The status, and the outcome that is read from it, if any.
const OUTCOMES = rowsOf(`
  "completed","bank_reference":"B-1"                       completed B-1
  "completed","bank_reference":"B-1","fee":1.505           completed B-1 150
  "completed","bank_reference":"B-1","approval_method":"mobile_app"      completed B-1 mobile_api
  "completed","bank_reference":"B-1","fee":"0.00"          completed B-1 0
  "completed","bank_reference":"B-1","fee":"none","approval_method":"fax"  completed B-1
  "failed","bank_reference":"B-1","code":"insufficient_funds","message":"No"  failed B-1 insufficient_funds No
  "failed","message":"Declined"                            failed transaction_declined Declined
  "failed"                                                 failed unknown_error The bank failed the debit
  "accepted","bank_reference":"B-1"                        -
  "rejected","code":"timeout","message":"No"               -
`)

test.each(OUTCOMES)('an outcome query reads the status %s as %s', async (fields, expected) => {
  const { url, methods } = await bankReplying(200, `{${ECHO},"status":${fields}}`)
  const outcome: Record<string, unknown> = { ...(await queryOutcome(url)) }
  const members = ['kind', 'bankReference', 'fee', 'approvalMethod', 'code', 'message']
  const shown = members.flatMap((name) => outcome[name] ?? [])
  expect(shown.join(' ') || '-').toBe(expected)
  expect(methods()).toEqual(['GET'])
})

test.each([
  [200, '{"status":"completed","bank_reference":"HTB-9"}', 2002],
  [200, '{"uuid":"$UUID","amount":"99.00","status":"completed","bank_reference":"HTB-9"}', 2002],
  [500, '', 2500],
  [302, '', 2001],
])('a query of an outcome or a payout throws for %i %s', async (status, reply, code) => {
  const { url } = await bankReplying(status, reply)
  expect(await faultOf(queryOutcome(url))).toBe(code)
  expect(await faultOf(queryPayout(url))).toBe(code)
})
