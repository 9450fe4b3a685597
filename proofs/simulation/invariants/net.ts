import type { Observations, Strike } from '../engine/observations.ts'
import { isSubscribed } from './deliveries.ts'
import type { Check, ObservationIndex } from './observation-index.ts'
import { clockOf } from './outcomes.ts'
import type { ChangeOf, RawDebit } from './raw-items.ts'
import { MINUTE_MS, SECOND_MS, uuidOf } from './time-and-money.ts'

/** 59, 62: the sweep repairs only what faults have lost; without faults all work is done in seconds. */

/**
 * The functions and messages with which work is lost, by the work that the sweep repeats. Lambda repeats a batch
 * of the relay at once, until it succeeds: only a fault that lasts delays its work.
 */
const losers = {
  submissions: 'submit-|message submissions',
  expiries: 'schedule-timeout|expire-debit|message timeouts|message expiries|timer',
  webhooks: 'deliver-|recover-|message webhooks|message recoveries',
  feeds: 'append-feed|message feeds',
  settlements: 'build-batch|open-settlement|message settlement',
  payments: 'process-batch|message payments',
  refunds: 'refund-customer|message refunds',
  reconciliation: 'reconcile-|message reconciliation',
}
type Work = keyof typeof losers

const namesOf = Object.keys(losers) as Work[]
const lossOf = Object.fromEntries(
  namesOf.map((work) => [work, new RegExp(`^(?:sweep|record|index|manage-|${losers[work]})`)]),
) as Record<Work, RegExp>

const workIn = (queue: string): Work =>
  queue === 'recoveries' ? 'webhooks' : (namesOf.find((work) => queue.startsWith(work)) ?? 'feeds')

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
  { debits, observations, timeline }: ObservationIndex,
  { reference }: Body,
  at: number,
): boolean => {
  const { item, createdAt = at } = debits.get(reference ?? '') ?? {}
  const bank = item?.bank.identifier ?? ''
  if (observations.setup.endpoints.includes(bank))
    return timeline.recent('connectorUrl', bank, createdAt, at).includes(undefined)
  const behaves = timeline.during('behaviour', bank, createdAt, at).some(Boolean)
  return item?.phone === SILENT || behaves || wasDown(observations, bank, createdAt)
}

/** A bank stays down after its behaviour has ended, until it replies to a debit that waits. */
const wasDown = ({ changes }: Observations, bank: string, at: number): boolean =>
  changes.findLast(
    (change) => change.at <= at && change.after?.pk === 'BANK_HEALTH' && change.after.sk === bank,
  )?.after?.state === 'down'

const isBySweep = ({ by }: Pick<ChangeOf<RawDebit>, 'by'>): boolean => by?.name === 'sweep'

const repairsIn = (index: ObservationIndex): Repair[] => {
  const { debits, batches, observations } = index
  const about = (work: Work, at: number, reference: string): Repair => {
    const debit = debits.get(reference)?.item
    const provider = (debit ?? batches.get(reference)?.item)?.provider ?? ''
    const uuid = uuidOf(reference)
    // Others wait behind a slow bank or receiver, and in the group of a feed.
    const others = {
      submissions: [hostOf(debit?.bank.identifier ?? '')],
      webhooks: [hostOf(provider)],
      feeds: [provider],
      expiries: [`${uuid}-approval`, `${uuid}-processing`],
    }[work as string]
    return { at, work, about: reference, subjects: [reference, ...(others ?? [])] }
  }
  const sent = observations.repairs.flatMap(({ at, queue, body: text }): Repair[] => {
    const body: Body = JSON.parse(text)
    const work = workIn(queue)
    if ((work === 'payments' || work === 'refunds') && isAtBank(index, body, at)) return []
    if ((work === 'submissions' || work === 'refunds') && isSilent(index, body, at)) return []
    if (body.reference) return [about(work, at, body.reference)]
    return [{ at, work, about: text, subjects: [...Object.values(body).map(String), APPROVED] }]
  })
  const written = observations.changes.filter(isBySweep).flatMap(({ at, before, after }) => {
    if (after?.entity === 'delivery' && !before) {
      const event = `${after.reference}#${after.n}`
      return [{ ...about('webhooks', at, String(after.reference)), event }]
    }
    if (after?.entity === 'feed-page') {
      const { length } = (before?.entries ?? []) as string[]
      const added = (after.entries as string[]).slice(length)
      return added.map((event) => ({ ...about('feeds', at, event.split('#')[0] ?? ''), event }))
    }
    const isEnded = after?.entity === 'debit' && before?.status !== after.status
    return isEnded ? [about('expiries', at, String(after.reference))] : []
  })
  return [...sent, ...written]
}

/** A pause of the stream, or a batch that fails for minutes, delays all records of a shard. */
const PAUSE_MS = 30 * MINUTE_MS
const PAUSES = /^(?:shard|relay .*)$/
const LASTING = new Set<Strike['name']>([
  ...(['record late', 'hot shard', 'queue outage', 'table outage'] as const),
  ...(['hot key', 'function throttled', 'stalled worker'] as const),
])

/** The work of all waits while functions cannot open a secret, also from a cache. */
const OF_ALL = new Set<Strike['name']>(['key store outage', 'sealing key missing'])

const isPaused = ({ strikes }: Observations, until: number): boolean =>
  strikes.some(
    ({ name, about, at }) =>
      at <= until &&
      (name === 'shard blocked' ||
        (at > until - PAUSE_MS && (OF_ALL.has(name) || (LASTING.has(name) && PAUSES.test(about))))),
  )

/** Faults that only repeat, divide or slow work. A late copy of a message blocks its group in a FIFO queue. */
const HARMLESS = new Set<Strike['name']>([
  'page cut short',
  'read in part',
  'slow settlement',
  'record twice',
  'timer twice',
  'bank pays late',
] as const)

const strikesByWord = (strikes: readonly Strike[]): Map<string, Strike[]> => {
  const byWord = new Map<string, Strike[]>()
  for (const strike of strikes.filter(({ name }) => !HARMLESS.has(name))) {
    for (const word of new Set(strike.about.match(/[\w.-]+/g))) {
      const known = byWord.get(word)
      if (known) known.push(strike)
      else byWord.set(word, [strike])
    }
  }
  return byWord
}

/** The sweep of such a clock comes before the work that it checks. */
const CLOCK_MS = 10 * SECOND_MS

/** A run with crashes or losses that nobody drew has no strikes. */
const isDrawn = ({ setup, strikes }: Observations): boolean =>
  (setup.isHealthy || strikes.length > 0) && setup.skew < CLOCK_MS

/** Returns whether faults until an instant have lost the work of subjects, or paused it. */
const losses = (observations: Observations) => {
  const byWord = strikesByWord(observations.strikes)
  return (work: Work, subjects: readonly string[], until: number): boolean =>
    subjects.some((subject) =>
      byWord.get(subject)?.some(({ at, about }) => at <= until && lossOf[work].test(about)),
    ) || isPaused(observations, until)
}

/** The time in which the usual work publishes an event. */
const GRACE_MS = 2 * MINUTE_MS

/** 59: each repair by the sweep follows a fault that lost this work, and is not hasty. */
export const repairsAreExplained: Check = (index, report) => {
  const { observations, events } = index
  const repairs = isDrawn(observations) ? repairsIn(index) : []
  const isLost = losses(observations)
  for (const { at, work, about, subjects, event = '' } of repairs) {
    const age = at - (events.get(event)?.writtenAt ?? 0)
    if (age < GRACE_MS - observations.setup.skew) report(event, `was repaired after ${age} ms`)
    if (isLost(work, subjects, at)) continue
    report(
      about,
      `${work} were repaired by the sweep at ${new Date(at).toISOString()}, but lost by no fault`,
    )
  }
}

/** The time after a fault in which its effects can last. */
const EFFECT_MS = 20 * MINUTE_MS

/** Reports whether no fault struck before or within a period. */
const quietIn = ({ strikes, setup }: Observations) => {
  const times = strikes.map(({ at }) => at)
  const isBlocked = strikes.some(({ name }) => name === 'shard blocked')
  return (from: number, until: number): boolean =>
    setup.isHealthy || (!isBlocked && !times.some((at) => at >= from - EFFECT_MS && at <= until))
}

const SUBMITTED_MS = 2 * SECOND_MS
const POSTED_MS = 5 * SECOND_MS
const EXPIRED_MS = 20 * SECOND_MS

/** 62: a timeout that no fault struck is on time, whatever struck its submission. */
export const timeoutsArePrompt: Check = ({ observations, debits }, report) => {
  if (!isDrawn(observations)) return
  const isLost = losses(observations)
  for (const [reference, debit] of debits) {
    const failed = debit.entries.find(({ set }) => set.errorCode === 'timeout')
    if (!failed) continue
    const { clock = 0, since = failed.at } = clockOf(failed, debit)
    const late = failed.at - since - clock
    const subjects = [reference, `${debit.uuid}-approval`, `${debit.uuid}-processing`]
    if (late > EXPIRED_MS + 2 * observations.setup.skew && !isLost('expiries', subjects, failed.at))
      report(`the timeout of ${reference}`, `was ${late} ms late`)
  }
}

/** 62: where no fault struck, submissions and first attempts are on time. */
export const workIsPrompt: Check = (index, report) => {
  const { observations, debits, bankPostsOf, events, postsOf, timeline } = index
  if (!isDrawn(observations)) return
  const isQuiet = quietIn(observations)
  const silences = observations.posts.flatMap(({ code, at }) => (code === null ? at : []))
  const check = (
    about: string,
    from: number,
    [at, most]: readonly [number | undefined, number],
  ) => {
    if (at !== undefined && at - from > most && isQuiet(from, at))
      report(about, `took ${at - from} ms instead of ${most}`)
  }
  for (const [reference, debit] of debits) {
    check(`the submission of ${reference}`, debit.changes[0]?.at ?? debit.createdAt, [
      bankPostsOf.get(debit.uuid)?.[0]?.at,
      SUBMITTED_MS,
    ])
  }
  for (const [key, { provider, type, writtenAt }] of events) {
    const hooks = timeline.during('webhook', provider, writtenAt - MINUTE_MS, writtenAt + MINUTE_MS)
    if (hooks.length > 1 || !hooks.every((hook) => isSubscribed(hook, type))) continue
    const postedAt = postsOf.get(key)?.[0]?.post.at
    // A shape can have a silent receiver without a fault.
    if (postedAt && silences.some((at) => at >= writtenAt - EFFECT_MS && at <= postedAt)) continue
    check(`the webhook of ${key}`, writtenAt, [postedAt, POSTED_MS])
  }
}
