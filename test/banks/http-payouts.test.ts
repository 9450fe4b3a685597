import { afterEach, describe, expect, test } from 'vitest'
import { httpPayouts } from '../../shared/banks/http-payouts.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { rowsOf } from '../support/rows.ts'
import { closeReceivers } from '../webhooks/http/servers.ts'
import { configOf, payoutOf } from './examples.ts'
import { bankReplying, ECHO, faultOf, PAID, paid, pay, SECRET } from './stub-bank.ts'

afterEach(closeReceivers)

const UNDERWAY = `{${ECHO},"status":"underway"}`
const REJECTED = `{${ECHO},"status":"rejected","message":"No such account"}`

describe('the request of a payout', () => {
  test('has the payout as JSON and its uuid as idempotency key', async () => {
    const { url, calls } = await bankReplying(201, PAID)
    const payout = payoutOf()
    expect(await pay(url, payout)).toEqual(paid)
    expect(calls).toMatchObject([
      {
        method: 'POST',
        path: '/hooks/settlements',
        headers: { 'content-type': 'application/json', 'x-idempotency-key': payout.uuid },
      },
    ])
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({
      uuid: payout.uuid,
      batch: 'STL-20261122-ABC123',
      provider: 'demo',
      account_number: '1041001001',
      account_name: 'Demo Payments Ltd',
      amount: '49250.75',
      currency: 'GHS',
      date: '2026-11-22',
    })
  })

  test('has the exact amount of any size', async () => {
    const { url, calls } = await bankReplying(201, PAID)
    for (const amount of [1, 10_000_000_000_01]) {
      await pay(url, payoutOf({ amount: pesewas(amount) }))
    }
    const amounts = calls.map(({ body }) => JSON.parse(body).amount)
    expect(amounts).toEqual(['0.01', '10000000000.01'])
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

describe('the result of a payout', () => {
  test.each(CASES)('after the response %s %s is %s', async (status, body = '', expected = '') => {
    const { url, methods } = await bankReplying(Number(status), body === '-' ? '' : body)
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
    const { url } = await bankReplying(
      422,
      `{${ECHO},"status":"rejected","message":"Closed","bank_reference":"HTB-2"}`,
    )
    expect(await pay(url)).toEqual({ kind: 'rejected', message: 'Closed', bankReference: 'HTB-2' })
  })
})

test('a payout goes to the bank of the account', async () => {
  const banks: BankIdentifier[] = []
  const { url } = await bankReplying(201, PAID)
  const settingsOf = async (bank: BankIdentifier) => {
    banks.push(bank)
    return { url, secret: SECRET }
  }
  await httpPayouts(configOf({ settingsOf })).pay(payoutOf())
  expect(banks).toEqual(['GCB'])
})
