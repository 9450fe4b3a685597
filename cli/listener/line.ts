import { styleText } from 'node:util'
import type { PrintedEvent } from './event.ts'

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
