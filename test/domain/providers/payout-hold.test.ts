import { expect, test } from 'vitest'
import {
  payoutsHeldUntil,
  type SettlementAccount,
} from '../../../shared/domain/providers/provider.ts'
import { gcb, NOON } from '../../support/examples.ts'

/** The hold on payouts after a change of the settlement account. */

const account: SettlementAccount = {
  bank: gcb.identifier,
  accountNumber: '1041001001',
  accountName: 'Acme Ltd',
}
const earlier = '2026-11-01T08:00:00.000Z'
const tomorrow = '2026-11-22T12:00:00.000Z'

const current = { settlementAccount: account }
const held = { ...current, payoutsHeldUntil: earlier }
const number = { ...account, accountNumber: '1041001002' }
const name = { ...account, accountName: 'Acme Limited' }

type Before = Parameters<typeof payoutsHeldUntil>[0]

const rows: [string, Before, SettlementAccount | undefined, string | undefined][] = [
  ['the first account is not held', {}, account, undefined],
  ['no account stays without a hold', {}, undefined, undefined],
  ['the same account is not held', current, { ...account }, undefined],
  ['the same account keeps an earlier hold', held, account, earlier],
  ['another number is held for a day', current, number, tomorrow],
  ['another name is held for a day', current, name, tomorrow],
  ['each change is held from its own time', held, name, tomorrow],
  ['a removed account leaves a hold', current, undefined, tomorrow],
  ['an account after a removal is held', { payoutsHeldUntil: earlier }, account, tomorrow],
]

test.each(rows)('%s', (_, before, after, until) => {
  expect(payoutsHeldUntil(before, after, NOON)).toBe(until)
})
