import type { Observations } from '../engine/observations.ts'
import { isSubscribed } from './deliveries.ts'
import type { Check } from './observation-index.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 59: the sweep checks a completed debit once, so it passes none of which something is missing. */

const passesIn = ({ changes, invocations }: Observations) =>
  changes.flatMap(({ after, at, by }) => {
    if (!by || after?.pk !== 'SWEEP' || after.sk !== 'SWEEP') return []
    const behind = { ...(after.behind as Record<string, string> | undefined) }
    const reached = (provider: string) => Date.parse(behind[provider] ?? String(after.until))
    return [{ at, startedAt: invocations.get(by.invocation)?.startedAt ?? at, reached }]
  })

/** Returns when each event was first in a feed. */
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

export const passedDebitsAreWhole: Check = (index, report) => {
  const { observations, debits, deliveries, timeline } = index
  const { setup, strikes } = observations
  // The sweep allows for clocks that differ by seconds and an index that is a minute late.
  const isFar = setup.skew > MINUTE_MS || strikes.some(({ name }) => name === 'index far behind')
  const passes = isFar ? [] : passesIn(observations)
  const published = publishedIn(observations)
  for (const [reference, { item, entries, changes }] of debits) {
    const { provider } = item
    const last = entries.findIndex(({ type }) => type === 'completed')
    const completedAt = entries[last]?.at ?? Number.POSITIVE_INFINITY
    const pass = passes.find(({ reached }) => reached(provider) > completedAt)
    const statusAt = (at: number) => changes.findLast((change) => change.at <= at)?.after?.status
    // A reversed debit is due on its own.
    const times = pass ? [pass.startedAt - MINUTE_MS, pass.at] : []
    if (!pass || times.some((at) => statusAt(at) !== 'completed')) continue
    for (const [n, { type, at }] of entries.slice(0, last + 1).entries()) {
      const key = `${reference}#${n}`
      const hooks = timeline.during('webhook', provider, at - 2 * setup.skew, pass.at)
      const isOwed = hooks.every((hook) => isSubscribed(hook, type))
      const isMissing = (since: number | undefined) => since === undefined || since > pass.at
      if (isOwed && isMissing(deliveries.get(key)?.changes[0]?.at))
        report(key, 'has no delivery, but the sweep has passed its debit')
      if (isMissing(published.get(key)))
        report(key, 'is not in the feed, but the sweep has passed its debit')
    }
  }
}
