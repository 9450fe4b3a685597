import { isDeepStrictEqual } from 'node:util'
import type { BatchHistory, ObservationIndex } from './observation-index.ts'
import { daysFrom, freedomOf, mayWait, type Period } from './payout-days.ts'
import { beginOf, type RawBatch, type RawRefund } from './raw-items.ts'
import { type Check, type Checks, eachBatch } from './rules.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, startOf } from './time-and-money.ts'

/** To whom and when the banks pay, and what they must have before. Sums are checked by 24, 25 and 26. */

const batchesNameTheirDay = eachBatch(({ item, changes }, index) =>
  changes.map(({ before, after, at, since }) => {
    if (!after?.sealedAt || before?.sealedAt) return undefined
    const accounts = index.timeline.during('account', item.provider, since, at)
    const days = accounts.flatMap((to) => daysFrom(index, to?.bank, item.date, [since, at]))
    const isNamed = days.includes(String(after.payOn))
    return !isNamed && `is payable on ${after.payOn}, not ${[...new Set(days)].join(' or ')}`
  }),
)

const beginsOf = ({ changes }: BatchHistory) =>
  changes.flatMap(({ before, after, ...step }) =>
    before?.status === 'pending' && after?.status === 'processing' ? [{ ...step, after }] : [],
  )

const payoutsBeginOnTheirDays = eachBatch((batch, index) =>
  beginsOf(batch).map(({ after, at, since }) => {
    const { skew } = index.setup
    const days = [...new Set([since - skew, at + skew].map(dayOf))]
    const isFree = days.every((day) => freedomOf(index, after.paidTo?.bank, day, [since, at]).must)
    return isFree && `is paid on ${days}, a day without payouts`
  }),
)

const disabledProvidersWait = eachBatch((batch, { timeline }) =>
  beginsOf(batch).map(({ at, since }) => {
    const active = timeline.during('isActive', batch.item.provider, since, at)
    return !active.includes(true) && 'was paid while its provider was disabled'
  }),
)

const REQUESTS = /^(?:process|retry|complete)$/

const payoutsReachTheirAccount: Check = (index, report) => {
  const { batches, timeline, payouts, setup, operatorCalls } = index
  for (const { at, bank, body, idempotencyKey } of payouts) {
    const batch = batches.get(String(body.batch))
    const begun = batch && beginOf(batch.changes, idempotencyKey)
    if (!begun) continue
    const { id, provider, date } = batch.item
    const accounts = timeline.during('account', provider, begun.since, begun.at)
    const paidTo = { bank, number: body.account_number, name: body.account_name }
    if (!accounts.some((account) => isDeepStrictEqual(account, paidTo)))
      report(id, `was sent to ${body.account_number} at ${bank}, not to ${provider}`)
    const isRequested = operatorCalls.some(
      ({ call, noun, verb, options }) =>
        noun === 'settlement' && options.batch === id && REQUESTS.test(`${verb}`) && call.at <= at,
    )
    if (at + 2 * setup.skew < startOf(date) + DAY_MS && !isRequested)
      report(id, `of ${date} was paid at ${new Date(at).toISOString()}`)
  }
}

const HOLD_MS = 24 * HOUR_MS

const named = (account: object | undefined): string => JSON.stringify(account)

/** The account may have been the same before. */
const changedAccountsHoldPayouts = eachBatch((batch, { setup, timeline }) =>
  (setup.approvals ? beginsOf(batch) : []).map(({ at, since }) => {
    const isHeld = timeline.calls.some(
      ({ options, subject, from, until }) =>
        options['settlement-account'] !== undefined &&
        subject === batch.item.provider &&
        since > until &&
        at + 2 * setup.skew < from + HOLD_MS &&
        new Set(timeline.during('account', subject, from - 1, until).map(named)).size > 1,
    )
    return isHeld && 'was paid although its account had just changed'
  }),
)

/** An index shows a batch at most a minute late; a run reads it before it pays. */
const INDEX_MS = 2 * MINUTE_MS

const isBelowZero = ({ changes }: BatchHistory, at: number): boolean => {
  const batch = changes.findLast((change) => change.at <= at)?.after
  return batch?.status === 'pending' && batch.outstanding < 0 && batch.reportedAt !== null
}

const payoutsOffset = eachBatch(({ item, changes }, { batches }) =>
  changes.map(({ before, after, at, since }) => {
    const isPaid = before?.status === 'pending' && after && (after.paid ?? 0) > 0
    if (!isPaid || before.paid !== null) return undefined
    const ignored = batches
      .values()
      .find(
        (other) =>
          other.item.provider === item.provider &&
          (other.item.totals?.net ?? 0) < 0 &&
          other.item.createdAt <= item.createdAt &&
          isBelowZero(other, since - INDEX_MS) &&
          isBelowZero(other, at),
      )
    return ignored && `was paid, but ${ignored.item.id} is below zero`
  }),
)

/** The sweep asks about a payout in progress after doubled delays. */
const PROGRESS_MS = 6 * HOUR_MS
const RUNS_MS = 2 * HOUR_MS

const leastCash = ({ cashChanges }: ObservationIndex, [from, until]: Period): number => {
  const before = cashChanges.findLast(({ at }) => at < from)
  const within = cashChanges.filter(({ at }) => at >= from && at <= until)
  return Math.min(...[before, ...within].map((change) => change?.after?.cash ?? 0))
}

/** Returns when the payout of a due batch must begin: at midnight, or after a remittance. */
const chancesOf = ({ setup, cashChanges }: ObservationIndex): number[] => {
  const { isHealthy, startedAt, healedAt, endedAt, approvals, waitsForFunding } = setup
  const fundings = cashChanges.filter(({ by }) => by?.name === 'manage-funding' && waitsForFunding)
  const lastNight = Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS
  return [...fundings.map(({ at }) => at), lastNight].filter(
    (at) => !approvals && at >= (isHealthy ? startedAt : healedAt) && at + RUNS_MS <= endedAt,
  )
}

/** Reports whether operators have removed the connector of a bank, and could not set it again. */
const isDisconnected = ({ setup, timeline }: ObservationIndex, provider: string, of: Period) =>
  timeline
    .during('account', provider, ...of)
    .some(
      (account) =>
        setup.endpoints.includes(account?.bank ?? '') &&
        timeline.during('connectorUrl', account?.bank ?? '', ...of).includes(undefined),
    )

/** After the faults, each due batch that the cash covers is paid or rejected. */
const dueBatchesArePaid = eachBatch(({ item, changes }, index) => {
  const { healedAt, endedAt, waitsForFunding } = index.setup
  const missed = chancesOf(index).map((at) => {
    const [from, until] = [at - INDEX_MS, at + RUNS_MS] as const
    const { status, totals, payOn } = changes.findLast((change) => change.at < from)?.after ?? {}
    const net = totals?.net ?? -1
    const isMissed =
      status === 'pending' &&
      net >= 0 &&
      Math.max(startOf(item.date) + DAY_MS, Date.parse(payOn ?? item.date)) <= at &&
      !mayWait(index, item.provider, [dayOf(at)], [at, until]) &&
      !changes.some((change) => change.at >= from && change.at <= until) &&
      !isDisconnected(index, item.provider, [from, until]) &&
      !index.timeline.during('isActive', item.provider, from, until).includes(false) &&
      (!waitsForFunding || leastCash(index, [at, until]) >= net)
    return isMissed && 'is due, but was not paid'
  })
  const since = changes.findLast(({ before, after }) => before?.status !== after?.status)?.at ?? 0
  const isLong = endedAt - Math.max(since, healedAt) > PROGRESS_MS
  const isStuck = item.status === 'processing' && isLong
  return [...missed, isStuck && 'is being paid since its faults ended']
})

const NOT_MADE = new Set<unknown>(['rejected', 'nothing'])

/** Before a further payout or refund, each bank is asked about each earlier one. */
const retriesFollowQueries: Check = (index, report) => {
  const { batches, refunds, queriesOf, timeline, setup } = index
  for (const { changes } of [...batches.values(), ...refunds.values()]) {
    const begun = new Map<string, string>()
    for (const { before, after, at, since, by } of changes) {
      if (after?.status !== 'processing' || before?.status === 'processing') continue
      for (const [uuid, bank] of begun) {
        const answers = (queriesOf.get(uuid) ?? []).filter(
          (query) => query.by === by?.invocation && query.at <= at,
        )
        const isAsked = answers.some(({ answer }) => NOT_MADE.has(answer))
        const mayAsk =
          setup.endpoints.includes(bank) &&
          !timeline.during('connectorUrl', bank, since, at).includes(undefined)
        if (mayAsk && !isAsked) report(after.uuid, `follows ${uuid}, but ${bank} was not asked`)
      }
      // A restore can undo the record of one.
      if (!setup.isRestored) begun.set(after.uuid, String(bankOf(after)))
    }
  }
}

const bankOf = (item: RawBatch | RawRefund): unknown =>
  item.entity === 'batch' ? (item as RawBatch).paidTo?.bank : item.bank

/** The reports of a batch are in the bucket before its payout or offset begins. */
const reportsPrecedePayouts = eachBatch(({ item, changes }, { observations: { reports } }) => {
  const begin = changes.find(
    ({ before, after }) => before?.status === 'pending' && after && after.status !== 'pending',
  )
  return ['json', 'csv'].map((format) => {
    const key = `settlements/${item.provider}/${item.id}.${format}`
    const { at = Infinity } = reports.find((one) => one.key === key) ?? {}
    return begin && at > begin.at && `is paid before its ${format} report exists`
  })
})

export const checks: Checks = {
  41: [payoutsReachTheirAccount, changedAccountsHoldPayouts],
  42: [payoutsOffset, dueBatchesArePaid],
  43: [retriesFollowQueries],
  57: [disabledProvidersWait],
  61: [reportsPrecedePayouts],
  68: [batchesNameTheirDay, payoutsBeginOnTheirDays],
}
