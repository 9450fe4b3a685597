import { isDeepStrictEqual } from 'node:util'
import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import type { Check, Reporter } from './observation-index.ts'
import { beginOf, type ChangeOf, type RawBatch } from './raw-items.ts'
import { inGhs } from './time-and-money.ts'

/** 26: a sealed batch keeps its contents and is paid once. */

const STEPS: Record<BatchStatus, readonly BatchStatus[]> = {
  // An offset or empty batch completes at once.
  pending: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  failed: ['pending'],
  completed: [],
}

const FIXED = 'id provider currency date n createdAt'.split(' ')

/** Members that never change once set. */
const LASTING = 'feeSchedule sealedAt totals completedFrom reportedAt completedAt offsetBy'.split(
  ' ',
)

const contents = ({ work, due, ...batch }: RawBatch): object => batch

export const contentsStay: Check = ({ batches, chunkChanges }, report) => {
  const sealed = new Map<string, number>()
  for (const [id, { changes }] of batches) {
    for (const change of changes) checkStep(change, report)
    const seal = changes.find(({ after }) => after?.sealedAt)
    if (seal) sealed.set(`BATCH#${id}`, seal.sequence)
  }
  for (const { before, after, sequence } of chunkChanges) {
    const chunk = after ?? before
    if (!chunk) continue
    if (before) report(chunk.pk, `change ${sequence} changes existing lines`)
    if (sequence > (sealed.get(chunk.pk) ?? Infinity)) {
      report(chunk.pk, `got ${chunk.sk} after its seal`)
    }
  }
}

const checkStep = (change: ChangeOf<RawBatch>, report: Reporter): void => {
  const { before, after, sequence, by } = change
  if (!before || !after) return
  const about = `${after.id}, change ${sequence}`
  const other = [
    ...FIXED.filter((name) => before[name] !== after[name]),
    ...LASTING.filter((name) => !isDeepStrictEqual(before[name] ?? after[name], after[name])),
  ]
  if (other.length > 0) report(about, `another ${other}`)
  if (before.status === 'completed' && !isDeepStrictEqual(contents(before), contents(after))) {
    report(about, 'changed after completion')
  }
  if (before.status !== after.status && !isStep(before, after, by?.name)) {
    report(about, `${by?.name} moved it from ${before.status} to ${after.status}`)
  }
  const isRetry = before.status === 'failed' && after.status === 'pending'
  if ((before.uuid !== after.uuid) !== isRetry) report(about, `the uuid ${after.uuid}`)
}

/** Only an operator retries a failed batch. */
const isStep = (before: RawBatch, after: RawBatch, by: string | undefined): boolean =>
  STEPS[before.status].includes(after.status) &&
  (before.status !== 'failed' || by === undefined || by === 'manage-settlement')

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
    const begun = batch && beginOf(batch.changes, key)
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
