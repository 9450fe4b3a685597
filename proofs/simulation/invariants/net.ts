import type { Observations, Strike } from '../engine/observations.ts'
import { isSubscribed } from './deliveries.ts'
import type { ObservationIndex } from './observation-index.ts'
import type { Check, Checks } from './rules.ts'
import { dayOf, MINUTE_MS, SECOND_MS, uuidOf } from './time-and-money.ts'

/** The sweep repairs only what faults have lost; without faults all work is done in seconds. */

/**
 * The functions and messages with which work is lost, by the work that the sweep repeats. Lambda repeats a batch
 * of the relay at once, until it succeeds: only a fault that lasts delays its work.
 */
const losers = {
  submissions: /^(?:submit-|message submissions)/,
  expiries: /^(?:schedule-timeout|expire-debit|message timeouts|message expiries|timer)/,
  webhooks: /^(?:deliver-|recover-|message webhooks|message recoveries)/,
  feeds: /^(?:append-feed|message feeds)/,
  settlements: /^(?:build-batch|open-settlement|message settlement)/,
  payments: /^(?:process-batch|message payments)/,
  refunds: /^(?:refund-customer|message refunds)/,
  reconciliation: /^(?:reconcile-|message reconciliation)/,
}
const LOSE_ALL = /^(?:sweep|record|index|manage-)/

type Work = keyof typeof losers

const works = Object.keys(losers) as Work[]

const workIn = (queue: string): Work =>
  queue === 'recoveries' ? 'webhooks' : (works.find((work) => queue.startsWith(work)) ?? 'feeds')

/**
 * Work that the sweep did, the event that it published, and the words of which a fault that lost it must
 * name one.
 */
type Repair = { at: number; work: Work; about: string; subjects: readonly string[]; event?: string }

type Body = Partial<Record<'reference' | 'batch' | 'provider' | 'run' | 'part', string>>

const hostOf = (id: string): string => `${id.toLowerCase()}.simulated.example`

/** In a call that runs a granted request, whose subjects it does not name. */
const APPROVED = 'approval'

/** A payout or refund that its bank has received is queried until it ends. */
const isAtBank = ({ batches, refunds, bankPostsOf }: ObservationIndex, body: Body, at: number) => {
  const { changes } = batches.get(body.batch ?? '') ?? refunds.get(body.reference ?? '') ?? {}
  const { uuid = '' } = changes?.findLast((change) => change.at <= at)?.after ?? {}
  return bankPostsOf.get(uuid)?.some((post) => post.at <= at) === true
}

/** The sandbox bank never replies to a submission of this number, or behaves so, or has no connector. */
const SILENT = '+233242222222'

const isSilent = (
  { debits, observations, setup, timeline }: ObservationIndex,
  { reference = '' }: Body,
  at: number,
): boolean => {
  const { item, createdAt = at } = debits.get(reference) ?? {}
  const bank = item?.bank.identifier ?? ''
  // A bank stays down, whatever the reason was, until it replies to a debit that waits.
  const health = observations.changes.findLast(
    ({ at, after }) => at <= createdAt && after?.pk === 'BANK_HEALTH' && after.sk === bank,
  )
  if (health?.after?.state === 'down') return true
  if (setup.endpoints.includes(bank))
    return timeline.recent('connectorUrl', bank, createdAt, at).includes(undefined)
  return item?.phone === SILENT || timeline.during('behaviour', bank, createdAt, at).some(Boolean)
}

/** The runs of earlier days that have not ended. */
const runsBefore = ({ runs }: ObservationIndex, run = '', at: number): string[] =>
  runs
    .filter(({ item }) => item.id < run && !(Date.parse(item.endedAt ?? '') < at))
    .map(({ item }) => item.id)

const entriesIn = (page: object | undefined): string[] =>
  (page as { entries?: string[] } | undefined)?.entries ?? []

const repairsIn = (index: ObservationIndex): Repair[] => {
  const { debits, batches, observations } = index
  const about = (work: Work, at: number, reference: string): Repair => {
    const debit = debits.get(reference)?.item
    const provider = (debit ?? batches.get(reference)?.item)?.provider ?? ''
    // Others wait behind a slow bank or receiver, and in the group of a feed.
    const others: Partial<Record<Work, string[]>> = {
      // Operators move a bank to its second host.
      submissions: ['', '2'].map((host) => hostOf(`${debit?.bank.identifier}${host}`)),
      webhooks: [hostOf(provider)],
      feeds: [provider],
      expiries: timersOf(reference),
    }
    return { at, work, about: reference, subjects: [reference, ...(others[work] ?? [])] }
  }
  const sent = observations.repairs.flatMap(({ at, queue, body: text }): Repair[] => {
    const body: Body = JSON.parse(text)
    const work = workIn(queue)
    if ((work === 'payments' || work === 'refunds') && isAtBank(index, body, at)) return []
    if ((work === 'submissions' || work === 'refunds') && isSilent(index, body, at)) return []
    if (body.reference) return [about(work, at, body.reference)]
    // An operator settles a day by one call, which names no batch. The run of a day ends after those before it.
    const before = body.part ? [] : runsBefore(index, body.run, at)
    const subjects = [...Object.values(body).map(String), ...before, APPROVED, dayOf(at)]
    return [{ at, work, about: text, subjects }]
  })
  const written = observations.changes.flatMap(({ at, before, after, by }): Repair[] => {
    const reference = String(after?.reference)
    if (by?.name !== 'sweep') return []
    if (after?.entity === 'delivery' && !before)
      return [{ ...about('webhooks', at, reference), event: `${reference}#${after.n}` }]
    if (after?.entity === 'feed-page') {
      const added = entriesIn(after).slice(entriesIn(before).length)
      return added.map((event) => ({ ...about('feeds', at, event.split('#')[0] ?? ''), event }))
    }
    return []
  })
  return [...sent, ...written]
}

export const timersOf = (reference: string): string[] => {
  const uuid = uuidOf(reference)
  return [`${uuid}-approval`, `${uuid}-processing`]
}

/**
 * A pause of the stream, or a batch that fails for minutes, delays all records of a shard; one of an operator's
 * call delays all batches that it pays.
 */
const PAUSE_MS = 30 * MINUTE_MS
const PAUSES = /^(?:shard|relay .*|manage-settlement .*)$/
type Names = ReadonlySet<Strike['name']>
const LASTING: Names = new Set([
  ...(['record late', 'hot shard', 'queue outage', 'table outage'] as const),
  ...(['hot key', 'function throttled', 'stalled worker'] as const),
])

/** The work of all waits while functions cannot open a secret, also from a cache. */
const OF_ALL: Names = new Set(['key store outage', 'sealing key missing'] as const)

/**
 * Faults that only repeat, divide or slow work, and responses of receivers. A late copy of a message blocks its
 * group in a FIFO queue.
 */
const HARMLESS: Names = new Set([
  ...(['receiver gone', 'receiver answers 5xx', 'receiver asks for time'] as const),
  ...(['receiver refuses for good', 'receiver refuses a type'] as const),
  ...(['page cut short', 'read in part', 'slow settlement'] as const),
  ...(['record unreadable', 'record twice', 'timer twice', 'bank pays late'] as const),
])

/** The sweep of such a clock comes before the work that it checks. */
const CLOCK_MS = 10 * SECOND_MS

/** A run with crashes or losses that nobody drew has no strikes. */
export const isDrawn = ({ setup, strikes }: Observations): boolean =>
  (setup.isHealthy || strikes.length > 0) && setup.skew < CLOCK_MS

/** Returns whether faults until an instant have lost the work of subjects, or paused it. */
export const losses = ({ strikes }: Observations) => {
  const byWord = Map.groupBy(
    strikes
      .filter(({ name }) => !HARMLESS.has(name))
      .flatMap((strike) =>
        [...new Set(strike.about.match(/[\w.-]+/g))].map((word) => ({ word, strike })),
      ),
    ({ word }) => word,
  )
  const isPaused = (until: number): boolean =>
    strikes.some(({ name, about, at }) => {
      const isPause = OF_ALL.has(name) || (LASTING.has(name) && PAUSES.test(about))
      return at <= until && (name === 'shard blocked' || (isPause && at > until - PAUSE_MS))
    })
  return (work: Work, subjects: readonly string[], until: number): boolean =>
    subjects.some((subject) =>
      byWord
        .get(subject)
        ?.some(
          ({ strike: { at, about } }) =>
            at <= until && (LOSE_ALL.test(about) || losers[work].test(about)),
        ),
    ) || isPaused(until)
}

/** The time in which the usual work publishes an event. */
const GRACE_MS = 2 * MINUTE_MS

/** Each repair by the sweep follows a fault that lost this work, and is not hasty. */
const repairsAreExplained: Check = (index, report) => {
  const { observations, events, setup, timeline } = index
  const isLost = losses(observations)
  /** By clocks that differ, an event can follow a webhook that its first attempt did not find. */
  const mayPrecedeWebhook = (key: string): boolean => {
    const { provider, type, writtenAt } = events.get(key) ?? {}
    if (!provider || !type || !writtenAt) return false
    const [from, until] = [writtenAt - 2 * setup.skew, writtenAt + 2 * setup.skew]
    return !timeline
      .during('webhook', provider, from, until)
      .every((one) => isSubscribed(one, type))
  }
  for (const { at, work, about, subjects, event = '' } of isDrawn(observations)
    ? repairsIn(index)
    : []) {
    const age = at - (events.get(event)?.writtenAt ?? 0)
    if (age < GRACE_MS - setup.skew) report(event, `was repaired after ${age} ms`)
    const when = new Date(at).toISOString()
    if (!isLost(work, subjects, at) && !(work === 'webhooks' && mayPrecedeWebhook(event)))
      report(about, `${work} were repaired by the sweep at ${when}, but lost by no fault`)
  }
}

/** The time after a fault in which its effects can last. */
const EFFECT_MS = 20 * MINUTE_MS

const SUBMITTED_MS = 2 * SECOND_MS
/** A bank can be slow since an earlier fault: a second queue delays the debit. */
const SIDELINED_MS = 3 * SECOND_MS
const POSTED_MS = 5 * SECOND_MS

/** Where no fault struck, submissions and first attempts are on time. */
const workIsPrompt: Check = (index, report) => {
  const { observations, setup, debits, bankPostsOf, events, postsOf, timeline } = index
  const { strikes, posts } = observations
  if (!isDrawn(observations)) return
  const isBlocked = strikes.some(({ name }) => name === 'shard blocked')
  const isNear = (from: number, until: number) => (at: number) =>
    at >= from - EFFECT_MS && at <= until
  const check = (about: string, from: number, most: number, at = from): void => {
    const isQuiet =
      setup.isHealthy || !(isBlocked || strikes.some((one) => isNear(from, at)(one.at)))
    if (at - from > most && isQuiet) report(about, `took ${at - from} ms instead of ${most}`)
  }
  for (const [reference, { changes, createdAt, uuid, item }] of debits) {
    const from = changes[0]?.at ?? createdAt
    const { at, by = 0 } = bankPostsOf.get(uuid)?.[0] ?? {}
    const isSidelined = observations.invocations.get(by)?.name === 'submit-sidelined'
    const most = isSidelined ? SIDELINED_MS : SUBMITTED_MS
    const urls = timeline.during('connectorUrl', item.bank.identifier, from, at ?? from)
    if (!urls.includes(undefined)) check(`the submission of ${reference}`, from, most, at)
  }
  // A shape can have a silent receiver without a fault.
  const silences = posts.flatMap(({ code, at }) => (code === null ? at : []))
  for (const [key, { provider, type, writtenAt }] of events) {
    const hooks = timeline.during('webhook', provider, writtenAt - MINUTE_MS, writtenAt + MINUTE_MS)
    const postedAt = postsOf.get(key)?.[0]?.post.at
    const isSilent = postedAt && silences.some(isNear(writtenAt, postedAt))
    // The events of a disabled webhook wait for a recovery.
    const isHeld = isSilent || index.disabled.has(provider)
    if (hooks.length > 1 || !hooks.every((hook) => isSubscribed(hook, type)) || isHeld) continue
    check(`the webhook of ${key}`, writtenAt, POSTED_MS, postedAt)
  }
}

/** Lambda freezes a function after its reply. It need not count a request that it refused, or wait for a slow receiver. */
const repliesFollowWork: Check = ({ observations }, report) => {
  for (const { name, isFinished, late = [], refused } of observations.invocations.values()) {
    for (const call of isFinished ? late : [])
      if (!/ WINDOW#|^POST .*\/hooks/.test(call)) report(name, `replied before ${call}`)
    // The next run of the sweep repeats its work, and letters stay in their queue.
    if (isFinished && refused?.[0] && name !== 'sweep' && name !== 'manage-dead-letters')
      report(name, `succeeded, though SQS refused ${refused[0]}`)
  }
}

export const checks: Checks = {
  59: [repairsAreExplained],
  62: [workIsPrompt],
  73: [repliesFollowWork],
}
