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

type Before = Parameters<typeof payoutsHeldUntil>[0]

const rows: [string, Before, SettlementAccount | undefined, string | undefined][] = [
  ['the first account is not held', {}, account, undefined],
  ['no account stays without a hold', {}, undefined, undefined],
  ['the same account is not held', { settlementAccount: account }, { ...account }, undefined],
  [
    'the same account keeps an earlier hold',
    { settlementAccount: account, payoutsHeldUntil: earlier },
    account,
    earlier,
  ],
  [
    'another number is held for a day',
    { settlementAccount: account },
    { ...account, accountNumber: '1041001002' },
    tomorrow,
  ],
  [
    'another name is held for a day',
    { settlementAccount: account },
    { ...account, accountName: 'Acme Limited' },
    tomorrow,
  ],
  [
    'each change is held from its own time',
    { settlementAccount: account, payoutsHeldUntil: earlier },
    { ...account, accountName: 'Acme Limited' },
    tomorrow,
  ],
  ['a removed account leaves a hold', { settlementAccount: account }, undefined, tomorrow],
  [
    'an account that follows a removed one is held',
    { payoutsHeldUntil: earlier },
    account,
    tomorrow,
  ],
]

test.each(rows)('%s', (_, before, after, until) => {
  expect(payoutsHeldUntil(before, after, NOON)).toBe(until)
})
