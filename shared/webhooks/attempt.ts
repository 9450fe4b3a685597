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

/** One attempt at one event: the record is read, the receiver tried, the record written. */

export type AttemptRequest = {
  event: ProviderEvent
  /** Which attempt is asked for, from 1. */
  number: number
  webhook: Webhook | undefined
  health: WebhookHealth
  /** Whether the events of a slow receiver are left to others. */
  unlessSlow: boolean
}

/** `left`: aborted so that it holds up no other event; the next attempt waits as long as it takes. */
export type AttemptResult = 'done' | 'done slowly' | 'left'

export const attemptDelivery = async (
  wanted: AttemptRequest,
  runtime: Runtime,
): Promise<AttemptResult> => {
  const { event, number, webhook, health } = wanted
  const { provider } = event
  const found = await findDelivery(event.reference, event.n)
  const record = found ?? (webhook && newDelivery(event, webhook))
  // A message that came twice, or after another took its attempt.
  if (!record || isSettled(record) || number !== record.attemptCount + 1) return 'done'
  const refused = skipReason(wanted)
  if (!webhook || refused) {
    // What nobody takes, and was never tried, needs no record to say so.
    if (found || refused === 4001) await abandonDelivery(found, record, refused ?? 4404, runtime)
    return 'done'
  }
  const at = runtime.now()
  const id = attemptId(event, runtime.randomBytes(ATTEMPT_ID_BYTES))
  const leaving = new AbortController()
  const sending = send({ event, id, webhook, at, signal: leaving.signal })
  const pace = await markSlow(provider, sending, runtime)
  // A burst of events that hang would hold every worker: only one of them goes on among others.
  const isLeft =
    wanted.unlessSlow && pace === 'slow beside others' && !(await isPrompt(sending, runtime))
  if (isLeft) leaving.abort()
  const { outcome, address } = await sending
  const milliseconds = runtime.now().getTime() - at.getTime()
  const made = { id, at, milliseconds, address, sentAs: sentType(event.type, webhook) }
  const draw = runtime.random()
  if (isLeft) {
    logAttempt(await writeOutcome({ found, record, isLeft, outcome, made, draw }), { tried: true })
    return 'left'
  }
  const { status } = recordAttempt(record, outcome, made, draw)
  const turned = { provider, health, made, succeeded: succeeded(outcome) }
  // Before the record, which ends the attempt: whoever is lost in between makes it again.
  await recordOutcome({ ...turned, abandoned: status === 'abandoned' }, runtime)
  const after = await writeOutcome({ found, record, isLeft, outcome, made, draw })
  logAttempt(after, { tried: true })
  // And after it, as the webhook may have recovered in between and taken up what it then owed.
  if (after.status === 'abandoned') await recordOutcome({ ...turned, abandoned: true }, runtime)
  return pace === 'quick' ? 'done' : 'done slowly'
}

/** Settings may have changed since the event, or since the attempt before. */
const skipReason = ({ event, webhook, health }: AttemptRequest): FailureReason | undefined => {
  if (!webhook) return 4404
  if (!isSubscribed(webhook, event.type)) return 4403
  return health.disabledAt ? 4001 : undefined
}

const abandonDelivery = async (
  found: Delivery | undefined,
  record: Delivery,
  reason: FailureReason,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const after = abandon(record, reason, runtime.now())
  if (await replaceDelivery(found, after)) logAttempt(after, { tried: false })
}

type AttemptWrite = {
  /** As it was read before the attempt. */
  found: Delivery | undefined
  record: Delivery
  /** The receiver had less time than it may take: the attempt is on top of those allowed. */
  isLeft: boolean
  outcome: Outcome
  made: AttemptTiming
  draw: number
}

/**
 * Writes an attempt; if another worker has changed the record since the read, as the next attempt.
 * @returns the record as it is now
 */
const writeOutcome = async (write: AttemptWrite): Promise<Delivery> => {
  const { found, record, isLeft, ...attempt } = write
  const spare = (delivery: Delivery): Delivery =>
    isLeft ? { ...delivery, attemptsMax: delivery.attemptsMax + 1 } : delivery
  let before = found
  let after = recordAttempt(spare(record), attempt.outcome, attempt.made, attempt.draw)
  return optimistically(`The delivery of event ${record.n} of ${record.reference}`, async () => {
    if (await replaceDelivery(before, after)) return after
    before = await reload(record)
    // The write succeeded and its response was lost.
    if ((await findAttempt(before, after.attemptCount))?.id === attempt.made.id) return before
    const isRequested =
      before.status === 'pending' &&
      before.nextAttemptAt?.getTime() !== found?.nextAttemptAt?.getTime()
    after = appendAttempt(spare(before), { ...attempt, isRequested })
    return undefined
  })
}

const reload = async ({ reference, n }: Delivery): Promise<Delivery> => {
  const now = await findDelivery(reference, n)
  if (!now) throw new Error(`The delivery of event ${n} of ${reference} is gone`)
  return now
}
