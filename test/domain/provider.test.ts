import { expect, test } from 'vitest'
import { pesewas } from '../../shared/domain/money.ts'
import {
  dailyLimitAfter,
  payoutsHeldUntil,
  type SettlementAccount,
} from '../../shared/domain/providers/provider.ts'
import { gcb, NOON } from '../support/examples.ts'

const today = '2026-11-21'
const yesterday = { countedUntil: '2026-11-20' }
const [limit, other] = [pesewas(300_00), pesewas(500_00)]

test.each([
  ['another limit replaces the limit', { dailyLimit: limit }, other, { dailyLimit: other }],
  ['a removal counts today to its end', { dailyLimit: limit }, undefined, { countedUntil: today }],
  ['a removal of no limit changes nothing', {}, undefined, {}],
  ['a second, later removal changes nothing', yesterday, undefined, yesterday],
  ['a limit can follow a removal', { countedUntil: today }, limit, { dailyLimit: limit }],
])('a change of a daily limit has this result: %s', (_, before, dailyLimit, after) => {
  expect(dailyLimitAfter(before, dailyLimit, today)).toEqual(after)
})

const account = { bank: gcb.identifier, accountNumber: '1041001001', accountName: 'Acme Ltd' }
const earlier = '2026-11-01T08:00:00.000Z'
const tomorrow = '2026-11-22T12:00:00.000Z'
const current = { settlementAccount: account }
const held = { ...current, payoutsHeldUntil: earlier }
const number = { ...account, accountNumber: '1041001002' }
const name = { ...account, accountName: 'Acme Limited' }
const bank = { ...account, bank: 'ECO' as SettlementAccount['bank'] }

type Before = Parameters<typeof payoutsHeldUntil>[0]
const holds: [string, Before, SettlementAccount | undefined, string | undefined][] = [
  ['the first account is held for a day', {}, account, tomorrow],
  ['no account stays without a hold', {}, undefined, undefined],
  ['the same account is not held', current, { ...account }, undefined],
  ['the same account keeps an earlier hold', held, account, earlier],
  ['another number is held for a day', current, number, tomorrow],
  ['another name is held for a day', current, name, tomorrow],
  ['the same number at another bank is held for a day', current, bank, tomorrow],
  ['each change is held from its own time', held, name, tomorrow],
  ['a removed account leaves a hold', current, undefined, tomorrow],
  ['an account after a removal is held', { payoutsHeldUntil: earlier }, account, tomorrow],
]

test.each(holds)('a changed settlement account holds payouts: %s', (_, before, after, until) => {
  expect(payoutsHeldUntil(before, after, NOON)).toBe(until)
})
