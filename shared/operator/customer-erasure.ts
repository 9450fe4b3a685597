import type { BankIdentifier } from '../domain/banks/bank.ts'
import { defined } from '../domain/complete.ts'
import { erasableFrom, openWork } from '../domain/debits/erasure.ts'
import { type Approval, canRun } from '../domain/operator/approval.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { Refusal } from '../domain/refusal.ts'
import { DAY_SECONDS, dayOf, secondsAfter } from '../domain/time.ts'
import { environment, type Runtime, timeLimit } from '../runtime.ts'
import { listAccounts, removeAccount } from '../store/banks/banks.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { eraseWholeDebit, type WholeDebit } from '../store/debits/erasure.ts'
import { putLaterErasures } from '../store/debits/later-erasures.ts'
import { approvalPages, finishApproval, removePlainOptions } from '../store/operator/approvals.ts'
import { findRows, listParts, removeRows } from '../store/operator/bulks.ts'
import { putChange } from '../store/operator/changes.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'
import type { ErasureResult } from '../views/operator/customer.ts'
import { accountRecorder } from './account-record.ts'
import { debitsOf } from './customer-debits.ts'
import { recordErasure } from './erasure-records.ts'
import type { Author } from './handler.ts'

/** The erasure of a customer (docs/compliance.md#personal-data). */

/** The part of the function's minute in which a debit may be erased; the sweep erases the others. */
const ERASE_MS = 30_000
const ERASED_AT_ONCE = 32
const NAMED_MAX = 10

/** The time to live removes the options of a request within days of their expiry. */
const REQUESTS_DAYS = 4

type Customer = { phone: PhoneNumber; hash: string }

/** The requests for approval with texts about a customer. */
const requestsOf = async ({ phone, hash }: Customer, { at, approval }: Author) => {
  const from = secondsAfter(at, -REQUESTS_DAYS * DAY_SECONDS)
  const found: Approval[] = []
  for await (const page of approvalPages()) {
    for (const request of page.filter(({ requestedAt }) => requestedAt > from)) {
      const isOwn = request.id === approval
      if (!isOwn && (request.customer === hash || (await hasRowOf(phone, request)))) {
        found.push(request)
      }
    }
    if (page.some(({ requestedAt }) => requestedAt <= from)) break
  }
  return found
}

/** Reports whether the file of a requested import has a row of the customer. */
const hasRowOf = async (phone: PhoneNumber, { noun, scope }: Approval): Promise<boolean> => {
  if (noun !== 'customer' || !scope) return false
  const parts = await listParts(scope.bulk)
  const rows = await mapConcurrent(parts, ERASED_AT_ONCE, findRows)
  return rows.some((text) => text?.includes(phone))
}

const removeTexts = async ({ id, customer, scope }: Approval): Promise<void> => {
  if (customer !== undefined) await removePlainOptions(id)
  const parts = scope ? await listParts(scope.bulk) : []
  await mapConcurrent(parts, ERASED_AT_ONCE, removeRows)
}

const planOf = async (phone: PhoneNumber, author: Author, runtime: Runtime) => {
  const hash = await customerHasher(runtime)
  const customer = { phone, hash: hash(phone) }
  const [debits, requests] = await Promise.all([debitsOf(phone), requestsOf(customer, author)])
  const open = [
    ...debits.flatMap((one) => {
      const work = openWork(one.debit, one)
      return work === undefined ? [] : `${one.debit.facts.reference} is ${work}`
    }),
    ...requests.filter((one) => canRun(one, author.at)).map(({ id }) => `request ${id} is open`),
  ]
  if (open.length > 0) return refusedBecause(open)
  return { customer, debits, requests }
}

const refusedBecause = (open: readonly string[]): Refusal => {
  const others = open.length > NAMED_MAX ? [`${open.length - NAMED_MAX} others`] : []
  return new Refusal(1409, { details: [...open.slice(0, NAMED_MAX), ...others].join('; ') })
}

/** Returns why a customer cannot be erased now, with the open work; undefined if none is open. */
export const refusalToErase = async (
  { phone }: { phone: PhoneNumber },
  author: Author,
  runtime: Runtime,
): Promise<Refusal | undefined> => {
  const plan = await planOf(phone, author, runtime)
  return plan instanceof Refusal ? plan : undefined
}

const eraseAll = async (debits: readonly WholeDebit[], runtime: Runtime) => {
  const timeIsUp = timeLimit(runtime, ERASE_MS)
  const done = await mapConcurrent(
    debits,
    ERASED_AT_ONCE,
    async (one) => !timeIsUp() && (await eraseWholeDebit(one, runtime.now(), runtime)),
  )
  return debits.filter((_, index) => !done[index])
}

/**
 * Unlinks the accounts of a customer, and erases the debits that are old enough. The sweep erases the
 * others on their days, also those that the call did not reach: its request ends once they are listed. Until
 * then a repeated call continues.
 */
export const eraseCustomer = async (
  { phone, reason }: { phone: PhoneNumber; reason: string },
  { approval, scope: _, ...author }: Author,
  runtime: Runtime,
): Promise<ErasureResult | Refusal> => {
  const plan = await planOf(phone, { ...author, ...defined({ approval }) }, runtime)
  if (plan instanceof Refusal) return plan
  const { debits, requests, customer } = plan
  const { hash } = customer
  const recording = { ...author, target: hash, customer: hash }
  await recordErasure(phone, runtime)
  await putChange(recording, { reason, debits: debits.length })
  for (const { bank } of await listAccounts(phone)) {
    const own = { ...author, id: runtime.newId() }
    const record = await accountRecorder(phone, bank as BankIdentifier, own, runtime)
    await removeAccount(phone, bank, record, runtime)
  }
  await mapConcurrent(requests, ERASED_AT_ONCE, removeTexts)
  const now = runtime.now()
  const dated = debits.map((one) => ({
    one,
    from: erasableFrom(one.debit, environment.eraseAfterDays),
  }))
  const [old, young] = [true, false].map((isOld) =>
    dated.filter(({ from }) => from <= now === isOld),
  ) as [typeof dated, typeof dated]
  // Before the first erasure: the sweep continues after a crash, and checks each debit once again.
  await Promise.all(
    [old, young].map((some, group) => {
      const references = some.map(({ one }) => one.debit.facts.reference)
      const due = new Date(
        Math.min(...some.map(({ from }) => Math.max(Number(from), afterThisCall(now)))),
      )
      const page = { customer: hash, call: `${author.id}#${group}`, references }
      return putLaterErasures(page, due, runtime)
    }),
  )
  // A repeated grant would be refused for what the customer did since.
  if (approval) await finishApproval({ id: approval, customer: hash }, { doneAt: now }, runtime)
  const rest = await eraseAll(
    old.map(({ one }) => one),
    runtime,
  )
  const last = young
    .map(({ from }) => from)
    .sort(byTime)
    .at(-1)
  const isLater = rest.length + young.length > 0
  return {
    erased: old.length - rest.length,
    later: rest.length + young.length,
    last_on: isLater ? dayOf(last ?? now) : null,
  }
}

/** When the sweep continues. */
const afterThisCall = (now: Date): number => now.getTime() + 2 * ERASE_MS

const byTime = (one: Date, other: Date): number => one.getTime() - other.getTime()
