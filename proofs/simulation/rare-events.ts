import { exceptionKinds } from '../../shared/domain/debits/exception.ts'
import { namesOf } from '../../shared/domain/names.ts'
import type { AlarmedMetric } from '../../shared/metrics.ts'
import type { ApiCall, Observations, SettingVerb } from './engine/observations.ts'
import { settingVerbs } from './invariants/setting-timeline.ts'

/** Rare events of a run, which the summary counts. */

// biome-ignore lint/suspicious/noExplicitAny: stored items and replies are read member by member
type Item = any

const isReport = ({ name }: ApiCall): boolean =>
  name === 'update-debit-transaction' || name === 'debit-callback'

const verbOf = ({ sent }: ApiCall): string => String((sent as Item)?.verb)

const isDone = ({ reply }: ApiCall): boolean => reply?.status === 200

const optionIn = ({ sent }: ApiCall, name: string): unknown => (sent as Item)?.options?.[name]

const isChange = (change: SettingVerb) => (call: ApiCall) =>
  `${call.name} ${verbOf(call)}` === `manage-${change}` && isDone(call)

const isMany = (verb: string, option: string) => (call: ApiCall) =>
  verbOf(call) === verb && optionIn(call, option) !== undefined && isDone(call)

const resultIn = ({ reply }: ApiCall): Item => (reply?.body as Item)?.result

type IsCounted = (before: Item, after: Item, by: unknown) => boolean

const created =
  (entity: string, isRare: (item: Item) => boolean = () => true): IsCounted =>
  (before, after) =>
    !before && after?.entity === entity && isRare(after)

const exceptions = namesOf(exceptionKinds).map((kind) => {
  return [`exception ${kind}`, created('exception', (item) => item.kind === kind)] as const
})

const changes: Record<string, IsCounted> = {
  ...Object.fromEntries(exceptions),
  'negative batch': (before, after) => !before?.totals && after?.totals?.net < 0,
  'partial offset': ({ outstanding: from } = {}, { outstanding: to } = {}) => from < to && to < 0,
  'payout that waits for a working day': (before, after) =>
    !before?.payOn && Date.parse(after?.payOn) > Date.parse(after?.date) + 86_400_000,
  'payout that fails with offsets': (before, after) =>
    before?.offsets?.length > 0 && after?.status === 'failed',
  'debit that waits for its bank': created('waiting'),
  'delivery retried after its last attempt': (before, after) =>
    before?.attemptCount === before?.attemptsMax && after?.attemptCount > before?.attemptsMax,
  'fourth automatic retry needed': (before, after) =>
    before?.autoRetries === 3 && before.status !== 'abandoned' && after?.status === 'abandoned',
  'submission undone by a restore': (before, after, by) =>
    !by && before?.entity === 'debit' && after?.status === 'pending',
  'payout undone by a restore': (before, after, by) =>
    !by && before?.entity === 'batch' && before.paid !== null && after?.paid === null,
  'payout rejected, then retried': (before, after) =>
    before?.entity === 'batch' && before.uuid !== after?.uuid,
  'refund rejected, then retried': (before, after) =>
    before?.entity === 'refund' && before.uuid !== after?.uuid,
  'debit left unchanged by a call about many': (_, after) =>
    after?.entity === 'bulk-outcome' && after.outcome !== 'done',
  'late completion refunded': (before, after) => !before && after?.origin === 'late_completion',
  'request accepted': (before, after) => !before?.isAccepted && after?.isAccepted === true,
  'request declined': (before, after) => !before?.resolvedAt && after?.isAccepted === false,
  'reversed without a refund': (before, after) => !before && after?.status === 'waived',
  'repeated report closed at once': (before, after) => !before && Boolean(after?.resolvedAt),
  'account found at a bank': created('account', (item) => item.customerName.startsWith('HB')),
  'number without an account at its bank': (_, after) => after?.entity === 'missed-account',
  'settlement run cut off': (before, after) =>
    before?.lanes === after?.lanes && before?.continuations < after?.continuations,
  'member of a later release kept': (before, after) =>
    before && 'addedLater' in before && after && 'addedLater' in after,
  'debit of an earlier release': created('debit', (item) => !('providerName' in item)),
  'lane taken from a late builder': (before, after) =>
    before?.leases?.some(({ lane, holder }: Item) =>
      after?.leases.some((other: Item) => other.lane === lane && other.holder !== holder),
    ),
}

/** Effects of small sizes, which runs of that kind must have. */
export const smallSizeEvents: Record<string, IsCounted> = {
  'settlement divided into lanes': (before, after) =>
    before?.entity === 'build' && before.lanes < after?.lanes,
  'second batch of a day': created('batch', ({ n }) => n > 1),
  'second part of a batch': created('lines', ({ sk }) => !sk.endsWith('#0001')),
  'reconciliation divided': created('reconciliation-part', ({ id }) => id.includes('#')),
  'sweep cut off': (_, after) => after?.pk === 'SWEEP' && 'behind' in after,
  'wide sweep': (_, after) => after?.pk === 'SWEEP' && after.pages > 1,
  'second page of a feed': created('feed-page', ({ page }) => page > 1),
}

const calls: Record<string, (call: ApiCall) => boolean> = {
  'malformed report': (call) => isReport(call) && typeof call.sent === 'string',
  'rejected report': (call) =>
    isReport(call) && (call.reply?.status === 400 || call.reply?.status === 422),
  'report above the request limit': (call) => isReport(call) && call.reply?.status === 429,
  'bank silent about an account': ({ name, reply }) =>
    name === 'charge' && JSON.stringify(reply?.body ?? '').includes('"does not answer"'),
  'charge above the request limit': ({ name, reply }) => name === 'charge' && reply?.status === 429,
  'reference reused': ({ name, reply }) => name === 'charge' && reply?.status === 409,
  'outcome recorded by an operator': (call) =>
    /^(?:complete|fail)$/.test(verbOf(call)) && call.name === 'manage-debit' && isDone(call),
  'payout recorded by an operator': (call) =>
    verbOf(call) === 'complete' && call.name === 'manage-settlement' && isDone(call),
  ...Object.fromEntries(settingVerbs.map((verb) => [verb, isChange(verb)])),
  'call approved': (call) => verbOf(call) === 'grant' && isDone(call),
  'grant refused': (call) => verbOf(call) === 'grant' && call.reply?.status === 400,
  'request denied': (call) => verbOf(call) === 'deny' && isDone(call),
  'second operator at once': ({ sent }) => (sent as Item)?.actor === 'local:abena',
  'exceptions refunded by a file': isMany('refund', 'file'),
  'exceptions refunded by days': isMany('refund', 'from'),
  'exceptions resolved by a file': isMany('resolve', 'file'),
  'exceptions resolved by days': isMany('resolve', 'from'),
  'call about many continued': (call) => resultIn(call)?.processed !== undefined,
  'refund despite a note': (call) => optionIn(call, 'despite-note') === 'true' && isDone(call),
  'refund refused': (call) => verbOf(call) === 'refund' && call.reply?.status === 400,
  'dead letters redriven': (call) => resultIn(call)?.moved > 0,
  'sealing key rotated': (call) => resultIn(call)?.unreadable === 0,
  'webhook pinged': (call) => verbOf(call) === 'ping' && isDone(call),
  'delivery redelivered by an operator': (call) => verbOf(call) === 'redeliver' && isDone(call),
  'recovery requested by an operator': (call) => verbOf(call) === 'recover' && isDone(call),
  'provider released': (call) => verbOf(call) === 'release' && Boolean(optionIn(call, 'provider')),
  restore: (call) => call.name === 'manage-restore' && verbOf(call) === 'begin' && isDone(call),
}

/** Alarms that few runs ring. */
const alarms = ['SettlementNotPaid', 'UnwantedPrompts'] as const satisfies AlarmedMetric[]

export const countRareEvents = (observations: Observations): [name: string, times: number][] => {
  const counts: [name: string, times: number][] = []
  const count = (name: string, events: readonly unknown[] = []) =>
    counts.push([name, events.length])
  const { measurements, erasures, falsified } = observations
  for (const alarm of alarms)
    count(
      `metric ${alarm}`,
      measurements.filter(({ name }) => name === alarm),
    )
  for (const [name, isCounted] of Object.entries({ ...changes, ...smallSizeEvents })) {
    const counted = observations.changes.filter((one) => isCounted(one.before, one.after, one.by))
    count(name, counted)
  }
  for (const [name, isCounted] of Object.entries(calls))
    count(name, observations.calls.filter(isCounted))
  count('customer erased', erasures[0]?.phones)
  const again = erasures[0]?.afterDays === 0 ? erasures[1] : undefined
  count('customer erased again after a restore', again?.phones)
  count('item falsified', falsified?.items)
  return counts
}
