import {
  ATTEMPT_ID_BYTES,
  type AttemptTiming,
  attemptId,
  type FailureReason,
  type Outcome,
  succeeded,
} from '../domain/webhooks/attempt.ts'
import {
  abandon,
  appendAttempt,
  type Delivery,
  isSettled,
  isSubscribed,
  newDelivery,
  recordAttempt,
} from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { sentType } from '../domain/webhooks/event-type.ts'
import type { WebhookHealth } from '../domain/webhooks/health.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'
import type { Runtime } from '../runtime.ts'
import { optimistically } from '../store/optimistic.ts'
import { findAttempt, findDelivery, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { isPrompt, markSlow, recordOutcome } from './health.ts'
import { send } from './send.ts'
import { logAttempt } from './telemetry.ts'

export type AttemptRequest = {
  event: ProviderEvent
  /** The number of the attempt, from 1. */
  number: number
  webhook: Webhook | undefined
  health: WebhookHealth
  /** Whether to abort an attempt at a slow receiver, so that it can move to the sidelined queue. */
  unlessSlow: boolean
}

/** `slow`: the response took two seconds or more. `aborted`: the sidelined queue retries. */
export type AttemptResult = { kind: 'done' | 'slow' | 'aborted' }

/** Makes one attempt at one event and records it (docs/api.md#retries). */
export const attemptDelivery = async (
  request: AttemptRequest,
  runtime: Runtime,
): Promise<AttemptResult> => {
  const { event, number, webhook, health } = request
  const { provider } = event
  const previous = await findDelivery(event.reference, event.n)
  const record = previous ?? (webhook && newDelivery(event, webhook))
  // The message is repeated, or another worker made the attempt.
  if (!record || isSettled(record) || number !== record.attemptCount + 1) return { kind: 'done' }
  const reason = skipReason(request)
  if (!webhook || reason) {
    // Without a subscription and an attempt, no record is needed.
    if (previous || reason === 4001) {
      await abandonDelivery(previous, record, reason ?? 4404, runtime)
    }
    return { kind: 'done' }
  }
  const at = runtime.now()
  const id = attemptId(event, runtime.randomBytes(ATTEMPT_ID_BYTES))
  const abort = new AbortController()
  const sending = send({ event, id, webhook, at, signal: abort.signal })
  const pace = await markSlow(provider, sending, runtime)
  // A burst of events that hang could occupy every worker: only the first attempt keeps waiting.
  const isAborted = request.unlessSlow && pace === 'slow' && !(await isPrompt(sending, runtime))
  if (isAborted) abort.abort()
  const { outcome, address } = await sending
  const milliseconds = runtime.now().getTime() - at.getTime()
  const timing = { id, at, milliseconds, address, sentAs: sentType(event.type, webhook) }
  const attempt = { previous, record, isAborted, outcome, timing, random: runtime.random() }
  if (isAborted) {
    logAttempt(await writeOutcome(attempt), { tried: true })
    return { kind: 'aborted' }
  }
  const { status } = recordAttempt(record, outcome, timing, attempt.random)
  const observed = { provider, health, milliseconds, succeeded: succeeded(outcome) }
  // Before the record, which ends the attempt: after a crash in between the attempt is repeated.
  await recordOutcome({ ...observed, abandoned: status === 'abandoned' }, runtime)
  const next = await writeOutcome(attempt)
  logAttempt(next, { tried: true })
  // Repeated after the record, because the webhook can recover in between and miss this delivery.
  if (next.status === 'abandoned') await recordOutcome({ ...observed, abandoned: true }, runtime)
  return { kind: pace === 'quick' ? 'done' : 'slow' }
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
  const next = abandon(record, reason, runtime.now())
  if (await replaceDelivery(previous, next)) logAttempt(next, { tried: false })
}

type AttemptWrite = {
  /** The record as read before the attempt. */
  previous: Delivery | undefined
  record: Delivery
  /** An aborted attempt does not count against the maximum. */
  isAborted: boolean
  outcome: Outcome
  timing: AttemptTiming
  random: number
}

/** Records an attempt and returns the record. After a lost race the attempt gets the next number. */
const writeOutcome = async ({ previous, record, isAborted, ...attempt }: AttemptWrite) => {
  const raiseMax = (delivery: Delivery): Delivery =>
    isAborted ? { ...delivery, attemptsMax: delivery.attemptsMax + 1 } : delivery
  let current = previous
  let next = recordAttempt(raiseMax(record), attempt.outcome, attempt.timing, attempt.random)
  return optimistically(`The delivery of event ${record.n} of ${record.reference}`, async () => {
    if (await replaceDelivery(current, next)) return next
    current = await reload(record)
    // The write succeeded and its response was lost.
    if ((await findAttempt(current, next.attemptCount))?.id === attempt.timing.id) return current
    const isRequested =
      current.status === 'pending' &&
      current.nextAttemptAt?.getTime() !== previous?.nextAttemptAt?.getTime()
    next = appendAttempt(raiseMax(current), { ...attempt, isRequested })
    return undefined
  })
}

const reload = async ({ reference, n }: Delivery): Promise<Delivery> => {
  const delivery = await findDelivery(reference, n)
  if (!delivery) throw new Error(`The delivery of event ${n} of ${reference} is gone`)
  return delivery
}
