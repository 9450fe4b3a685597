import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import { type ReportException, rowOf } from '../../shared/domain/debits/exception.ts'
import { type DebitEventName, debitEventTypes } from '../../shared/domain/debits/lifecycle.ts'
import { isUnprompted } from '../../shared/domain/debits/prompts.ts'
import type { Refund } from '../../shared/domain/debits/refund.ts'
import type { Pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../../shared/domain/webhooks/event.ts'
import { log } from '../../shared/log.ts'
import { type Figures, type MetricName, measure } from '../../shared/metrics.ts'
import { streamReader } from '../../shared/queues/consume.ts'
import * as outbox from '../../shared/queues/outbox.ts'
import { type Outgoing, sendAll } from '../../shared/queues/send.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { fromDebitItem } from '../../shared/store/debits/debit-item.ts'
import { fromExceptionItem } from '../../shared/store/debits/exceptions.ts'
import { fromRefundItem } from '../../shared/store/debits/refunds.ts'
import type { FollowedEntity } from '../../shared/store/keys.ts'
import { fromBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { type BuildRecord, fromBuildItem } from '../../shared/store/settlement/build-lease.ts'
import {
  fromPartItem,
  fromRunItem,
  type ReconciliationPart,
  type ReconciliationRun,
} from '../../shared/store/settlement/reconciliations.ts'
import type { Item } from '../../shared/store/table.ts'
import { fromDeliveryItem } from '../../shared/store/webhooks/deliveries.ts'
import { isSlow } from '../../shared/store/webhooks/health.ts'
import { fromRecoveryItem } from '../../shared/store/webhooks/recoveries.ts'
import { spread } from '../../shared/store/work-index.ts'
import { debitEvents, settlementEvent } from '../../shared/views/webhook-payload.ts'

/** The effects of a stream record. */
type RecordEffects = {
  messages?: Outgoing[]
  /** Events of one provider to publish to its feed and its webhook. */
  events?: readonly ProviderEvent[]
  measure?: () => void
}

/**
 * Sends messages and publishes events for the records of the table's stream, which is the outbox. A
 * record may arrive twice or late; every consumer tolerates that.
 */
export const relay = ({ now }: Pick<Runtime, 'now'>) =>
  streamReader({
    read: (record) => effectsOf(record, now()),
    complete: (records) => sendBatch(records, now()),
    onDone: ({ measure }: RecordEffects) => measure?.(),
  })

const effectsOf = ({ dynamodb }: DynamoDBRecord, now: Date): RecordEffects => {
  const item = dynamodb?.NewImage && unmarshall(dynamodb.NewImage as Image)
  const old = dynamodb?.OldImage && unmarshall(dynamodb.OldImage as Image)
  if (old?.entity === 'change') return { measure: () => reportTampering(old) }
  return item && isFollowed(item.entity) ? followers[item.entity](item, old, now) : {}
}

/** Change records are append-only: somebody with access to the table wrote to one. */
const reportTampering = ({ sk }: Item): void =>
  log.error('change record updated or removed', { record: sk }, { ChangeRecordsAltered: 1 })

type Image = Parameters<typeof unmarshall>[0]

/** A message, and the records that fail if SQS refuses it. */
type Parcel = { message: Outgoing; sources: readonly RecordEffects[] }

/** Sends the messages of all records, ten per call. Returns those of which SQS refused a message. */
const sendBatch = async (records: readonly RecordEffects[], now: Date) => {
  const parcels = await routeBySpeed(records.flatMap(ownMessages), now)
  const sources = new Map([...parcels, ...feedMessages(records)].map((one) => [one.message, one]))
  const refused = await sendAll([...sources.keys()])
  return new Set(refused.flatMap((message) => sources.get(message)?.sources ?? []))
}

const ownMessages = (effects: RecordEffects): Parcel[] => {
  const { messages = [], events: [first, ...others] = [] } = effects
  const attempts = first ? [outbox.firstAttempts([first, ...others])] : []
  return [...messages, ...attempts].map((message) => ({ message, sources: [effects] }))
}

/** Returns one message per provider, so that its events keep the order of the records. */
const feedMessages = (records: readonly RecordEffects[]): Parcel[] => {
  const publishing = records.filter(({ events = [] }) => events.length > 0)
  const byProvider = Map.groupBy(publishing, ({ events }) => events?.[0]?.provider)
  return [...byProvider].flatMap(([provider, sources]) => {
    if (!provider) return []
    const events = sources.flatMap(({ events = [] }) => events)
    const group = feedGroup(provider, events)
    return [{ message: outbox.feedEvents(provider, events, group), sources }]
  })
}

/**
 * Many shards send more messages than a group accepts. A provider then has several groups, whose workers
 * compete for a page; `sequence` orders the events of a debit.
 */
const feedGroup = (provider: ProviderId, [first]: readonly ProviderEvent[]): string => {
  const { feedGroups } = environment
  if (!first || feedGroups === 1) return provider
  return `${provider}#${spread(`${first.reference} ${first.n}`, feedGroups)}`
}

/** Moves attempts at slow webhooks to the sidelined queue, or leaves it to the worker of the attempt. */
const routeBySpeed = async (parcels: readonly Parcel[], now: Date): Promise<Parcel[]> => {
  const attempts = parcels.map(({ message }) => message).filter(outbox.isAttempt)
  const providers = [...new Set(attempts.map(({ group }) => group as ProviderId))]
  const slow = new Set<string>()
  await Promise.all(
    providers.map(async (provider) => {
      try {
        if (await isSlow(provider, now)) slow.add(provider)
      } catch (error) {
        log.warn('pace of the webhook not read', { provider, error: error as Error })
      }
    }),
  )
  return parcels.map((parcel) => {
    const { message, sources } = parcel
    if (!outbox.isAttempt(message) || !slow.has(message.group)) return parcel
    return { message: outbox.toSidelined(message), sources }
  })
}

const followDebit = (debit: Debit, old: Debit | undefined, now: Date): RecordEffects => {
  const events = debitEvents(debit).slice(old?.history.length ?? 0)
  const added = debit.history.slice(old?.history.length ?? 0).map(({ type }) => type)
  const waits = added.map((name) => debitEventTypes[name].waitsFor)
  const submissions = waits
    .filter((waitsFor) => waitsFor === 'submission')
    .map(() => outbox.submission(debit.facts, { resubmission: false }))
  const timeouts = waits.flatMap((waitsFor) => outbox.timeouts(debit, waitsFor, now))
  return {
    messages: [...submissions, ...timeouts],
    events,
    measure: () => countTransitions(added, debit),
  }
}

/** Measures all events of a record in one line. */
const countTransitions = (added: readonly DebitEventName[], debit: Debit): void => {
  const { amount, bank, errorCode, provider, reference, createdAt, updatedAt } = stateAt(debit)
  const figures: Figures = Object.assign({}, ...added.map((name) => figuresOf(name, amount)))
  if (Object.keys(figures).length === 0) return
  const { FailureExcess, ...others } = figures
  const seconds = (updatedAt.getTime() - createdAt.getTime()) / 1000
  // A prompt that the service refuses is not counted as a failure of the bank.
  measure(isUnprompted(debit) ? others : figures, {
    bank: bank.identifier,
    ...(errorCode && { code: errorCode }),
    ...(FailureExcess && { provider, reference, seconds }),
  })
}

const countException = ({ kind }: ReportException): void => {
  const row: { metric: MetricName } | undefined = rowOf(kind)
  if (row) measure({ [row.metric]: 1 })
}

type EventMetrics = { count: MetricName; pesewas: MetricName | null; excess?: number }

const figuresOf = (name: DebitEventName, amount: Pesewas): Figures => {
  const { metrics } = debitEventTypes[name]
  if (!metrics) return {}
  const { count, pesewas, excess }: EventMetrics = metrics
  return {
    [count]: 1,
    ...(pesewas && { [pesewas]: amount }),
    ...(excess && { FailureExcess: excess }),
  }
}

/** Requests the next attempt, if the record has a new one. */
const followDelivery = (
  delivery: Delivery,
  old: Delivery | undefined,
  now: Date,
): RecordEffects => {
  const isUnchanged =
    old?.attemptCount === delivery.attemptCount &&
    old.nextAttemptAt?.getTime() === delivery.nextAttemptAt?.getTime()
  return isUnchanged ? {} : { messages: outbox.nextAttempt(delivery, now) }
}

/** Continues the build of a worker that ran out of time. */
const followBuild = (build: BuildRecord, old: BuildRecord | undefined): RecordEffects => {
  const isContinued = build.continuations > (old?.continuations ?? 0)
  return isContinued ? { messages: [outbox.buildBatchMessage(build.provider, build.date)] } : {}
}

const requestPart = ({ run, id }: ReconciliationPart): RecordEffects => ({
  messages: [outbox.reconciliationMessage(run, id)],
})

/** Ends a reconciliation after its last part. */
const followRun = (run: ReconciliationRun, old: ReconciliationRun | undefined): RecordEffects => {
  const isLast = run.openParts === 0 && old?.openParts !== 0
  return isLast ? { messages: [outbox.reconciliationMessage(run.id)] } : {}
}

/** Publishes a completed payout, and measures the totals of a new batch. */
const followBatch = (batch: Batch, old: Batch | undefined): RecordEffects => {
  const event = old?.status === 'completed' ? undefined : settlementEvent(batch)
  const totals = old && !old.totals ? batch.totals : null
  return {
    events: event ? [event] : [],
    measure: () => {
      if (!totals) return
      measure({
        SettledDebits: totals.debits,
        SettledGrossPesewas: totals.gross,
        SettledFeePesewas: totals.fee,
        SettledNetPesewas: totals.net,
      })
    },
  }
}

/** Sends a new refund, or the retry of a failed one, and measures a completed one. */
const followRefund = (refund: Refund, old: Refund | undefined): RecordEffects => {
  const isCompleted = refund.status === 'completed' && old?.status !== 'completed'
  return {
    messages: refund.uuid === old?.uuid ? [] : outbox.refundMessages(refund),
    measure: () => {
      if (isCompleted) measure({ RefundsCompleted: 1, RefundedPesewas: refund.amount })
    },
  }
}

type Follow<T> = (item: T, old: T | undefined, now: Date) => RecordEffects

const parsed =
  <T>(parse: (item: Item) => T, follow: Follow<T>): Follow<Item> =>
  (item, old, now) =>
    follow(parse(item), old && parse(old), now)

const followers: Record<FollowedEntity, Follow<Item>> = {
  debit: parsed(fromDebitItem, followDebit),
  delivery: parsed(fromDeliveryItem, followDelivery),
  recovery: parsed(fromRecoveryItem, (recovery, _, now) => ({
    messages: outbox.nextPage(recovery, now),
  })),
  batch: parsed(fromBatchItem, followBatch),
  build: parsed(fromBuildItem, followBuild),
  refund: parsed(fromRefundItem, followRefund),
  'reconciliation-part': parsed(fromPartItem, (part, old) => (old ? {} : requestPart(part))),
  reconciliation: parsed(fromRunItem, followRun),
  // Updates of an exception are resolutions; a repeat of a decided report is resolved at once.
  exception: parsed(fromExceptionItem, (exception, old) =>
    old || exception.resolvedAt ? {} : { measure: () => countException(exception) },
  ),
}

const isFollowed = (entity: unknown): entity is FollowedEntity =>
  typeof entity === 'string' && Object.hasOwn(followers, entity)

export const handler = relay(real)
