import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { ExceptionKind } from '../../shared/domain/debits/exception.ts'
import type { Refund } from '../../shared/domain/debits/refund.ts'
import type { Pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../../shared/domain/webhooks/event.ts'
import { type Figures, type MetricName, measure } from '../../shared/metrics.ts'
import { streamReader } from '../../shared/queues/consume.ts'
import {
  buildBatchMessage,
  type EventMessage,
  firstAttempts,
  nextAttempt,
  nextPage,
  refundMessages,
  startTimeout,
  submission,
  toSidelined,
} from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { fromDebitItem } from '../../shared/store/debits/debit-item.ts'
import { fromRefundItem } from '../../shared/store/debits/refunds.ts'
import { fromBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { type BuildRecord, fromBuildItem } from '../../shared/store/settlement/build-lease.ts'
import { fromDeliveryItem } from '../../shared/store/webhooks/deliveries.ts'
import { type Append, gathering } from '../../shared/store/webhooks/feed.ts'
import { isSlow } from '../../shared/store/webhooks/health.ts'
import { fromRecoveryItem } from '../../shared/store/webhooks/recoveries.ts'
import { debitEvents, settlementEvent } from '../../shared/views/webhook-payload.ts'

/**
 * From the table's stream to the queues and to the feed of events: the stream is the outbox, so
 * whatever was written is acted on, and nothing is written and then announced. A record may come
 * twice and late; every consumer bears that.
 */
export const relay = (runtime: Pick<Runtime, 'now'>) =>
  streamReader(() => {
    const append = gathering()
    return async ({ dynamodb }) => {
      const item = dynamodb?.NewImage && unmarshall(dynamodb.NewImage as Image)
      const old = dynamodb?.OldImage && unmarshall(dynamodb.OldImage as Image)
      const turn = { now: runtime.now(), append }
      switch (item?.entity) {
        case 'debit':
          return followDebit(fromDebitItem(item), old && fromDebitItem(old), turn)
        case 'delivery':
          return followDelivery(fromDeliveryItem(item), old && fromDeliveryItem(old), turn)
        case 'recovery':
          return sendAllOrThrow(nextPage(fromRecoveryItem(item), turn.now))
        case 'batch':
          return followBatch(fromBatchItem(item), old && fromBatchItem(old), turn)
        case 'build':
          return followBuild(fromBuildItem(item), old && fromBuildItem(old))
        case 'refund':
          return followRefund(fromRefundItem(item), old && fromRefundItem(old))
        case 'exception':
          // A resolution is a change of the same item.
          return old ? undefined : measure({ [exceptionMetrics[item.kind as ExceptionKind]]: 1 })
      }
    }
  })

/** When a record is followed, and how the events of its batch get into the feed. */
type Turn = { now: Date; append: Append }

type Image = Parameters<typeof unmarshall>[0]

const followDebit = async (debit: Debit, before: Debit | undefined, turn: Turn): Promise<void> => {
  const added = debitEvents(debit).slice(before?.history.length ?? 0)
  await Promise.all([
    tell(added, turn),
    sendAllOrThrow(
      added.flatMap(({ type }) => {
        if (type === 'pending') {
          return [submission(debit, { resubmission: false }), startTimeout(debit, 'processing')]
        }
        return type === 'processing' ? [startTimeout(debit, 'approval')] : []
      }),
    ),
  ])
  // Last, so that a record that comes again because something failed is counted once.
  countMoves(added, debit)
}

/** Each in one line for all that a record brings: most debits make two. */
const countMoves = (added: readonly ProviderEvent[], { facts: { amount } }: Debit): void => {
  const figures = Object.assign({}, ...added.map(({ type }) => figuresOf[type]?.(amount)))
  if (Object.keys(figures).length > 0) measure(figures)
}

const exceptionMetrics = {
  late_completion: 'LateCompletion',
  refused_report: 'RefusedReport',
  contradiction: 'Contradiction',
  refund: 'RefundFailed',
} as const satisfies Record<ExceptionKind, MetricName>

const figuresOf: Partial<Record<ProviderEvent['type'], (amount: Pesewas) => Figures>> = {
  created: (amount) => ({ DebitsCharged: 1, ChargedPesewas: amount }),
  completed: (amount) => ({ DebitsCompleted: 1, CompletedPesewas: amount }),
  failed: () => ({ DebitsFailed: 1 }),
  reversed: () => ({ DebitsReversed: 1 }),
}

/**
 * Events of one provider, for its feed and its webhook. The feed is handed them before anything is
 * waited for, so that it has the events of a debit in their order.
 */
const tell = async (events: readonly ProviderEvent[], { now, append }: Turn): Promise<void> => {
  const [first, ...others] = events
  if (!first) return
  const { provider } = first
  await Promise.all([
    append(provider, events, now),
    inTheirLane(provider, [firstAttempts([first, ...others])], now).then(sendAllOrThrow),
  ])
}

/** What the record waits for, if that is news. */
const followDelivery = async (
  delivery: Delivery,
  before: Delivery | undefined,
  { now }: Turn,
): Promise<void> => {
  const isKnown =
    before?.attemptCount === delivery.attemptCount &&
    before.nextAttemptAt?.getTime() === delivery.nextAttemptAt?.getTime()
  if (isKnown) return
  await sendAllOrThrow(await inTheirLane(delivery.provider, nextAttempt(delivery, now), now))
}

/** A builder that ran out of time leaves the rest to another. */
const followBuild = async (build: BuildRecord, before: BuildRecord | undefined): Promise<void> => {
  const isLeft = build.continuations > (before?.continuations ?? 0)
  if (isLeft) await sendAllOrThrow([buildBatchMessage(build.provider, build.date)])
}

/** A payment that is through. */
const followBatch = async (batch: Batch, before: Batch | undefined, turn: Turn): Promise<void> => {
  const told = before?.status === 'completed' ? undefined : settlementEvent(batch)
  if (told) await tell([told], turn)
  if (batch.totals && before && !before.totals) {
    const { debits, gross, fee, net } = batch.totals
    measure({
      SettledDebits: debits,
      SettledGrossPesewas: gross,
      SettledFeePesewas: fee,
      SettledNetPesewas: net,
    })
  }
}

/** A new refund, or a retry of a failed one. The job and the sweep do the rest. */
const followRefund = async (refund: Refund, before: Refund | undefined): Promise<void> => {
  if (refund.uuid !== before?.uuid) await sendAllOrThrow(refundMessages(refund))
  if (refund.status === 'completed' && before?.status !== 'completed') {
    measure({ RefundsCompleted: 1, RefundedPesewas: refund.amount })
  }
}

const inTheirLane = async (
  provider: ProviderId,
  about: EventMessage[],
  now: Date,
): Promise<EventMessage[]> =>
  about.length > 0 && (await isSlow(provider, now)) ? about.map(toSidelined) : about

export const handler = relay(real)
