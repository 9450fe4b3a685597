import type { Observations } from '../engine/observations.ts'
import { isSubscribed } from './deliveries.ts'
import { isDrawn, losses, timersOf } from './net.ts'
import { clockOf } from './outcomes.ts'
import type { Check, Checks } from './rules.ts'
import { MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** 59: the sweep checks a completed debit once, so it passes none of which something is missing. Also its feeds. */

const passesIn = ({ changes, invocations }: Observations) =>
  changes.flatMap(({ after, at, by }) => {
    if (!by || after?.pk !== 'SWEEP' || after.sk !== 'SWEEP') return []
    const behind = { ...(after.behind as Record<string, string> | undefined) }
    const reached = (provider: string) => Date.parse(behind[provider] ?? String(after.until))
    return [{ at, startedAt: invocations.get(by.invocation)?.startedAt ?? at, reached }]
  })

const publishedIn = ({ changes }: Observations): Map<string, number> => {
  const published = new Map<string, number>()
  for (const { before, after, at } of changes) {
    if (after?.entity !== 'feed-page') continue
    const known = (before?.entries ?? []) as string[]
    for (const key of (after.entries as string[]).slice(known.length))
      if (!published.has(key)) published.set(key, at)
  }
  return published
}

const passedDebitsAreWhole: Check = (index, report) => {
  const { observations, setup, debits, deliveries, timeline } = index
  // The sweep allows for clocks that differ by seconds and an index that is a minute late.
  const isFar = observations.strikes.some(({ name }) => name === 'index far behind')
  const passes = isFar || setup.skew > MINUTE_MS ? [] : passesIn(observations)
  const published = publishedIn(observations)
  for (const [reference, { item, entries, changes }] of passes.length > 0 ? debits : []) {
    const { provider } = item
    const last = entries.findIndex(({ type }) => type === 'completed')
    const completedAt = entries[last]?.at ?? Infinity
    const pass = passes.find(({ reached }) => reached(provider) > completedAt)
    // A reversed debit is due on its own, and one that was settled at midnight before the sweep.
    const times = pass ? [pass.startedAt - MINUTE_MS, pass.at] : []
    const isListed = times.every((at) => {
      const { status, settledIn } = changes.findLast((change) => change.at <= at)?.after ?? {}
      return status === 'completed' && settledIn === undefined
    })
    if (!pass || !isListed) continue
    for (const [n, { type, at }] of entries.slice(0, last + 1).entries()) {
      const key = `${reference}#${n}`
      const hooks = timeline.during('webhook', provider, at - 2 * setup.skew, pass.at)
      const isOwed = hooks.every((hook) => isSubscribed(hook, type))
      if (isOwed && (deliveries.get(key)?.changes[0]?.at ?? Infinity) > pass.at)
        report(key, 'has no delivery, but the sweep has passed its debit')
      if ((published.get(key) ?? Infinity) > pass.at)
        report(key, 'is not in the feed, but the sweep has passed its debit')
    }
  }
}

/** A debit waits for its bank until SQS has its message. */
const waitsEndWithMessages: Check = ({ observations: { changes, repairs } }, report) => {
  for (const { before, after, at, by } of changes) {
    if (before?.entity !== 'waiting' || after || !by) continue
    const reference = String(before.reference)
    const isSent = repairs.some((one) => one.at <= at && one.body.includes(reference))
    if (!isSent) report(reference, 'no longer waits, but was not sent')
  }
}

/** A worker that appends to a feed has read its last two pages. */
const feedsRepeatNoRecentEvent: Check = ({ observations: { changes }, startOf }, report) => {
  const known = new Map<string, { at: number; page: number }>()
  for (const { before, after, at, by } of changes) {
    if (after?.entity !== 'feed-page' || !by) continue
    const page = Number(after.page)
    const length = ((before?.entries ?? []) as string[]).length
    for (const key of (after.entries as string[]).slice(length)) {
      const last = known.get(key)
      if (last && last.at < startOf(by.invocation, at) && last.page >= page - 1)
        report(key, `is in its feed again, on page ${page}`)
      known.set(key, { at, page })
    }
  }
}

/** The sweep cannot know whether a bank has the debit. */
const repairsAskForQueries: Check = ({ observations: { repairs } }, report) => {
  for (const { queue, body } of repairs)
    if (queue.startsWith('submissions') && !body.includes('"resubmission":true'))
      report(body, 'was sent by the sweep, but asks for no query')
}

const EXPIRED_MS = 20 * SECOND_MS

/** A timeout that no fault struck is on time, whatever struck its submission. */
const timeoutsArePrompt: Check = ({ observations, debits, setup }, report) => {
  const isLost = losses(observations)
  for (const [reference, debit] of isDrawn(observations) ? debits : []) {
    const failed = debit.entries.find(({ set }) => set.errorCode === 'timeout')
    if (!failed) continue
    const { clock = 0, since = failed.at } = clockOf(failed, debit)
    const late = failed.at - since - clock
    const subjects = [reference, ...timersOf(reference)]
    if (late > EXPIRED_MS + 2 * setup.skew && !isLost('expiries', subjects, failed.at))
      report(`the timeout of ${reference}`, `was ${late} ms late`)
  }
}

export const checks: Checks = {
  14: [feedsRepeatNoRecentEvent],
  59: [passedDebitsAreWhole, waitsEndWithMessages, repairsAskForQueries],
  62: [timeoutsArePrompt],
}
