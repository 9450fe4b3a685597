import { beforeAll, expect, test } from 'vitest'
import { pesewas } from '../../../shared/domain/money.ts'
import { createDebit, findDayTotal } from '../../../shared/store/debits/charges.ts'
import { atOnce, pendingDebit, providerId, still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

/** Charges that meet at the edge of a day's limit, round after round. */

beforeAll(useFreshTable)

const ROUNDS = Array.from({ length: 100 }, (_, n) => n)
const DAY = '2026-11-21'
const AMOUNT = pesewas(100_00)

test.each(ROUNDS)('round %d accepts exactly the charges that fit the limit', async (round) => {
  const provider = providerId(`edge-${round}`)
  const charge = () =>
    createDebit(
      {
        debit: pendingDebit({ provider, amount: AMOUNT, countedOn: DAY }),
        fingerprint: 'same',
        dailyLimit: pesewas(300_00 + round),
      },
      still(),
    )
  const all = await atOnce(6, charge)
  expect(all.filter((one) => 'kind' in one && one.kind === 'created')).toHaveLength(3)
  expect(await findDayTotal(provider, DAY)).toBe(300_00)
})
