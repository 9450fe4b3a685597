import { parseJson } from '../../shared/domain/json.ts'

/** Printed fields of a webhook. The body is untrusted, so every field is checked. */
export type PrintedEvent = {
  event: string
  eventId: string
  reference: string
  status: string
  amount: string
  /** Absent for events that belong to no debit. */
  sequence?: number
}

const PRINTED_MAX = 60

/** Replaces control characters, so that an untrusted body cannot control the terminal. */
const printable = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number'
    ? String(value)
        .replaceAll(/[^ -~]/g, '?')
        .slice(0, PRINTED_MAX)
    : ''

type JsonObject = Record<string, unknown>

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

const amountIn = ({ amount, currency }: JsonObject): string =>
  typeof amount === 'number' ? `${amount.toFixed(2)} ${printable(currency)}` : ''

/** Returns undefined for a body without an event. */
export const readEvent = (body: Buffer): PrintedEvent | undefined => {
  const payload = objectOf(parseJson(body.toString('utf8')))
  const event = printable(payload.event)
  if (!event) return undefined
  const data = objectOf(payload.data)
  // The reduced payload has the members in `data` itself.
  const transaction = objectOf(data.transaction ?? data)
  return {
    event,
    eventId: printable(payload.event_id),
    reference: printable(transaction.reference),
    status: printable(transaction.status),
    amount: amountIn(transaction),
    ...(typeof payload.sequence === 'number' && { sequence: payload.sequence }),
  }
}
