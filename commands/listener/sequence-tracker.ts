import type { PrintedEvent } from './event.ts'

/** Counts the attempts of each event and detects events that arrive out of order. */
export type SequenceTracker = (event: PrintedEvent) => { attempt: number; notes: string[] }

// Bounds the memory of a listener that runs for days.
const CACHE_MAX = 10_000

/** Sets an entry and evicts the least recently set one above the maximum. */
const cache = <T>(entries: Map<string, T>, key: string, value: T): void => {
  entries.delete(key)
  entries.set(key, value)
  if (entries.size > CACHE_MAX) entries.delete(entries.keys().next().value ?? '')
}

export const newSequenceTracker = (): SequenceTracker => {
  const attempts = new Map<string, number>()
  const latest = new Map<string, number>()
  return ({ eventId, reference, sequence }) => {
    const attempt = (eventId === '' ? 0 : (attempts.get(eventId) ?? 0)) + 1
    cache(attempts, eventId, attempt)
    if (attempt > 1) return { attempt, notes: ['duplicate'] }
    if (sequence === undefined) return { attempt, notes: [] }
    const last = latest.get(reference) ?? -1
    cache(latest, reference, Math.max(last, sequence))
    const isLate = sequence < last
    return { attempt, notes: isLate ? [`out of order: sequence ${last} arrived first`] : [] }
  }
}
