import { styleText } from 'node:util'
import type { ShownEvent } from './event.ts'

/** One line for each request; in colour only where the terminal wants it. */

type Verdict = {
  /** What is wrong with the signature. */
  forgery: string | undefined
  /** Without a secret nothing can be told of it. */
  isChecked: boolean
  /** The status of the answer. */
  answer: number
  /** How many POSTs of its event have come; absent where the signature is wrong. */
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
    : [styleText('yellow', 'no event: the body is no JSON object with an event')]
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
