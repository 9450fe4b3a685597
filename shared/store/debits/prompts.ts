import { type Debit, stateAt, wholeFacts } from '../../domain/debits/debit.ts'
import { isUnsubmitted } from '../../domain/debits/lifecycle.ts'
import {
  isPromptedSince,
  isPromptRefused,
  isUnprompted,
  PROMPT_SECONDS,
} from '../../domain/debits/prompts.ts'
import { clocks } from '../../domain/debits/timeouts.ts'
import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { secondsAfter } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { mapConcurrent } from '../concurrent.ts'
import { queryOf } from '../index-lists.ts'
import { keys } from '../keys.ts'
import { examine } from '../table.ts'
import { findDebit } from './debits.ts'
import { referenceAt } from './status-lists.ts'

/** Entries of half a read unit. Refused debits have a partition of their own, so more are rare. */
const PAGE = 20
const EXAMINED_MAX = 1_000
/** Debits charged before the ten minutes are read: only their history has the time of submission. */
const READ_MAX = 100

const READS_AT_ONCE = 8
/** Pauses of a second in all, in which a submission usually ends. */
const PAUSES_MAX = 10
const PAUSE_MS = 100

/**
 * Reports whether the customer has had too many approval prompts. Counts the other debits in the index that
 * were charged or submitted within ten minutes. Counts the newest first, because only older ones have to be
 * read, which can fail the count. Usually one query of half a read unit.
 * @throws Error if the index is unreadable or too many debits are undecided
 */
export const hasTooManyPrompts = async (
  debit: Debit,
  promptsMax: number,
  runtime: Pick<Runtime, 'pause' | 'now'>,
): Promise<boolean> => {
  const { bank, phone, provider, reference } = wholeFacts(debit)
  const { createdAt } = stateAt(debit, 0)
  const own = keys.byTime(createdAt, reference)
  const since = secondsAfter(runtime.now(), -PROMPT_SECONDS)
  const query = queryOf({
    index: 'by-customer',
    key: keys.byCustomer(bank.identifier, phone),
    // A debit is submitted before its timeout.
    from: secondsAfter(since, -clocks(1).processingSeconds).toISOString(),
    until: `${createdAt.toISOString()}#~`,
  })
  const earlier: ProviderId[] = []
  const later: Reference[] = []
  const isRefused = (others: readonly Debit[] = []): boolean =>
    isPromptRefused(
      [...earlier, ...others.map(({ facts }) => facts.provider)],
      provider,
      promptsMax,
    )
  let examined = 0
  let read = 0
  for await (const { items } of examine({ ...query, Limit: PAGE })) {
    const older: Reference[] = []
    for (const item of items) {
      const byTime = String(item.byTime)
      if (byTime < since.toISOString()) older.push(referenceAt(byTime))
      else if (byTime < own) earlier.push(String(item.byStatus).split('#')[0] as ProviderId)
      else if (byTime !== own) later.push(referenceAt(byTime))
    }
    if (isRefused()) return true
    const found = await mapConcurrent(older, READS_AT_ONCE, findDebit)
    const prompted = found.flatMap((one) => (one && isPromptedSince(one, since) ? [one] : []))
    earlier.push(...prompted.map(({ facts }) => facts.provider))
    if (isRefused()) return true
    examined += items.length
    read += older.length
    if (examined >= EXAMINED_MAX || read >= READ_MAX)
      throw new Error(`${examined} debits of one customer are undecided`)
  }
  return later.length > 0 && areTaken(later, isRefused, runtime)
}

/**
 * Reports whether debits of the same millisecond, which sort later, take the remaining prompts. Such a debit
 * may have been submitted before this one was stored, so this one waits for its submission.
 */
const areTaken = async (
  later: readonly Reference[],
  isFull: (debits: readonly Debit[]) => boolean,
  { pause }: Pick<Runtime, 'pause'>,
): Promise<boolean> => {
  for (let pauses = 0; ; pauses += 1) {
    const found = await mapConcurrent(later, READS_AT_ONCE, findDebit)
    const counted = found.flatMap((debit) => (debit && !isUnprompted(debit) ? [debit] : []))
    if (isFull(counted.filter(({ status }) => !isUnsubmitted(status)))) return true
    if (!isFull(counted)) return false
    // One that is decided after this one no longer counts it.
    if (pauses === PAUSES_MAX) return true
    await pause(PAUSE_MS)
  }
}
