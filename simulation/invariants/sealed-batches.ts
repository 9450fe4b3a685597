import { isDeepStrictEqual } from 'node:util'
import type { BankPost } from '../engine/observations.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { BatchHistory } from './observation-index.ts'
import type { ChangeOf, RawBatch } from './raw-items.ts'
import { membersOf } from './reply.ts'
import { inGhs } from './time-and-money.ts'

/** 26: a sealed batch keeps its contents and is paid once. */

const STEPS: Record<string, readonly string[]> = {
  // An offset or empty batch completes at once.
  pending: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  failed: ['pending'],
  completed: [],
}

const FIXED = ['id', 'provider', 'currency', 'date', 'n', 'createdAt'] as const

/** Members that never change once set. */
const LASTING = [
  'feeSchedule',
  'sealedAt',
  'totals',
  'completedFrom',
  'reportedAt',
  'completedAt',
  'offsetBy',
] as const

/** Ignores the work index. */
const contents = ({ work, due, ...batch }: RawBatch): object => batch

const isLost = (before: unknown, after: unknown): boolean =>
  before !== null && before !== undefined && !isDeepStrictEqual(before, after)

const contentsStay: Check = ({ batches, lineChanges }, report) => {
  const sealed = new Map<string, number>()
  for (const [id, { changes }] of batches) {
    for (const change of changes) checkStep(change, report)
    const seal = changes.find(({ after }) => after?.sealedAt)
    if (seal) sealed.set(`BATCH#${id}`, seal.sequence)
  }
  for (const { before, after, sequence } of lineChanges) {
    const line = after ?? before
    if (!line) continue
    if (before) report(line.pk, `change ${sequence} changes an existing line`)
    if (sequence > (sealed.get(line.pk) ?? Infinity))
      report(line.pk, `got ${line.sk} after its seal`)
  }
}

const checkStep = (change: ChangeOf<RawBatch>, report: Reporter): void => {
  const { before, after, sequence, by } = change
  if (!before || !after) return
  const about = `${after.id}, change ${sequence}`
  for (const name of FIXED) if (before[name] !== after[name]) report(about, `another ${name}`)
  for (const name of LASTING)
    if (isLost(before[name], after[name])) report(about, `another ${name}`)
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
  STEPS[before.status]?.includes(after.status) === true &&
  (before.status !== 'failed' || by === undefined || by === 'manage-settlement')

/** A completed batch cannot be processed again: error 5005. */
const completedBatchesAreFinal: Check = ({ observations, batches }, report) => {
  for (const { name, sent, at, reply } of observations.calls) {
    if (name !== 'manage-settlement' || !reply) continue
    const { verb, options } = membersOf(sent)
    if (verb !== 'process' && verb !== 'retry') continue
    const id = String(membersOf(options).batch)
    const batch = batches.get(id)
    const ended = batch?.changes.find(({ after }) => after?.status === 'completed')
    if (!ended || ended.at >= at) continue
    const error = JSON.stringify(membersOf(reply.body).error ?? '')
    if (!error.includes('5005')) report(id, 'was processed twice')
  }
}

/** All payouts of a batch agree, and at most one is effective. */
const payoutsAgree: Check = (index, report) => {
  const payouts = index.observations.bankPosts.filter(({ path }) => path === '/settlements')
  for (const [id, handed] of Map.groupBy(payouts, ({ body }) => String(body.batch))) {
    const batch = index.batches.get(id)
    if (!batch) {
      report(id, 'was submitted for payout, but does not exist')
      continue
    }
    const keys = Map.groupBy(handed, ({ idempotencyKey }) => idempotencyKey)
    const { isIdempotent } = index.observations.setup
    for (const [key, same] of keys) checkPayout(batch, { key, same, isIdempotent }, report)
    const open = [...keys.values()].filter(([one]) => one?.verdict !== 'rejected')
    if (open.length > 1) report(id, `was submitted under several keys: ${[...keys.keys()]}`)
  }
}

type Payouts = { key: string; same: readonly BankPost[]; isIdempotent: boolean }

const checkPayout = (
  { item, changes }: BatchHistory,
  { key, same, isIdempotent }: Payouts,
  report: Reporter,
): void => {
  const [first] = same
  const begun = changes.find(({ after }) => after?.uuid === key && after.status === 'processing')
  if (!first) return
  if (!begun?.after || begun.at > first.at) {
    report(item.id, `was submitted under ${key} before it was recorded`)
    return
  }
  const { paid, paidTo, provider, date } = begun.after
  const { body } = first
  const isAsWritten =
    body.uuid === key &&
    body.partner === provider &&
    body.date === date &&
    body.currency === 'GHS' &&
    body.amount === inGhs(paid ?? 0) &&
    body.account_number === paidTo?.accountNumber &&
    body.account_name === paidTo?.accountName &&
    first.bank === paidTo?.bank
  if (!isAsWritten) report(item.id, `was submitted under ${key} with other facts`)
  const bytes = new Set(same.map(({ body, bank }) => `${bank} ${JSON.stringify(body)}`))
  if (bytes.size > 1) report(item.id, `was submitted under ${key} with different bodies`)
  const effective = same.filter((post) => post.effective).length
  if (effective > 1 && isIdempotent) report(item.id, `was acted on ${effective} times as ${key}`)
}

export const sealedBatchesStay = allOf(contentsStay, completedBatchesAreFinal, payoutsAgree)
