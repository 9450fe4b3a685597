import type { Arrival } from './verify.ts'

/** Printed fields of a webhook. The body is untrusted, so every field is checked. */
export type ShownEvent = {
  event: string
  eventId: string
  reference: string
  status: string
  amount: string
  /** Absent for events that belong to no debit. */
  sequence?: number
}

const SHOWN_MAX = 60

/** Replaces control characters, so that an untrusted body cannot control the terminal. */
export const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number'
    ? String(value)
        .replaceAll(/[^ -~]/g, '?')
        .slice(0, SHOWN_MAX)
    : ''

type Members = Record<string, unknown>

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {}

const parsed = (raw: Buffer): unknown => {
  try {
    return JSON.parse(raw.toString('utf8'))
  } catch {
    return undefined
  }
}

const amountIn = ({ amount, currency }: Members): string =>
  typeof amount === 'number' ? `${amount.toFixed(2)} ${shown(currency)}` : ''

/** Returns undefined for a body without an event. */
export const readEvent = ({ raw }: Pick<Arrival, 'raw'>): ShownEvent | undefined => {
  const body = membersOf(parsed(raw))
  const event = shown(body.event)
  if (!event) return undefined
  const data = membersOf(body.data)
  // The reduced payload has the members in `data` itself.
  const transaction = membersOf(data.transaction ?? data)
  return {
    event,
    eventId: shown(body.event_id),
    reference: shown(transaction.reference),
    status: shown(transaction.status),
    amount: amountIn(transaction),
    ...(typeof body.sequence === 'number' ? { sequence: body.sequence } : {}),
  }
}
