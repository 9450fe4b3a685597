import { beforeEach, expect, test } from 'vitest'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { approve, type Debit } from '../../shared/domain/debits/debit.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { expire } from '../../shared/submissions/expire.ts'
import { take, useQueues } from '../settlement/messages-sent.ts'
import { bankMove, inSeconds, NOON, pendingDebit, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeDebit } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

beforeEach(useFreshTable)
useQueues()

/** Writes an approval just before the first update of a debit by another worker. */
const approveBeforeUpdate = (debit: Debit): void => {
  const cause = { at: inSeconds(299), by: 'bank:GCB', requestId: 'r-1' }
  const restore = aroundTableCalls(async (name, next) => {
    if (name !== 'Update') return next()
    restore()
    await transition(debit, (current) => approve(current, cause), still())
    return next()
  })
}

test.each([
  ['approval', 300, 'processing'],
  ['processing', 600, 'failed'],
] as const)(
  'the %s timeout at %i s, which an approval overtakes, leaves its debit %s',
  async (phase, seconds, status) => {
    const debit = granted(bankMove('processing')(pendingDebit({}, NOON)))
    await storeDebit(debit)
    approveBeforeUpdate(debit)
    const cause = { at: inSeconds(seconds), by: 'job:expire-debit', requestId: 'm-1' }
    expect(granted(await expire(debit, phase, cause, still()))).toMatchObject({
      status,
      approval: { requestId: 'r-1' },
    })
  },
)

test('a timer that fires before its deadline is delivered again', async () => {
  const debit = granted(bankMove('processing')(pendingDebit({}, NOON)))
  await storeDebit(debit)
  const message = { reference: debit.facts.reference, phase: 'approval' } as const
  const firedAt = (seconds: number) =>
    take(expireDebit(still({ now: () => inSeconds(seconds) })), 'expiries', message)
  const again = { batchItemFailures: [{ itemIdentifier: expect.any(String) }] }
  expect(await firedAt(299.999)).toEqual(again)
  expect(await firedAt(300)).toEqual({ batchItemFailures: [] })
})
