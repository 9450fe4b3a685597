import type { BankQuery, Observations } from '../engine/observations.ts'
import { membersOf, releaseOf } from './calls.ts'
import { eventExpectations, expectations } from './lifecycle.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { type Entry, isRefusal, movesTo } from './raw-items.ts'
import { type Check, type Checks, eachDebit } from './rules.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** The outcome of a debit, its cause and its timestamps, and the prompts of its customer. */

const PROCESSING_MS = 10 * MINUTE_MS
const APPROVAL_MS = 5 * MINUTE_MS
const SCHEDULER_MS = MINUTE_MS
/** One sweep ran while the faults stopped, a late index misled one, and one finds the debit. */
const SWEEPS_MS = 3 * MINUTE_MS
/** Slow sweeps with small sizes leave most debits to those after the faults, of which each has time for a few. */
const MANY_SWEEPS_MS = HOUR_MS

/** Returns the latest end: the processing timeout and a late timer; after faults, the sweeps as well. */
const endsBy = ({ createdAt, item }: DebitHistory, index: ObservationIndex): number => {
  const { isHealthy, isRepaired, hasSmallSizes, healedAt, skew } = index.setup
  // A restore holds the timeouts, and the repair follows debits that the sweep has missed.
  const releasedAt = releaseOf(index.operatorCalls, item.provider)?.at
  if (isRepaired || releasedAt) return Math.max(createdAt, healedAt, releasedAt ?? 0) + HOUR_MS
  const withoutFaults = createdAt + PROCESSING_MS + SCHEDULER_MS + 2 * skew
  const isRefused = index.observations.strikes.some(
    ({ name, by }) => name === 'sweep refused' || (name === 'queue outage' && by === 'sweep'),
  )
  // A sweep doubles the wait of what SQS refused.
  const repeats = isRefused ? Math.max(10 * MINUTE_MS, healedAt - createdAt) : SWEEPS_MS
  const sweeps = hasSmallSizes ? Math.max(MANY_SWEEPS_MS, repeats) : repeats
  return isHealthy ? withoutFaults : Math.max(withoutFaults, healedAt) + sweeps
}

const debitsEndInTime = eachDebit((debit, index) => {
  const end = endsBy(debit, index)
  const { at } =
    debit.entries.find(({ type }) => type !== 'created' && expectations[type].isOutcome) ?? {}
  if (at !== undefined) return at > end && `ended ${at - end} ms late`
  return index.setup.endedAt > end && `is ${debit.item.status} at the end`
})

const CLOCKS: Record<string, number> = {
  'Transaction timeout': APPROVAL_MS,
  'Bank processing timeout': PROCESSING_MS,
}

/** Returns the clock that a timeout names, and its start. */
export const clockOf = ({ set }: Entry, { entries, createdAt }: DebitHistory) => {
  const clock = CLOCKS[set.errorMessage ?? '']
  const isApproval = clock === APPROVAL_MS
  const since = isApproval ? entries.find(({ type }) => type === 'processing')?.at : createdAt
  return { clock, isApproval, since }
}

const failuresHaveMessages = eachDebit(({ entries }) =>
  entries.flatMap(({ type, set }) => {
    const isFailure = eventExpectations[type].adds === 'error_details'
    const texts = [set.errorMessage, set.errorCode]
    const isRight = texts.every((text) => (text !== undefined) === isFailure)
    return [
      !isRight && `${type} with the message ${set.errorMessage}`,
      type === 'processing' && !set.bankReference && 'is processing without a bank reference',
    ]
  }),
)

/** Returns the failure that a job of the service decided: a timeout. */
const timeoutIn = ({ entries }: DebitHistory): Entry | undefined => {
  const failed = entries.find(({ type }) => type === 'failed')
  return failed?.by.startsWith('job:') && !isRefusal(failed) ? failed : undefined
}

const timeoutsFollowClocks = eachDebit((debit) => {
  const failed = timeoutIn(debit)
  if (!failed) return undefined
  const { errorMessage, errorCode } = failed.set
  const { clock, isApproval, since } = clockOf(failed, debit)
  if (clock === undefined || errorCode !== 'timeout')
    return `timed out as ${errorCode}, ${errorMessage}`
  if (since === undefined || (isApproval && debit.item.approval))
    return 'timed out by a timeout that did not apply'
  const early = since + clock - failed.writtenAt
  return early > 0 && `timed out ${early} ms early`
})

const QUERY_MS = 15_000

/** Whatever its status. Without faults, the outcome of the bank wins. */
const banksAreQueriedFirst = eachDebit((debit, { queriesOf, setup, timeline }) => {
  const { item, uuid, changes } = debit
  const failed = timeoutIn(debit)
  const bank = item.bank.identifier
  if (!setup.isQueried || !failed || !setup.endpoints.includes(bank)) return undefined
  // A restore writes items too, without an invocation.
  const move = movesTo(changes, 'failed').findLast((step) => step.by)
  const { at = failed.writtenAt, since = failed.writtenAt, by } = move ?? {}
  if (timeline.recent('connectorUrl', bank, since, at).includes(undefined)) return undefined
  const last = queriesOf
    .get(uuid)
    ?.findLast((query) => query.at <= at && query.by === by?.invocation)
  if (!last) return 'timed out without a query to its bank'
  return [
    setup.isHealthy && at - last.at > QUERY_MS && 'timed out long after a query',
    setup.isHealthy &&
      ['completed', 'failed'].includes(last.answer) &&
      `timed out, but its bank reported ${last.answer}`,
  ]
})

const sandboxBanksReject = eachDebit(({ item, changes }, { timeline }) => {
  const first = changes.find(({ before }) => before?.status === 'pending')
  const { status } = first?.after ?? {}
  const isSubmitted = first?.by?.name.startsWith('submit-') && status && status !== 'failed'
  const bank = item.bank.identifier
  if (!first || !isSubmitted) return undefined
  const behaviours = timeline.recent('behaviour', bank, first.since, first.at)
  const isRejecting = behaviours.every((one) => one === 'rejecting')
  return isRejecting && `is ${status}, though ${bank} rejects all debits`
})

/** A debit has only the outcomes that its bank gave, an operator recorded or a timeout caused. */
const outcomesComeFromBank = eachDebit(({ item, uuid, changes }, index) => {
  const bank = item.bank.identifier
  const words: { at: number; says: BankQuery['answer'] }[] = [
    ...(index.bankPostsOf.get(uuid) ?? []).map(({ at, verdict }) => ({ at, says: verdict })),
    ...(index.queriesOf.get(uuid) ?? []).map(({ at, answer }) => ({ at, says: answer })),
  ]
  return (index.setup.endpoints.includes(bank) ? changes : []).map(({ before, after, at, by }) => {
    const said = after && before?.status !== after.status && expectations[after.status].replies
    const { by: writer = '', set = {} } = after?.history.at(-1) ?? {}
    if (!said || !by || writer.startsWith('operator:')) return undefined
    const isTimeout = after.status === 'failed' && set.errorCode === 'timeout'
    if ((isTimeout && writer.startsWith('job:')) || isRefusal({ by: writer, set })) return undefined
    const { caller, path, sent } = index.callBy.get(by.invocation) ?? {}
    const isReported =
      caller?.kind === 'bank' &&
      caller.id === bank &&
      path?.uuid === uuid &&
      membersOf(sent).status === after.status
    const isSaid = words.some((word) => word.at <= at && said.includes(word.says))
    return !isReported && !isSaid && `is ${after.status}, which its bank never said`
  })
})

const PROMPT_MS = 10 * MINUTE_MS

const LATEST_MS: Partial<Record<Observations['strikes'][number]['name'], number>> = {
  'index late': MINUTE_MS,
  'index far behind': PROMPT_MS,
}

const indexDelay = ({ observations: { strikes } }: ObservationIndex): number =>
  strikes.reduce((longest, { name }) => Math.max(longest, LATEST_MS[name] ?? 0), 0)

/** Returns the earlier debits of a customer that were charged or submitted between two times. */
const othersUpTo = (
  debit: DebitHistory,
  debits: readonly DebitHistory[],
  { from, until }: { from: number; until: number },
): DebitHistory[] =>
  debits
    .filter(({ createdAt, entries }) => {
      const submission = entries.find(({ type }) => type === 'processing' || type === 'completed')
      const { at = createdAt } = submission ?? {}
      return createdAt >= from || (at >= from && at < until)
    })
    .filter((other) => other !== debit && other.createdAt <= debit.createdAt)

const customersIn = ({ debits }: ObservationIndex) =>
  Map.groupBy(debits.values(), ({ item }) => `${item.bank.identifier} ${item.phone}`).values()

const refusalIn = ({ entries }: DebitHistory): Entry | undefined => entries.find(isRefusal)

/** Reports whether prompts reach the cap, or the share of a provider. */
const isFull = (prompts: readonly DebitHistory[], { item }: DebitHistory, cap: number): boolean => {
  const share = Math.ceil(0.6 * cap)
  const byProvider = Map.groupBy(prompts, ({ item: { provider } }) => provider)
  const counts = [...byProvider.values()].map(({ length }) => Math.min(length, share))
  const own = byProvider.get(item.provider)?.length ?? 0
  return own >= share || counts.reduce((sum, count) => sum + count, 0) >= cap
}

/** A debit that a bank received had room, among those that the index had to show. */
const promptsAreCapped: Check = (index, report) => {
  const { openPromptsMax: cap, endpoints, isRestored, skew } = index.setup
  if (cap === undefined || isRestored) return
  const delay = indexDelay(index)
  const unchecked = new Set(
    index.observations.measurements.flatMap(({ name, by }) =>
      name === 'PromptsUnchecked' ? [by] : [],
    ),
  )
  for (const debits of customersIn(index)) {
    const sent = debits.filter((debit) => index.bankPostsOf.has(debit.uuid) && !refusalIn(debit))
    for (const debit of sent) {
      const { by, since = 0 } = index.bankPostsOf.get(debit.uuid)?.[0] ?? {}
      if (!endpoints.includes(debit.item.bank.identifier) || unchecked.has(by)) continue
      // A fast clock counts a shorter time, and an outcome of the last minute may follow the count.
      const span = { from: since - PROMPT_MS + skew, until: since - MINUTE_MS }
      const shown = othersUpTo(debit, sent, span).filter(
        ({ changes: [created] }) => (created?.at ?? Infinity) < since - delay,
      )
      if (isFull(shown, debit, cap)) report(debit.item.reference, 'is a prompt above the cap')
    }
  }
}

const HAS_DEBIT: readonly BankQuery['answer'][] = ['accepted', 'completed', 'failed', 'rejected']

/** A refused debit was above the cap, and its bank never got it while the index was current. */
const refusalsAreAboveCap: Check = (index, report) => {
  const { openPromptsMax: cap, isRestored, isHealthy, skew } = index.setup
  const delay = indexDelay(index)
  for (const debits of isRestored ? [] : customersIn(index)) {
    for (const debit of debits.filter(refusalIn)) {
      const { reference } = debit.item
      const refusal = debit.changes.find(({ after }) => after?.status === 'failed')
      const refusedAt = refusal?.at ?? 0
      const from = refusedAt - PROMPT_MS - 2 * skew - MINUTE_MS
      const counted = othersUpTo(debit, debits, { from, until: Infinity }).filter((other) => {
        const failedAt = refusalIn(other)?.writtenAt ?? Infinity
        return failedAt >= refusedAt - delay - 2 * skew - MINUTE_MS
      })
      if (cap === undefined || !isFull(counted, debit, cap))
        report(reference, 'was refused below the cap')
      const isKnown = index.queriesOf
        .get(debit.uuid)
        ?.some(({ by, answer }) => by === refusal?.by?.invocation && HAS_DEBIT.includes(answer))
      if (isKnown) report(reference, 'was refused, but its bank has it')
      if (delay === 0 && isHealthy && index.bankPostsOf.has(debit.uuid))
        report(reference, 'was refused, but submitted')
    }
  }
}

export const checks: Checks = {
  4: [debitsEndInTime],
  8: [failuresHaveMessages, timeoutsFollowClocks],
  38: [banksAreQueriedFirst],
  45: [outcomesComeFromBank, sandboxBanksReject],
  65: [promptsAreCapped, refusalsAreAboveCap],
}
