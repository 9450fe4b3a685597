import { expect, test } from 'vitest'
import { pesewas } from '../../../shared/domain/money.ts'
import { dailyLimitAfter } from '../../../shared/domain/providers/provider.ts'

/** Tests what a change of the daily limit leaves in a provider's settings. */

const today = '2026-11-21'
const yesterday = { countedUntil: '2026-11-20' }
const [limit, other] = [pesewas(300_00), pesewas(500_00)]

test.each([
  ['another limit replaces the limit', { dailyLimit: limit }, other, { dailyLimit: other }],
  ['a removal counts today to its end', { dailyLimit: limit }, undefined, { countedUntil: today }],
  ['a removal of no limit changes nothing', {}, undefined, {}],
  ['a second, later removal changes nothing', yesterday, undefined, yesterday],
  ['a limit can follow a removal', { countedUntil: today }, limit, { dailyLimit: limit }],
])('%s', (_, before, dailyLimit, after) => {
  expect(dailyLimitAfter(before, dailyLimit, today)).toEqual(after)
})
