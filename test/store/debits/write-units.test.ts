import { expect, test, vi } from 'vitest'
import type { Debit, Transition } from '../../../shared/domain/debits/debit.ts'
import type { Status } from '../../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { createDebit } from '../../../shared/store/debits/charges.ts'
import { followOpen } from '../../../shared/store/debits/open-debits.ts'
import { transition } from '../../../shared/store/debits/transitions.ts'
import { bankMove, inSeconds, pendingDebit, still } from '../../support/examples.ts'
import { granted } from '../../support/refused.ts'
import { useTable } from '../../support/tables.ts'

/** The write units of each step of a debit: those of its items, and those of index entries. */

let written = 0
useTable({
  onConsumed: ({ kind, units }) => {
    if (kind === 'write') written += units
  },
})

const unitsOf = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
  written = 0
  const result = await work()
  return [written, result]
}

const charge = async () => {
  const debit = pendingDebit({ countedOn: '2026-11-21', narration: 'Payment for your order' })
  const dailyLimit = pesewas(50_000_00)
  const create = () => createDebit({ debit, fingerprint: 'text', dailyLimit }, still())
  const [units] = await unitsOf(create)
  return { debit, units }
}

const move = (debit: Debit, to: Status, fields: Partial<Transition> = {}) =>
  unitsOf(async () => granted(await transition(debit, bankMove(to, fields), still())))

const accepted = {
  at: inSeconds(1),
  changes: {
    bankReference: 'GCB-85CB9470',
    customerName: 'Ama Mensah',
    accountNumber: '104100100',
  },
}

test('a successful debit changes its entries in the indexes of lists once, at the charge', async () => {
  const { debit, units } = await charge()
  // Three items in a transaction, an entry in by-status and one in by-customer.
  expect(units).toBe(2 * 3 + 2)
  const [submitted, processing] = await move(debit, 'processing', accepted)
  expect(submitted).toBe(1)
  // The debit waits for settlement: one entry in the index work.
  const [completed] = await move(processing, 'completed', { at: inSeconds(30) })
  expect(completed).toBe(1 + 1)
})

test('a debit that the sweep finds open pays for its lists', async () => {
  const { debit } = await charge()
  const [, processing] = await move(debit, 'processing', accepted)
  const [followed] = await unitsOf(() => followOpen(processing, () => inSeconds(315)))
  // It leaves `good` for `open`, the list of its customer has that, and its due time.
  expect(followed).toBe(1 + 2 + 1 + 1)
  const [completed] = await move(processing, 'completed', { at: inSeconds(200) })
  expect(completed).toBe(1 + 2 + 1 + 2)
})

test('the expiry of a debit costs no unit', async () => {
  const measured = async (): Promise<number[]> => {
    const [completed, failed] = [await charge(), await charge()]
    const [[of1], [of2]] = [
      await move(completed.debit, 'completed'),
      await move(failed.debit, 'failed'),
    ]
    return [completed.units, of1, of2]
  }
  const without = await measured()
  vi.stubEnv('RETAIN_YEARS', '7')
  expect(await measured()).toEqual(without)
})

test('a failed debit changes its lists and returns its amount', async () => {
  const { debit } = await charge()
  const [failed] = await move(debit, 'failed', { at: inSeconds(2) })
  expect(failed).toBe(2 * 2 + 2 + 1 + 1)
})
