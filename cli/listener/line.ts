import { styleText } from 'node:util'
import type { ShownEvent } from './event.ts'

/** Formats one line per request, in colour if the terminal supports it. */

type Verdict = {
  /** Problem with the signature. */
  forgery: string | undefined
  /** False without a secret. */
  isChecked: boolean
  /** HTTP status of the response. */
  answer: number
  /** Number of POSTs of this event; absent if the signature is wrong. */
  attempt?: number
  notes: readonly string[]
}

const colourOf = (event: string) =>
  event.endsWith('.completed') ? 'green' : event.endsWith('.failed') ? 'red' : 'magenta'

const signature = ({ forgery, isChecked }: Verdict): string => {
  if (!isChecked) return styleText('dim', 'not verified: no --secret')
  return forgery === undefined
    ? styleText('green', 'verified')
    : styleText('red', `NOT VERIFIED: ${forgery}`)
}

export const line = (event: ShownEvent | undefined, at: Date, verdict: Verdict): string => {
  const what = event
    ? [
        styleText(colourOf(event.event), event.event),
        event.reference,
        event.status,
        event.amount,
        event.sequence === undefined ? '' : `sequence ${event.sequence}`,
        verdict.attempt === undefined ? '' : `attempt ${verdict.attempt}`,
      ]
    : [styleText('yellow', 'no event: the body is not a JSON object with an event')]
  return [
    styleText('dim', at.toISOString().slice(11, 23)),
    ...what,
    signature(verdict),
    ...verdict.notes.map((note) => styleText('yellow', note)),
    styleText(verdict.answer < 300 ? 'green' : 'yellow', `answered ${verdict.answer}`),
  ]
    .filter((part) => part !== '')
    .join('  ')
}
