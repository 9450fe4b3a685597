import type { ShownEvent } from './event.ts'

/** Counts the attempts of each event and detects events that arrive out of order. */
export type SequenceTracker = (event: ShownEvent) => { attempt: number; notes: string[] }

// Bounds the memory of a listener that runs for days.
const REMEMBERED_MAX = 10_000

const remember = <T>(known: Map<string, T>, key: string, value: T): void => {
  known.delete(key)
  known.set(key, value)
  if (known.size <= REMEMBERED_MAX) return
  for (const oldest of known.keys()) {
    known.delete(oldest)
    return
  }
}

/** Returns the generation digit: after a restore, sequence numbers can repeat. */
const generationOf = (eventId: string): string => eventId.slice(-2, -1)

export const newSequenceTracker = (): SequenceTracker => {
  const attempts = new Map<string, number>()
  const latest = new Map<string, number>()
  return ({ eventId, reference, sequence }) => {
    const attempt = (eventId === '' ? 0 : (attempts.get(eventId) ?? 0)) + 1
    remember(attempts, eventId, attempt)
    if (attempt > 1) return { attempt, notes: ['duplicate'] }
    if (sequence === undefined) return { attempt, notes: [] }
    const owner = `${reference} ${generationOf(eventId)}`
    const last = latest.get(owner) ?? -1
    remember(latest, owner, Math.max(last, sequence))
    const isLate = sequence < last
    return { attempt, notes: isLate ? [`out of order: sequence ${last} arrived first`] : [] }
  }
}
