import { expect, test } from 'vitest'
import { sandboxPayouts } from '../../shared/banks/sandbox-payouts.ts'
import { accountOf, payoutOf } from './examples.ts'

test.each([
  ['1041001001', 'paid', 'paid'],
  ['1041000000', 'rejected', 'rejected'],
  ['1041009999', 'underway', 'paid'],
  ['0000999900', 'paid', 'paid'],
])('a payout to %s is %s, and %s at a repeat', async (accountNumber, first, second) => {
  const payout = payoutOf({ account: accountOf(accountNumber) })
  expect(await sandboxPayouts.pay(payout)).toMatchObject({ kind: first })
  expect(await sandboxPayouts.pay({ ...payout, repeated: true })).toMatchObject({ kind: second })
})

test('the bank’s reference follows from the uuid', async () => {
  const [one, other] = [payoutOf(), payoutOf()]
  const bankReference = `GCB-${one.uuid.slice(0, 8).toUpperCase()}`
  expect(await sandboxPayouts.pay(one)).toEqual({ kind: 'paid', bankReference })
  expect(await sandboxPayouts.pay(other)).not.toMatchObject({ bankReference })
})
