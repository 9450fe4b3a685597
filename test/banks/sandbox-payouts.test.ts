import { expect, test } from 'vitest'
import { sandboxPayouts } from '../../shared/banks/sandbox-payouts.ts'
import { accountOf, instructionOf } from './one-payout.ts'

/** What the sandbox bank makes of an account number, first and when it is asked again. */

test.each([
  ['1041001001', 'paid', 'paid'],
  ['1041000000', 'rejected', 'rejected'],
  ['1041009999', 'underway', 'paid'],
  ['0000999900', 'paid', 'paid'],
])('%s: %s, then %s', async (accountNumber, first, then) => {
  const instruction = instructionOf({ account: accountOf(accountNumber) })
  const asked = (repeated: boolean) => sandboxPayouts.pay({ ...instruction, repeated })
  expect(await asked(false)).toMatchObject({ kind: first })
  expect(await asked(true)).toMatchObject({ kind: then })
})

test('the bank’s reference follows from the uuid', async () => {
  const [one, other] = [instructionOf(), instructionOf()]
  const bankReference = `GCB-${one.uuid.slice(0, 8).toUpperCase()}`
  expect(await sandboxPayouts.pay(one)).toEqual({ kind: 'paid', bankReference })
  expect(await sandboxPayouts.pay(other)).not.toMatchObject({ bankReference })
})
