import { isDeepStrictEqual } from 'node:util'
import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import type { FeeSchedule } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import { expectations } from './lifecycle.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import * as raw from './raw-items.ts'
import { type Check, type Checks, eachBatch, eachDebit } from './rules.ts'
import { DAY_MS, inGhs, midnightAfter, pesewasOfFee, startOf } from './time-and-money.ts'

/** The contents of batches: when debits get their lines, and which fees apply. */

const STEPS: Record<BatchStatus, readonly BatchStatus[]> = {
  // An offset or empty batch completes at once.
  pending: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  // A retry begins a payout, or offsets take all of it; or a bank has paid it outside the service.
  failed: ['processing', 'completed'],
  completed: [],
}

const FIXED = 'id provider currency date n createdAt'.split(' ')

/** A retry removes the failure when its payout begins. */
const BEGUN = new Set<BatchStatus>(['processing', 'completed'])

/** Members that never change once set. */
const KEPT = 'feeSchedule sealedAt totals completedFrom reportedAt completedAt offsetBy'.split(' ')

/** Members of a payout, which stay from its start until its end; an operator records what its bank rejected. */
const PAYOUT = 'paid paidTo offsets processedAt'.split(' ')
const DURING: Record<string, readonly string[]> = {
  'processing to processing': PAYOUT,
  'processing to completed': PAYOUT,
  'failed to completed': ['paid'],
}

const contents = ({ work, due, ...batch }: raw.RawBatch): object => batch

const linesStay: Check = ({ batches, chunkChanges }, report) => {
  for (const { before, after, sequence, by } of chunkChanges) {
    const chunk = after ?? before
    if (!chunk || !by) continue
    if (before) report(chunk.pk, `change ${sequence} changes existing lines`)
    // A restore can undo a seal.
    const seal = batches
      .get(raw.ownerIn(chunk.pk))
      ?.changes.findLast((step) => step.after?.sealedAt && !step.before?.sealedAt)
    if (sequence > (seal?.sequence ?? Infinity)) report(chunk.pk, `got ${chunk.sk} after its seal`)
  }
}

const contentsStay: Check = ({ batches }, report) => {
  for (const { changes } of batches.values())
    for (const { before, after, sequence, by } of changes) {
      if (!before || !after || !by) continue
      const about = `${after.id}, change ${sequence}`
      const step = `${before.status} to ${after.status}`
      const isRetried = before.status === 'failed' && before.uuid !== after.uuid
      const during = isRetried ? [] : (DURING[step] ?? [])
      const { uuid, paid, paidTo, failed } = before
      const kept = isRetried ? [...(failed ?? []), { uuid, paid, paidTo }] : failed
      const other = [
        ...(isDeepStrictEqual(kept, after.failed) ? [] : ['failed']),
        ...[...FIXED, ...during].filter((name) => !isDeepStrictEqual(before[name], after[name])),
        ...KEPT.filter((name) => !isDeepStrictEqual(before[name] ?? after[name], after[name])),
      ]
      if (other.length > 0) report(about, `another ${other}`)
      if (before.status === 'completed' && !isDeepStrictEqual(contents(before), contents(after)))
        report(about, 'changed after completion')
      // Only an operator retries a failed batch.
      const isStep =
        STEPS[before.status].includes(after.status) &&
        (before.status !== 'failed' || by.name === 'manage-settlement')
      if (before.status !== after.status && !isStep)
        report(about, `${by.name} moved it from ${step}`)
      const isSame = before.uuid === after.uuid
      if (step === 'failed to processing' ? isSame : !isSame && !isRetried)
        report(about, `the uuid ${after.uuid}`)
      if (BEGUN.has(after.status) && (after.failedAt || after.failure))
        report(about, `is ${after.status}, but failed at ${after.failedAt}`)
    }
}

/** A completed batch cannot be processed again: error 5005. */
const completedBatchesAreFinal: Check = ({ operatorCalls, batches }, report) => {
  for (const { call, noun, verb, options, error } of operatorCalls) {
    const isAgain = noun === 'settlement' && (verb === 'process' || verb === 'retry')
    const { changes = [] } = batches.get(options.batch ?? '') ?? {}
    const ended = changes.find(({ after }) => after?.status === 'completed')
    if (!isAgain || !call.reply || !ended || ended.at >= call.at) continue
    if (!error.includes('5005')) report(String(options.batch), 'was processed twice')
  }
}

/** The payouts of a batch have its facts, under one key that no bank rejected. */
const payoutsAgree: Check = ({ payouts, batches, setup }, report) => {
  const open = new Map<string, string>()
  for (const post of payouts) {
    const { bank, body, idempotencyKey: key, at, verdict } = post
    const id = String(body.batch)
    // A restore may have undone the batch; the bank's statement shows its payout.
    if (setup.isRestored && !batches.has(id)) continue
    const begun = raw.beginOf(batches.get(id)?.changes ?? [], key)
    if (!begun?.after || begun.at > at) {
      report(id, `was submitted under ${key} before it was recorded`)
      continue
    }
    const { paid, paidTo, provider, date } = begun.after
    const expected = {
      partner: provider,
      date,
      amount: inGhs(paid ?? 0),
      account_number: paidTo?.accountNumber,
      account_name: paidTo?.accountName,
    }
    const isAsWritten = Object.entries(expected).every(([name, value]) => body[name] === value)
    if (!isAsWritten || bank !== paidTo?.bank)
      report(id, `was submitted under ${key} with other facts`)
    if (verdict === 'rejected') continue
    const other = open.get(id) ?? key
    if (other !== key) report(id, `was submitted under ${other} and ${key}`)
    open.set(id, other)
  }
}

/** A line is written together with the mark of its debit. The reconciliation compares contents (47). */
const linesAreOfCompletedDebits: Check = ({ debits, chunkChanges }, report) => {
  for (const { before, after, transaction } of chunkChanges) {
    if (before || !after) continue
    const mark = `${raw.ownerIn(after.pk)}#${raw.ownerIn(after.sk)}`
    for (const { reference, type } of raw.linesIn(after)) {
      const debit = debits
        .get(reference)
        ?.changes.findLast((step) => step.after && step.transaction === transaction)?.after
      const settlement = debit && expectations[debit.status].settlement
      const isMarked =
        type === 'debit'
          ? settlement === 'line' && debit?.settledIn === mark
          : settlement === 'adjustment' && debit?.adjustedIn === mark
      if (!isMarked) report(reference, `got a line in ${mark} while ${debit?.status}`)
    }
  }
}

const requestedDays = ({ operatorCalls }: ObservationIndex): unknown[] =>
  operatorCalls.flatMap(({ noun, options }) => (noun === 'settlement' ? [options.date] : []))

const debitsAreSettledInTime = eachDebit(({ entries, lines }, index) => {
  const { isHealthy, healedAt } = index.setup
  const line = lines.find(({ item }) => item.type === 'debit')
  const completedAt = entries.find(({ type }) => type === 'completed')?.at
  const date = line && index.batches.get(line.batch)?.item.date
  if (!date || completedAt === undefined) return undefined
  const first = midnightAfter(completedAt)
  const latest = isHealthy ? first : Math.max(first, midnightAfter(healedAt - 1)) + DAY_MS
  return [
    completedAt >= startOf(date) && `is settled on its own day, ${date}`,
    startOf(date) > latest && !requestedDays(index).includes(date) && `waited until ${date}`,
  ]
})

const batchesOpenOnTheirDay = eachBatch(({ item }, index) => {
  const isEarly = Date.parse(item.createdAt) + 2 * index.setup.skew < startOf(item.date)
  return isEarly && !requestedDays(index).includes(item.date) && `was opened before ${item.date}`
})

/** A batch keeps the schedule that its provider had when it was opened. */
const schedulesAreCurrent = eachBatch(({ item, changes: [opened] }, { timeline, startOf }) => {
  if (!opened) return undefined
  const from = startOf(opened.by?.invocation, 0)
  const possible = timeline.during('feeSchedule', item.provider, from, opened.at)
  const own = { ...(item.feeSchedule as FeeSchedule | null) }
  const isCurrent = possible.some((schedule) => isDeepStrictEqual(own, { ...schedule }))
  return !isCurrent && `has the schedule ${JSON.stringify(own)}`
})

/** A JSON number keeps its text: 0.30000000000000004 has more digits than a number prints. */
const feeIn = (sent: unknown): unknown => {
  const text = typeof sent === 'string' ? /"fee":([0-9.]+)\}?$/.exec(sent)?.[1] : undefined
  return text ?? membersOf(sent).fee
}

const feeByBank = ({ uuid, changes, entries }: DebitHistory, index: ObservationIndex) => {
  // A restore may have undone the completion.
  if (!entries.some(({ type }) => type === 'completed')) return undefined
  // A restore writes items too, without an invocation.
  const { by, at = 0 } = raw.movesTo(changes, 'completed').findLast((step) => step.by) ?? {}
  if (!by) return undefined
  const call = index.callBy.get(by.invocation)
  const query = index.queriesOf
    .get(uuid)
    ?.findLast((one) => one.by === by.invocation && one.answer === 'completed' && one.at <= at)
  return pesewasOfFee(call ? feeIn(call.sent) : query?.fee)
}

/** The reconciliation computes the fee of a line from that of its debit and the schedule (47). */
const feesAreOfBank = eachDebit((debit, index) => {
  const fee = debit.entries.findLast(({ set }) => set.fee !== undefined)?.set.fee
  const byBank = feeByBank(debit, index)
  return fee !== byBank && `has the fee ${fee}, but its bank reported ${byBank}`
})

export const checks: Checks = {
  23: [linesAreOfCompletedDebits],
  26: [linesStay, contentsStay, completedBatchesAreFinal, payoutsAgree],
  28: [debitsAreSettledInTime, batchesOpenOnTheirDay],
  29: [schedulesAreCurrent, feesAreOfBank],
}
