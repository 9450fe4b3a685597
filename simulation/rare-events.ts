import type { Change } from '../aws/table/change.ts'
import type { ApiCall, Observations } from './engine/observations.ts'

/** Rare events of a run, which the summary counts. */

type Seen = {
  calls: (isCounted: (call: ApiCall) => boolean) => number
  changes: (isCounted: (before: Item, after: Item, change: Change) => boolean) => number
}

// biome-ignore lint/suspicious/noExplicitAny: stored items and replies are read member by member
type Item = any

const isReport = ({ name }: ApiCall): boolean =>
  name === 'update-debit-transaction' || name === 'debit-callback'

const verbOf = ({ sent }: ApiCall): string => String((sent as Item)?.verb)

const isDone = ({ reply }: ApiCall): boolean => reply?.status === 200

const optionIn = ({ sent }: ApiCall, name: string): unknown => (sent as Item)?.options?.[name]

export const rareEvents = {
  'negative batch': ({ changes }) =>
    changes((before, after) => !before?.totals && after?.totals?.net < 0),
  'partial offset': ({ changes }) =>
    changes(
      ({ outstanding: from } = {}, { outstanding: to } = {}) => from < to && to < 0 && from < 0,
    ),
  'payout rejected, then retried': ({ changes }) =>
    changes((before, after) => before?.entity === 'batch' && before.uuid !== after?.uuid),
  'refund rejected, then retried': ({ changes }) =>
    changes((before, after) => before?.entity === 'refund' && before.uuid !== after?.uuid),
  'late completion refunded': ({ changes }) =>
    changes((before, after) => !before && after?.origin === 'late_completion'),
  'malformed report': ({ calls }) =>
    calls((call) => isReport(call) && typeof call.sent === 'string'),
  'rejected report': ({ calls }) =>
    calls((call) => isReport(call) && (call.reply?.status === 400 || call.reply?.status === 422)),
  'report above the request limit': ({ calls }) =>
    calls((call) => isReport(call) && call.reply?.status === 429),
  'charge above the request limit': ({ calls }) =>
    calls(({ name, reply }) => name === 'charge' && reply?.status === 429),
  'reference reused': ({ calls }) =>
    calls(({ name, reply }) => name === 'charge' && reply?.status === 409),
  'outcome recorded by an operator': ({ calls }) =>
    calls((call) => /^(?:complete|fail)$/.test(verbOf(call)) && isDone(call)),
  'account changed': ({ calls }) =>
    calls((call) => optionIn(call, 'settlement-account') !== undefined && isDone(call)),
  'fees changed': ({ calls }) =>
    calls((call) => optionIn(call, 'fee-fixed') !== undefined && isDone(call)),
  'limit changed': ({ calls }) => calls((call) => call.name === 'manage-limit' && isDone(call)),
  'call approved': ({ calls }) => calls((call) => verbOf(call) === 'grant' && isDone(call)),
  restore: ({ calls }) =>
    calls((call) => call.name === 'manage-restore' && verbOf(call) === 'begin' && isDone(call)),
  'settlement run cut off': ({ changes }) =>
    changes(
      (before, after) => before?.entity === 'build' && before.continuations < after?.continuations,
    ),
} as const satisfies Record<string, (seen: Seen) => number>

export type RareEvent = keyof typeof rareEvents
export const rareEventNames = Object.keys(rareEvents) as RareEvent[]

export const countRareEvents = (observations: Observations): [RareEvent, number][] => {
  const seen: Seen = {
    calls: (isCounted) => observations.calls.filter(isCounted).length,
    changes: (isCounted) =>
      observations.changes.filter((change) => isCounted(change.before, change.after, change))
        .length,
  }
  return rareEventNames.map((name) => [name, rareEvents[name](seen)])
}
