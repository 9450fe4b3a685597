import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { bankHealth } from '../../shared/store/banks/health.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { newSubmitter } from '../../shared/submissions/submit.ts'
import { bankMove, gcb, inSeconds, NOON, pendingDebit, still } from '../support/examples.ts'
import { storeBank, storeDebit } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

process.env.SANDBOX_BANK = 'true'
process.env.CACHE_SECONDS = '-6000'
beforeEach(useFreshTable)

const submit = (reference: Reference, seconds = 0) => {
  const options = { skipsSlowBanks: true, reportLater: async () => undefined }
  const request = { reference, repeated: false, requestId: 'request' }
  return newSubmitter(options, still({ now: () => inSeconds(seconds) }))(request)
}

test.each([
  ['completed', ['contradiction']],
  ['failed', []],
  ['processing', []],
] as const)(
  'a rejection of a debit that was recorded as %s since its submission opens the exceptions %j',
  async (to, kinds) => {
    await storeBank({ ...gcb, behaviour: { as: 'rejecting', code: null, until: null } })
    const debit = pendingDebit()
    await storeDebit(debit)
    const { reference } = debit.facts
    const restore = aroundTableCalls(async (name, next, text) => {
      if (name !== 'Update' || !text().includes(reference)) return next()
      restore()
      await transition(debit, bankMove(to), still())
      return next()
    })
    await submit(reference)
    expect(await findDebit(reference)).toMatchObject({ status: to })
    expect((await findExceptions(reference)).map(({ kind }) => kind)).toEqual(kinds)
  },
)

test('a submission to a bank that lost its connector throws, and changes no health', async () => {
  await storeBank({ ...gcb, connector: 'none' })
  const debit = pendingDebit()
  await storeDebit(debit)
  await expect(submit(debit.facts.reference)).rejects.toThrow('Bank GCB has no connector')
  expect(await bankHealth(gcb.identifier, NOON)).toMatchObject({ state: 'up', failures: 0 })
})

test.each([
  [419.999, 'processing'],
  [420, 'pending'],
])(
  'a debit whose submission begins %d seconds after its charge is %s afterwards',
  async (seconds, status) => {
    await storeBank(gcb)
    const debit = pendingDebit()
    await storeDebit(debit)
    await submit(debit.facts.reference, seconds)
    expect(await findDebit(debit.facts.reference)).toMatchObject({ status })
  },
)
