import {
  abandon,
  type Delivery,
  type FailureReason,
  isSettled,
  isSubscribed,
  type Outcome,
  owed,
  received,
  recordAttempt,
  succeeded,
  type Try,
} from '../domain/delivery.ts'
import type { PartnerEvent } from '../domain/event.ts'
import { sentType } from '../domain/event-type.ts'
import type { Webhook } from '../domain/partner.ts'
import type { WebhookHealth } from '../domain/webhook-health.ts'
import type { Runtime } from '../runtime.ts'
import { findDelivery, replaceDelivery } from '../store/deliveries.ts'
import { isPrompt, markWhileSlow, noteOutcome } from './health.ts'
import { send } from './send.ts'
import { tellAttempt } from './tell.ts'

/** One attempt at one event: the record is read, the receiver tried, the record written. */

export type Wanted = {
  event: PartnerEvent
  /** Which attempt is asked for, from 1. */
  number: number
  webhook: Webhook | undefined
  health: WebhookHealth
  /** Whether the events of a slow receiver are left to others. */
  unlessSlow: boolean
}

/** `left`: broken off without a record, for others to make. */
export type Came = 'done' | 'done slowly' | 'left'

export const attemptDelivery = async (wanted: Wanted, runtime: Runtime): Promise<Came> => {
  const { event, number, webhook, health } = wanted
  const { partner } = event
  const found = await findDelivery(event.reference, event.n)
  const record = found ?? (webhook && owed(event, webhook))
  // A message that came twice, or after another took its attempt.
  if (!record || isSettled(record) || number !== record.attemptCount + 1) return 'done'
  const refused = reasonNotTo(wanted)
  if (!webhook || refused) {
    // What nobody takes, and was never tried, needs no record to say so.
    if (found || refused === 4001) await giveUp(found, record, refused ?? 4404, runtime)
    return 'done'
  }
  const at = runtime.now()
  const leaving = new AbortController()
  const sending = send({ event, number, webhook, at, signal: leaving.signal })
  const pace = await markWhileSlow(partner, sending, runtime)
  // A burst of events that hang would hold every worker: only one of them goes on among others.
  if (wanted.unlessSlow && pace === 'slow beside others' && !(await isPrompt(sending, runtime))) {
    leaving.abort()
    await sending
    return 'left'
  }
  const { outcome, address } = await sending
  const milliseconds = runtime.now().getTime() - at.getTime()
  const made = { at, milliseconds, address, sentAs: sentType(event.type, webhook) }
  const draw = runtime.random()
  const { status } = recordAttempt(record, outcome, made, draw)
  const turned = { partner, health, made, succeeded: succeeded(outcome) }
  // Before the record, which ends the attempt: whoever is lost in between makes it again.
  await noteOutcome({ ...turned, abandoned: status === 'abandoned' }, runtime)
  const after = await writeOutcome({ found, record, outcome, made, draw })
  tellAttempt(after, { tried: true })
  // And after it, as the webhook may have recovered in between and taken up what it then owed.
  if (after.status === 'abandoned') await noteOutcome({ ...turned, abandoned: true }, runtime)
  return pace === 'quick' ? 'done' : 'done slowly'
}

/** Settings may have changed since the event, or since the attempt before. */
const reasonNotTo = ({ event, webhook, health }: Wanted): FailureReason | undefined => {
  if (!webhook) return 4404
  if (!isSubscribed(webhook, event.type)) return 4403
  return health.disabledAt ? 4001 : undefined
}

const giveUp = async (
  found: Delivery | undefined,
  record: Delivery,
  reason: FailureReason,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const after = abandon(record, reason, runtime.now())
  if (await replaceDelivery(found, after)) tellAttempt(after, { tried: false })
}

type Made = {
  found: Delivery | undefined
  record: Delivery
  outcome: Outcome
  made: Try
  draw: number
}

/** @returns the record as it is now, which another worker may have written */
const writeOutcome = async ({ found, record, ...tried }: Made): Promise<Delivery> => {
  const after = recordAttempt(record, tried.outcome, tried.made, tried.draw)
  if (await replaceDelivery(found, after)) return after
  const now = await readAgain(record)
  if (now.attemptCount === record.attemptCount && !isSettled(now)) {
    // Only a redelivery was asked for meanwhile: this attempt is it.
    return writeOutcome({ found: now, record: now, ...tried })
  }
  // Another worker had the same attempt. What was received is not to be sent again.
  return after.deliveredAt ? writeReceived(now, after.deliveredAt) : now
}

const readAgain = async ({ reference, n }: Delivery): Promise<Delivery> => {
  const now = await findDelivery(reference, n)
  if (!now) throw new Error(`The delivery of event ${n} of ${reference} is gone`)
  return now
}

const RACES_MAX = 5

const writeReceived = async (record: Delivery, at: Date): Promise<Delivery> => {
  let now = record
  for (let race = 1; race <= RACES_MAX; race += 1) {
    if (now.deliveredAt) return now
    const settled = received(now, at)
    if (await replaceDelivery(now, settled)) return settled
    now = await readAgain(record)
  }
  throw new Error(`A delivery of ${record.reference} changed ${RACES_MAX} times meanwhile`)
}
