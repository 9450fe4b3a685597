import { styleText } from 'node:util'
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

type Receipt = {
  problem: string | undefined
  /** False without a secret. */
  isVerified: boolean
  status: number
  /** Number of POSTs of this event; absent if the signature is wrong. */
  attempt?: number
  notes: readonly string[]
}

const colourOf = (event: string) =>
  event.endsWith('.completed') ? 'green' : event.endsWith('.failed') ? 'red' : 'magenta'

const signature = ({ problem, isVerified }: Receipt): string => {
  if (!isVerified) return styleText('dim', 'not verified: no --secret')
  return problem === undefined
    ? styleText('green', 'verified')
    : styleText('red', `NOT VERIFIED: ${problem}`)
}

export const formatLine = (event: PrintedEvent | undefined, at: Date, receipt: Receipt): string => {
  const eventParts = event
    ? [
        styleText(colourOf(event.event), event.event),
        event.reference,
        event.status,
        event.amount,
        event.sequence === undefined ? '' : `sequence ${event.sequence}`,
        receipt.attempt === undefined ? '' : `attempt ${receipt.attempt}`,
      ]
    : [styleText('yellow', 'no event: the body is not a JSON object with an event')]
  return [
    styleText('dim', at.toISOString().slice(11, 23)),
    ...eventParts,
    signature(receipt),
    ...receipt.notes.map((note) => styleText('yellow', note)),
    styleText(receipt.status < 300 ? 'green' : 'yellow', `answered ${receipt.status}`),
  ]
    .filter((part) => part !== '')
    .join('  ')
}
