import type { Holidays } from '../domain/banks/calendar.ts'
import { rowOf } from '../domain/debits/exception.ts'
import type { OpenMatter } from '../domain/operator/day-closing.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, isOpenBatch } from '../domain/settlement/batch.ts'
import type { Day } from '../domain/time.ts'
import { holidaysUntil, payoutDayOf } from '../settlement/payout-day.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'

/** What an operator must still do, for the closing of a day and a provider that is disabled. */

const NAMED_MAX = 100

export const newMatter = (
  check: OpenMatter['check'],
  subject: string,
  reason: string,
  command: string,
): OpenMatter => ({ check, subject, reason, command })

const batchReason = async (
  batch: Batch,
  date: Day,
  holidays: Holidays,
): Promise<string | undefined> => {
  if (isOpenBatch(batch) || !batch.totals) return 'the batch is not sealed'
  if (batch.status === 'failed') return `the payout failed: ${batch.failure}`
  if (batch.status === 'processing') return 'the payout is in progress'
  const isDue = batch.totals.net >= 0 && (await payoutDayOf(batch, holidays)) <= date
  return isDue ? 'the batch is due and not paid' : undefined
}

/** Names the batches that are not sealed, or due on a day and not paid. */
export const openBatches = async (unpaid: readonly Batch[], date: Day): Promise<OpenMatter[]> => {
  const open: OpenMatter[] = []
  const holidays = await holidaysUntil(date)
  for (const batch of unpaid) {
    const reason = await batchReason(batch, date, holidays)
    const command = `operator settlement show --batch ${batch.id}`
    if (reason) open.push(newMatter('batch', batch.id, reason, command))
  }
  return open
}

/** Names open exceptions, the newest first, and counts those above a hundred. */
export const openExceptions = async ({
  before,
  provider,
}: {
  before: Date
  provider?: ProviderId
}): Promise<OpenMatter[]> => {
  const open: OpenMatter[] = []
  let others = 0
  const span = { from: new Date(0), before }
  for await (const page of exceptionPages('open', span)) {
    for (const { kind, reference, provider: owner } of page) {
      if (provider && owner !== provider) continue
      if (open.length >= NAMED_MAX) others += 1
      else {
        const command = `operator exception show --reference ${reference}`
        open.push(newMatter('exception', reference, rowOf(kind)?.meaning ?? kind, command))
      }
    }
  }
  if (others === 0) return open
  const command = 'operator exception list --status open'
  const reason = `${others} more exceptions are open`
  return [...open, { check: 'exception', subject: String(others), reason, command }]
}
