import { isDeepStrictEqual } from 'node:util'
import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import { expectations } from './lifecycle.ts'
import type { Check, Reporter } from './observation-index.ts'
import * as raw from './raw-items.ts'
import { DAY_MS, inGhs, midnightAfter, startOf } from './time-and-money.ts'

/** 26: a sealed batch keeps its contents and is paid once. */

const STEPS: Record<BatchStatus, readonly BatchStatus[]> = {
  // An offset or empty batch completes at once.
  pending: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  // A bank has paid it outside the service.
  failed: ['pending', 'completed'],
  completed: [],
}

const FIXED = 'id provider currency date n createdAt'.split(' ')

/** Members that never change once set. */
const LASTING = 'feeSchedule sealedAt totals completedFrom reportedAt completedAt offsetBy'.split(
  ' ',
)

/** Members of a payout, which stay from its start until its end. */
const PAYOUT = 'paid paidTo offsets processedAt'.split(' ')

const contents = ({ work, due, ...batch }: raw.RawBatch): object => batch

export const contentsStay: Check = ({ batches, chunkChanges }, report) => {
  const sealed = new Map<string, number>()
  for (const [id, { changes }] of batches) {
    for (const change of changes) checkStep(change, report)
    // A restore can undo a seal.
    const seal = changes.findLast(({ before, after }) => after?.sealedAt && !before?.sealedAt)
    if (seal) sealed.set(`BATCH#${id}`, seal.sequence)
  }
  for (const { before, after, sequence, by } of chunkChanges) {
    const chunk = after ?? before
    if (!chunk || !by) continue
    if (before) report(chunk.pk, `change ${sequence} changes existing lines`)
    if (sequence > (sealed.get(chunk.pk) ?? Infinity))
      report(chunk.pk, `got ${chunk.sk} after its seal`)
  }
}

const checkStep = (change: raw.ChangeOf<raw.RawBatch>, report: Reporter): void => {
  const { before, after, sequence, by } = change
  if (!before || !after || !by) return
  const about = `${after.id}, change ${sequence}`
  const other = [
    ...FIXED.filter((name) => before[name] !== after[name]),
    ...LASTING.filter((name) => !isDeepStrictEqual(before[name] ?? after[name], after[name])),
    ...(before.status === 'processing' && after.status !== 'failed' ? PAYOUT : []).filter(
      (name) => !isDeepStrictEqual(before[name], after[name]),
    ),
  ]
  if (other.length > 0) report(about, `another ${other}`)
  if (before.status === 'completed' && !isDeepStrictEqual(contents(before), contents(after)))
    report(about, 'changed after completion')
  if (before.status !== after.status && !isStep(before, after, by.name))
    report(about, `${by.name} moved it from ${before.status} to ${after.status}`)
  const isRetry = before.status === 'failed' && after.status === 'pending'
  if ((before.uuid !== after.uuid) !== isRetry) report(about, `the uuid ${after.uuid}`)
}

/** Only an operator retries a failed batch. */
const isStep = (before: raw.RawBatch, after: raw.RawBatch, by: string): boolean =>
  STEPS[before.status].includes(after.status) &&
  (before.status !== 'failed' || by === 'manage-settlement')

/** A completed batch cannot be processed again: error 5005. */
export const completedBatchesAreFinal: Check = ({ operatorCalls, batches }, report) => {
  for (const { call, noun, verb, options, error } of operatorCalls) {
    const isAgain = noun === 'settlement' && (verb === 'process' || verb === 'retry')
    const { changes = [] } = batches.get(options.batch ?? '') ?? {}
    const ended = changes.find(({ after }) => after?.status === 'completed')
    if (!isAgain || !call.reply || !ended || ended.at >= call.at) continue
    if (!error.includes('5005')) report(String(options.batch), 'was processed twice')
  }
}

/** The payouts of a batch have its facts, under one key that no bank rejected. */
export const payoutsAgree: Check = ({ bankPostsTo, batches }, report) => {
  const open = new Map<string, string>()
  for (const { bank, body, idempotencyKey: key, at, verdict } of bankPostsTo.get('/settlements') ??
    []) {
    const id = String(body.batch)
    const batch = batches.get(id)
    const begun = batch && raw.beginOf(batch.changes, key)
    if (!begun?.after || begun.at > at) {
      report(id, `was submitted under ${key} before it was recorded`)
      continue
    }
    const { paid, paidTo, provider, date } = begun.after
    const isAsWritten =
      body.partner === provider &&
      body.date === date &&
      body.amount === inGhs(paid ?? 0) &&
      body.account_number === paidTo?.accountNumber &&
      body.account_name === paidTo?.accountName &&
      bank === paidTo?.bank
    if (!isAsWritten) report(id, `was submitted under ${key} with other facts`)
    if (verdict === 'rejected') continue
    const other = open.get(id) ?? key
    if (other !== key) report(id, `was submitted under ${other} and ${key}`)
    open.set(id, other)
  }
}

/** 23, 28: when the lines of debits are written. The reconciliation compares their contents (47). */

/** 23: a line is written together with the mark of its completed or reversed debit. */
export const linesAreOfCompletedDebits: Check = ({ debits, chunkChanges }, report) => {
  const marks = new Map<string, raw.RawDebit>()
  for (const [reference, { changes }] of debits) {
    for (const { after, transaction } of changes) {
      if (after) marks.set(`${transaction} ${reference}`, after)
    }
  }
  for (const { before, after, transaction } of chunkChanges) {
    if (before || !after) continue
    const mark = `${raw.ownerIn(after.pk)}#${raw.ownerIn(after.sk)}`
    for (const { reference, type } of raw.linesIn(after)) {
      const debit = marks.get(`${transaction} ${reference}`)
      const settlement = debit && expectations[debit.status].settlement
      const isMarked =
        type === 'debit'
          ? settlement === 'line' && debit?.settledIn === mark
          : settlement === 'adjustment' && debit?.adjustedIn === mark
      if (!isMarked) report(reference, `got a line in ${mark} while ${debit?.status}`)
    }
  }
}

/** 28: a debit is settled by the first night after its completion. */
export const debitsAreSettledInTime: Check = (index, report) => {
  const { setup } = index.observations
  /** The days that an operator settled manually. */
  const requested = new Set<unknown>(
    index.operatorCalls.flatMap(({ noun, options }) =>
      noun === 'settlement' ? [options.date] : [],
    ),
  )
  for (const [reference, { entries, lines }] of index.debits) {
    const line = lines.find(({ item }) => item.type === 'debit')
    const completedAt = entries.find(({ type }) => type === 'completed')?.at
    const date = line && index.batches.get(line.batch)?.item.date
    if (!date || completedAt === undefined) continue
    if (completedAt >= startOf(date)) report(reference, `is settled on its own day, ${date}`)
    const first = midnightAfter(completedAt)
    const latest = setup.isHealthy
      ? first
      : Math.max(first, midnightAfter(setup.healedAt - 1)) + DAY_MS
    if (startOf(date) > latest && !requested.has(date)) report(reference, `waited until ${date}`)
  }
  for (const [id, { item }] of index.batches) {
    const isEarly = Date.parse(item.createdAt) + 2 * setup.skew < startOf(item.date)
    if (isEarly && !requested.has(item.date)) report(id, `was opened before ${item.date}`)
  }
}
