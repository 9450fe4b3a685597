import type { BankIdentifier } from '../domain/banks/bank.ts'
import {
  AROUND_DAYS,
  type BankDebitsCursor,
  type BankDebitsPage,
  type Movement,
} from '../domain/banks/statement.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { type Reference, referenceOfUuid, type Uuid } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { undecidedUntil } from '../ledger/entries.ts'
import { logUnreadable } from '../log.ts'
import { environment } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { listCreated } from '../store/debits/debit-lists.ts'
import { findDebits } from '../store/debits/debits.ts'
import { findExceptions } from '../store/debits/exceptions.ts'
import { findRefunds } from '../store/debits/refunds.ts'
import { readOrder } from '../store/debits/status-lists.ts'
import { listProviders } from '../store/providers/providers.ts'
import { EXPECTED } from './lifecycle.ts'

const PAGE_SIZE = 100
/** 300 bytes each: 3 MB of the 6 MB of a Lambda reply. */
const DEBITS_MAX = 10_000
/** Debits of any bank that one page reads, for the function's time. */
const EXAMINED_MAX = 50_000
const READ_AT_ONCE = 16

const view = (debit: Debit): Movement => {
  const { reference, provider, uuid, bankReference, amount, status, ...state } = stateAt(debit)
  return {
    kind: 'debit',
    reference,
    provider,
    uuid,
    bank_reference: bankReference,
    amount: formatAmount(amount),
    status,
    begun_at: state.createdAt.toISOString(),
    // A reversal without a refund records that the bank moved no money.
    completed_at: state.refund === 'none' ? null : (state.completedAt?.toISOString() ?? null),
  }
}

type BankDebitsRequest = { bank: BankIdentifier; date: Day; cursor: BankDebitsCursor | null }

/**
 * Reads a page of a bank's debits, in any status, that were charged on a day or the three days before
 * (docs/api.md#bank-statements). A debit whose status changes between two pages is in both.
 * @returns undefined if the list of the cursor does not exist
 */
export const readBankDebits = async (
  { bank, date, cursor }: BankDebitsRequest,
  { examinedMax = EXAMINED_MAX } = {},
): Promise<BankDebitsPage | undefined> => {
  const span = { from: startOf(dayAfter(date, -AROUND_DAYS)), before: startOf(dayAfter(date)) }
  const debits: Movement[] = []
  let examined = 0
  let after = cursor?.after ?? null
  const lists = await listsFrom(cursor)
  if (!lists) return undefined
  for (const { provider, list } of lists) {
    for (;;) {
      const page = { ...span, ...(after ? { after } : {}), limit: PAGE_SIZE }
      const { references, next } = await listCreated(provider, list, page)
      debits.push(...(await findOfBank(bank, references)))
      examined += references.length
      after = next
      if (next === null) break
      if (examined < examinedMax && debits.length < DEBITS_MAX) continue
      return { debits, next: { provider, list, after: next } }
    }
  }
  return { debits, next: null }
}

/** In their order no debit that changes its list is missed. */
const listsFrom = async (cursor: BankDebitsCursor | null) => {
  const lists = (await listProviders())
    .sort()
    .flatMap((provider) => readOrder.map((list) => ({ provider, list })))
  if (!cursor) return lists
  const first = lists.findIndex(
    ({ provider, list }) => provider === cursor.provider && list === cursor.list,
  )
  // An index that lags may lack its provider: the debits that follow would be missing.
  return first < 0 ? undefined : lists.slice(first)
}

const findOfBank = async (bank: BankIdentifier, references: readonly Reference[]) => {
  const debits = await findDebits(references, logUnreadable('manage-reconciliation'))
  const own = [...debits.values()].filter(({ facts }) => facts.bank.identifier === bank)
  const late = await findLate(own)
  return own.map((debit) => ({ ...view(debit), ...late.get(debit.facts.reference) }))
}

/** Returns when banks reported the late completions that they refund, and their references of them. */
const findLate = async (debits: readonly Debit[]) => {
  const failed = debits.filter(({ status }) => EXPECTED[status].refund === 'late_completion')
  const refunds = await findRefunds(failed.map(({ facts }) => facts.reference))
  const late = await mapConcurrent(refunds, READ_AT_ONCE, async (refund) => {
    const { reference, debitBankReference } = refund
    const reported = undecidedUntil({ refund, exceptions: await findExceptions(reference) })
    const completed_at = reported?.from.toISOString() ?? null
    return [reference, { bank_reference: debitBankReference, completed_at }] as const
  })
  return new Map(late)
}

/** Reads debits by uuid. `absent` has the uuids of our form without a debit of the bank: a restore lost the debit, or it is of another bank. */
export const readByUuid = async (
  bank: BankIdentifier,
  uuids: readonly Uuid[],
): Promise<BankDebitsPage> => {
  const named = new Map(
    uuids.flatMap((uuid) => {
      const reference = referenceOfUuid(environment.referencePrefix, uuid)
      return reference ? [[reference, uuid] as const] : []
    }),
  )
  const debits = await findOfBank(bank, [...named.keys()])
  const found = new Set(debits.map(({ uuid }) => uuid))
  return { debits, next: null, absent: [...named.values()].filter((uuid) => !found.has(uuid)) }
}
