import {
  ATTEMPT_ID_BYTES,
  type AttemptTiming,
  attemptId,
  type FailureReason,
  isGone,
  type Outcome,
  succeeded,
  timestampOf,
  withoutBody,
} from '../domain/webhooks/attempt.ts'
import {
  abandon,
  appendAttempt,
  type Delivery,
  isOwed,
  isSettled,
  isSubscribed,
  newDelivery,
  recordAttempt,
} from '../domain/webhooks/delivery.ts'
import { isChargeEvent, type ProviderEvent } from '../domain/webhooks/event.ts'
import { sentType } from '../domain/webhooks/event-type.ts'
import { noteAbandoned, type WebhookHealth } from '../domain/webhooks/health.ts'
import { canSign, type StoredWebhook } from '../domain/webhooks/webhook.ts'
import { measure } from '../metrics.ts'
import type { Runtime } from '../runtime.ts'
import { optimistically } from '../store/optimistic.ts'
import { findAttempt, findDelivery, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { changeHealth } from '../store/webhooks/health.ts'
import { putReceipt } from '../store/webhooks/receipts.ts'
import { isPrompt, markSlow, type OutcomeObservation, recordOutcome } from './health.ts'
import { send } from './send.ts'
import { logAttempt } from './telemetry.ts'

type AttemptRequest = {
  event: ProviderEvent
  /** The record before the attempt. */
  previous: Delivery | undefined
  /** The number of the attempt, from 1. */
  number: number
  webhook: StoredWebhook | undefined
  health: WebhookHealth
  /** Whether to abort an attempt at a slow receiver, so that it can move to the sidelined queue. */
  skipsSlowReceivers: boolean
}

/** An attempt that has ended and is not recorded yet. */
export type EndedAttempt = {
  previous: Delivery | undefined
  /** The record before the attempt, also of a new delivery. */
  record: Delivery
  outcome: Outcome
  timing: AttemptTiming
  random: number
  /** An aborted attempt, which does not count against the maximum. */
  isUncounted: boolean
  observed: OutcomeObservation
}

/**
 * Makes one attempt at one event (docs/api.md#retries). Updates the health of the webhook before the
 * record, which ends the attempt: after a crash in between the attempt is repeated.
 * @returns undefined if no attempt was due
 */
export const attemptDelivery = async (
  request: AttemptRequest,
  runtime: Runtime,
): Promise<EndedAttempt | undefined> => {
  const { event, previous, number, webhook, health } = request
  const { provider } = event
  // A stream that is read again has events from before the subscription.
  const isWanted = webhook && isOwed(webhook, event)
  const record = previous ?? (isWanted ? newDelivery(event, webhook) : undefined)
  // The message is repeated, or another worker made the attempt.
  if (!record || isSettled(record) || number !== record.attemptCount + 1) return undefined
  const reason = skipReason(request)
  if (!webhook || reason) {
    await abandonDelivery(previous, record, reason ?? 4404, runtime)
    return undefined
  }
  // SQS retries until an operator has replaced the secret.
  if (!canSign(webhook)) {
    measure({ SecretsUnreadable: 1 }, { provider })
    throw new Error(`The webhook secret of ${provider} cannot be opened`)
  }
  const at = runtime.now()
  const sentAt = runtime.wallTime()
  const id = attemptId(event, runtime.randomBytes(ATTEMPT_ID_BYTES))
  const { promise: response, resolve: onResponse } = Promise.withResolvers<void>()
  const abort = new AbortController()
  const sending = send({ event, id, webhook, at, sentAt, signal: abort.signal, onResponse })
  const responding = Promise.race([sending, response])
  const pace = await markSlow(provider, responding, runtime)
  // A burst of events that hang could occupy every worker: only the first attempt keeps waiting.
  const hangs =
    request.skipsSlowReceivers && pace === 'slow' && !(await isPrompt(responding, runtime))
  if (hangs) abort.abort()
  const { outcome: received, address } = await sending
  const isUncounted = hangs && received.kind === 'unreached'
  const outcome = event.isErased ? withoutBody(received) : received
  const milliseconds = runtime.wallTime().getTime() - sentAt.getTime()
  const signedAt = timestampOf(sentAt) !== timestampOf(at) && { sentAt }
  const sentAs = sentType(event.type, webhook)
  const timing = { id, at, ...signedAt, milliseconds, address, sentAs }
  const random = runtime.random()
  const answer = { succeeded: succeeded(outcome), isGone: isGone(outcome) }
  const observed = { provider, health, isSlow: pace !== 'quick', ...answer }
  const attempt = { previous, record, outcome, timing, random, isUncounted, observed }
  if (!isUncounted) {
    const abandoned = recordAttempt(record, outcome, timing, random).status === 'abandoned'
    await recordOutcome({ ...observed, abandoned }, runtime)
  }
  return attempt
}

/** Reports whether the receipt can have an attempt. */
export const isFirstSuccess = ({ previous, record, outcome }: EndedAttempt): boolean =>
  isChargeEvent(record.n) && !previous && succeeded(outcome)

/** Records attempts at events of one debit or batch: first successes of a charge in its receipt. */
export const saveAttempts = async (
  attempts: readonly EndedAttempt[],
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const received = new Map(
    attempts.filter(isFirstSuccess).map((attempt) => [attempt, recordOf(attempt)]),
  )
  const isReceived = await saveReceipt([...received.values()])
  for (const attempt of attempts) {
    const next = (isReceived && received.get(attempt)) || (await writeOutcome(attempt))
    logAttempt(next, { previous: attempt.previous, tried: true })
    // Repeated after the record, because the webhook can recover in between and miss this delivery.
    if (next.status === 'abandoned') {
      await recordOutcome({ ...attempt.observed, abandoned: true }, runtime)
    }
  }
}

/** Returns why an event is not sent; the settings can change between two attempts. */
const skipReason = ({ event, webhook, health }: AttemptRequest): FailureReason | undefined => {
  if (!webhook) return 4404
  if (!isSubscribed(webhook, event.type)) return 4403
  return health.disabledAt ? 4001 : undefined
}

const abandonDelivery = async (
  previous: Delivery | undefined,
  record: Delivery,
  reason: FailureReason,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const at = runtime.now()
  const next = abandon(record, reason, at)
  const note = async () => {
    if (reason !== 4001 || next.status !== 'abandoned') return
    await changeHealth(record.provider, (health) => noteAbandoned(health, at))
  }
  // Before the record, so that a crash loses no note, and after it, because the webhook can recover in between.
  await note()
  if (await replaceDelivery(previous, next)) logAttempt(next, { previous, tried: false })
  await note()
}

const saveReceipt = async (deliveries: readonly Delivery[]): Promise<boolean> => {
  const [first] = deliveries
  const events = deliveries.flatMap((delivery) =>
    delivery.last ? [{ ...delivery, last: delivery.last }] : [],
  )
  return first !== undefined && putReceipt(first, events)
}

const recordOf = ({ record, outcome, timing, random, isUncounted }: EndedAttempt): Delivery =>
  recordAttempt(raiseMax(record, isUncounted), outcome, timing, random)

const raiseMax = (delivery: Delivery, isUncounted: boolean): Delivery =>
  isUncounted ? { ...delivery, attemptsMax: delivery.attemptsMax + 1 } : delivery

/** Records an attempt and returns the record. After a lost race the attempt gets the next number. */
const writeOutcome = async (attempt: EndedAttempt) => {
  const { previous, record, isUncounted, outcome, timing, random } = attempt
  let current = previous
  let next = recordOf(attempt)
  return optimistically(`The delivery of event ${record.n} of ${record.reference}`, async () => {
    if (await replaceDelivery(current, next)) return next
    current = await reload(record)
    // The write succeeded and its response was lost.
    if ((await findAttempt(current, next.attemptCount))?.id === timing.id) return current
    const isRequested =
      current.status === 'pending' &&
      current.nextAttemptAt?.getTime() !== previous?.nextAttemptAt?.getTime()
    const late = { outcome, timing, random, isRequested }
    next = appendAttempt(raiseMax(current, isUncounted), late)
    return undefined
  })
}

const reload = async ({ reference, n }: Delivery): Promise<Delivery> => {
  const delivery = await findDelivery(reference, n)
  if (!delivery) throw new Error(`The delivery of event ${n} of ${reference} is gone`)
  return delivery
}
