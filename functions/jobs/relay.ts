import { unmarshall } from '@aws-sdk/util-dynamodb'
import { type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import type { ExceptionKind } from '../../shared/domain/debits/exception.ts'
import type { Refund } from '../../shared/domain/debits/refund.ts'
import type { Pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../../shared/domain/webhooks/event.ts'
import { type Figures, type MetricName, measure } from '../../shared/metrics.ts'
import { streamReader } from '../../shared/queues/consume.ts'
import * as outbox from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { fromDebitItem } from '../../shared/store/debits/debit-item.ts'
import { fromRefundItem } from '../../shared/store/debits/refunds.ts'
import { fromBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { type BuildRecord, fromBuildItem } from '../../shared/store/settlement/build-lease.ts'
import {
  fromPartItem,
  fromRunItem,
  type ReconciliationPart,
  type ReconciliationRun,
} from '../../shared/store/settlement/reconciliations.ts'
import { fromDeliveryItem } from '../../shared/store/webhooks/deliveries.ts'
import { type Append, batchedAppend } from '../../shared/store/webhooks/feed.ts'
import { isSlow } from '../../shared/store/webhooks/health.ts'
import { fromRecoveryItem } from '../../shared/store/webhooks/recoveries.ts'
import { debitEvents, settlementEvent } from '../../shared/views/webhook-payload.ts'

/**
 * Sends messages and publishes events for the records of the table's stream, which is the outbox. A
 * record may arrive twice or late; every consumer tolerates that.
 */
export const relay = (runtime: Pick<Runtime, 'now'>) =>
  streamReader(() => {
    const append = batchedAppend()
    return async ({ dynamodb }) => {
      const item = dynamodb?.NewImage && unmarshall(dynamodb.NewImage as Image)
      const old = dynamodb?.OldImage && unmarshall(dynamodb.OldImage as Image)
      const deps = { now: runtime.now(), append }
      switch (item?.entity) {
        case 'debit':
          return followDebit(fromDebitItem(item), old && fromDebitItem(old), deps)
        case 'delivery':
          return followDelivery(fromDeliveryItem(item), old && fromDeliveryItem(old), deps)
        case 'recovery':
          return sendAllOrThrow(outbox.nextPage(fromRecoveryItem(item), deps.now))
        case 'batch':
          return followBatch(fromBatchItem(item), old && fromBatchItem(old), deps)
        case 'build':
          return followBuild(fromBuildItem(item), old && fromBuildItem(old))
        case 'refund':
          return followRefund(fromRefundItem(item), old && fromRefundItem(old))
        case 'reconciliation-part':
          return old ? undefined : requestPart(fromPartItem(item))
        case 'reconciliation':
          return followRun(fromRunItem(item), old && fromRunItem(old))
        case 'exception':
          // Updates of an exception are resolutions.
          return old ? undefined : measure({ [exceptionMetrics[item.kind as ExceptionKind]]: 1 })
      }
    }
  })

type Deps = { now: Date; append: Append }

type Image = Parameters<typeof unmarshall>[0]

const followDebit = async (debit: Debit, old: Debit | undefined, deps: Deps): Promise<void> => {
  const added = debitEvents(debit).slice(old?.history.length ?? 0)
  await Promise.all([
    publish(added, deps),
    sendAllOrThrow(
      added.flatMap(({ type }) => {
        if (type === 'pending') {
          return [
            outbox.submission(debit, { resubmission: false }),
            outbox.startTimeout(debit, 'processing'),
          ]
        }
        return type === 'processing' ? [outbox.startTimeout(debit, 'approval')] : []
      }),
    ),
  ])
  // Last, so that a record that is retried after a failure is counted once.
  countTransitions(added, debit)
}

/** Measures all events of a record in one line. */
const countTransitions = (added: readonly ProviderEvent[], debit: Debit): void => {
  const { amount, bank, errorCode } = stateAt(debit)
  const metrics = Object.assign({}, ...added.map(({ type }) => metricsOf[type]?.(amount)))
  if (Object.keys(metrics).length === 0) return
  measure(metrics, { bank: bank.identifier, ...(errorCode && { code: errorCode }) })
}

const exceptionMetrics = {
  late_completion: 'LateCompletion',
  refused_report: 'RefusedReport',
  contradiction: 'Contradiction',
  refund: 'RefundFailed',
} as const satisfies Record<ExceptionKind, MetricName>

const metricsOf: Partial<Record<ProviderEvent['type'], (amount: Pesewas) => Figures>> = {
  created: (amount) => ({ DebitsCharged: 1, ChargedPesewas: amount }),
  completed: (amount) => ({ DebitsCompleted: 1, CompletedPesewas: amount }),
  failed: () => ({ DebitsFailed: 1 }),
  reversed: () => ({ DebitsReversed: 1 }),
}

/**
 * Publishes the events of one provider to its feed and its webhook. Calls `append` before the first
 * await, so that the feed has the events of a debit in order.
 */
const publish = async (events: readonly ProviderEvent[], { now, append }: Deps): Promise<void> => {
  const [first, ...others] = events
  if (!first) return
  const { provider } = first
  await Promise.all([
    append(provider, events, now),
    routeBySpeed(provider, [outbox.firstAttempts([first, ...others])], now).then(sendAllOrThrow),
  ])
}

/** Requests the next attempt, if the record has a new one. */
const followDelivery = async (delivery: Delivery, old: Delivery | undefined, { now }: Deps) => {
  const isUnchanged =
    old?.attemptCount === delivery.attemptCount &&
    old.nextAttemptAt?.getTime() === delivery.nextAttemptAt?.getTime()
  if (isUnchanged) return
  await sendAllOrThrow(
    await routeBySpeed(delivery.provider, outbox.nextAttempt(delivery, now), now),
  )
}

/** Continues the build of a worker that ran out of time. */
const followBuild = async (build: BuildRecord, old: BuildRecord | undefined): Promise<void> => {
  const isContinued = build.continuations > (old?.continuations ?? 0)
  if (isContinued) await sendAllOrThrow([outbox.buildBatchMessage(build.provider, build.date)])
}

const requestPart = ({ run, id }: ReconciliationPart): Promise<void> =>
  sendAllOrThrow([outbox.reconciliationMessage(run, id)])

/** Ends a reconciliation when its last part is stored. */
const followRun = async (run: ReconciliationRun, old: ReconciliationRun | undefined) => {
  const isLast = run.openParts === 0 && old?.openParts !== 0
  if (isLast) await sendAllOrThrow([outbox.reconciliationMessage(run.id)])
}

/** Publishes a completed payout, and measures the totals of a new batch. */
const followBatch = async (batch: Batch, old: Batch | undefined, deps: Deps): Promise<void> => {
  const event = old?.status === 'completed' ? undefined : settlementEvent(batch)
  if (event) await publish([event], deps)
  if (batch.totals && old && !old.totals) {
    const { debits, gross, fee, net } = batch.totals
    measure({
      SettledDebits: debits,
      SettledGrossPesewas: gross,
      SettledFeePesewas: fee,
      SettledNetPesewas: net,
    })
  }
}

/** Sends a new refund, or the retry of a failed one, and measures a completed one. */
const followRefund = async (refund: Refund, old: Refund | undefined): Promise<void> => {
  if (refund.uuid !== old?.uuid) await sendAllOrThrow(outbox.refundMessages(refund))
  if (refund.status === 'completed' && old?.status !== 'completed') {
    measure({ RefundsCompleted: 1, RefundedPesewas: refund.amount })
  }
}

const routeBySpeed = async (provider: ProviderId, messages: outbox.EventMessage[], now: Date) =>
  messages.length > 0 && (await isSlow(provider, now)) ? messages.map(outbox.toSidelined) : messages

export const handler = relay(real)
