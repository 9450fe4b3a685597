import type { BatchId, Reference } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import type { Line } from '../domain/settlement/batch.ts'
import {
  addBalances,
  type Balances,
  balanceOf,
  isWithin,
  type LedgerEntry,
  payable,
  post,
} from '../domain/settlement/ledger-entry.ts'
import { spanOf } from '../ledger/day.ts'
import {
  batchEntries,
  findBatchesWithin,
  lineEntry,
  mayHaveLines,
  unsettledEntries,
} from '../ledger/facts.ts'
import { type BatchTimes, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf, listAdjustments } from '../store/settlement/lines.ts'
import type { Span } from '../store/table.ts'
import { type CheckResult, checkResult } from './findings.ts'
import { adjustedAt, type Counted, lineShare, unsettledAt } from './ledger-state.ts'
import type { PartScope, Task } from './part.ts'
import { isRecent, SKEW_MS } from './records.ts'
import { whole } from './sums.ts'

/**
 * Derives the ledger entries of a provider, and its debt for debits that were in no sealed batch at the
 * end of the day. `compareLedger` compares their sums.
 */

/** A ledger that cannot be derived is a difference of its own. */
const derive = async (scope: PartScope, work: () => Promise<Task[]>): Promise<Task[]> => {
  try {
    return await work()
  } catch (error) {
    reportUnderivable(scope, error)
    scope.ledger.isFailed = true
    return []
  }
}

export const reportUnderivable = (
  { provider, findings, window }: Pick<PartScope, 'findings' | 'window'> & Partial<PartScope>,
  error: unknown,
): void => {
  // A fault of DynamoDB is not a difference.
  if (!(error instanceof Error) || '$metadata' in error) throw error
  const result = checkResult({ [`cannot be derived: ${error.message}`]: true })
  findings.add(40, { ...(provider && { provider }), subject: window.date }, result)
}

const isEntry = ({ amount, debit, credit }: LedgerEntry): CheckResult =>
  checkResult({
    'has an entry that is not in whole pesewas above zero': !(
      Number.isSafeInteger(amount) && amount > 0
    ),
    'has an entry that debits and credits one account': debit === credit,
  })

/** Posts an entry of the day, or one that is carried to it. */
export const postEntry = (
  entry: LedgerEntry,
  { findings, ledger, window }: Pick<PartScope, 'findings' | 'ledger' | 'window'>,
): void => {
  if (entry.at < window.from) {
    post(ledger.carried, entry)
    return
  }
  findings.add(40, { subject: `${entry.type} ${entry.source.id}` }, isEntry(entry))
  post(ledger.posted, entry)
  // No task reads the debits of earlier days, of which few end on the day.
  const isEarlier = entry.type === 'completion' && !isRecent(entry.source.id, window)
  if (isEarlier) addBalances(ledger.collected, new Map([[entry.debit, entry.amount]]))
}

const carriedSpan = ({ carriedFrom, window }: PartScope): Span => ({
  from: carriedFrom,
  before: window.before,
})

/**
 * Reads the unsettled debits and the lines of batches that were open then in one task: a debit that is
 * settled in between counts once. The lines of sealed batches do not change; each batch is a task.
 */
export const deriveProvider = (_: unknown, scope: PartScope): Promise<Task[]> =>
  derive(scope, async () => {
    const { provider, window, amounts, ledger, now } = scope
    const span = carriedSpan(scope)
    const from = now().getTime()
    const posted = new Set<Reference>()
    for await (const entry of unsettledEntries(provider, span)) {
      posted.add(entry.source.id as Reference)
      postEntry(entry, scope)
    }
    const counted: Counted = new Map()
    amounts.owed += await unsettledAt(provider, window.before, counted)
    ledger.read = { from, until: now().getTime() }
    const wasOpen = ({ sealedAt }: BatchTimes) => (sealedAt?.getTime() ?? from) >= from - SKEW_MS
    const isLater = ({ sealedAt }: BatchTimes) => sealedAt === null || sealedAt >= window.before
    const times = await listBatchTimes(provider)
    for (const batch of times.filter(wasOpen)) {
      await readLines(batch.id, { posted, counted, isLater: isLater(batch) }, scope)
    }
    await deriveBatches(scope)
    return times.flatMap((batch) =>
      !wasOpen(batch) && (isLater(batch) || mayHaveLines(batch, span))
        ? [{ type: 'entries', batch: batch.id, isLater: isLater(batch) } as const]
        : [],
    )
  })

/** Reads the lines of a sealed batch. */
export const deriveLines = (
  { batch, isLater }: { batch: BatchId; isLater: boolean },
  scope: PartScope,
): Promise<Task[]> =>
  derive(scope, async () => {
    await readLines(batch, { posted: new Set(), counted: new Map(), isLater }, scope)
    return []
  })

type Read = { posted: ReadonlySet<Reference>; counted: Readonly<Counted>; isLater: boolean }

const readLines = async (
  batch: BatchId,
  { posted, counted, isLater }: Read,
  scope: PartScope,
): Promise<void> => {
  const { provider, window, amounts } = scope
  const span = carriedSpan(scope)
  const adjustments: Line[] = []
  for await (const line of linesOf(batch)) {
    const entry = posted.has(line.reference) ? undefined : lineEntry(line, provider, span)
    if (entry) postEntry(entry, scope)
    if (!isLater || counted.get(line.reference) === line.type) continue
    if (line.type === 'adjustment') adjustments.push(line)
    else amounts.owed += lineShare(line, window.before)
  }
  amounts.owed += await adjustedAt(adjustments, window.before)
}

/** Posts fees and payouts, and compares the payouts of the day with the nets of their batches. */
const deriveBatches = async (scope: PartScope): Promise<void> => {
  const { provider, window, findings, amounts } = scope
  const paidOut: Balances = new Map()
  for (const entry of await batchEntries(provider, carriedSpan(scope))) {
    postEntry(entry, scope)
    if (entry.type === 'payout' && entry.at >= window.from) post(paidOut, entry)
  }
  const day = await batchesOfDay(scope)
  amounts.fees += day.fees
  const paid = whole(balanceOf(paidOut, payable(provider)))
  const isPaidOut = checkResult({
    [`payouts are ${formatAmount(paid)} in the ledger, but the nets of their batches give ${formatAmount(day.paid)}`]:
      paid !== day.paid,
  })
  findings.add(40, { provider, subject: window.date }, isPaidOut)
}

/** Uses other fields of the headers than the ledger does. */
const batchesOfDay = async ({ provider, window: { date } }: PartScope) => {
  const isOfDay = (at: Date | null): boolean => at !== null && isWithin(at, spanOf(date))
  const sums = { fees: 0n, paid: 0n }
  for (const batch of await findBatchesWithin(provider, spanOf(date))) {
    const { totals, offsets, sealedAt, completedAt } = batch
    if (!totals) continue
    const net = whole(totals.net)
    if (isOfDay(sealedAt)) {
      const returned = (await listAdjustments(batch.id)).map(({ fee }) => whole(fee))
      sums.fees += returned.reduce(
        (sum, fee) => sum + fee,
        whole(totals.gross) + whole(totals.adjustments) - net,
      )
    }
    if (isOfDay(completedAt) && net > 0n) {
      sums.paid += offsets.reduce((rest, { amount }) => rest - whole(amount), net)
    }
  }
  return sums
}
