import type { ShownEvent } from './event.ts'

/** What has come so far: tells repeats, and events that come after later ones of their debit. */
export type Journal = (event: ShownEvent) => string[]

// A listener that runs for days forgets its oldest events rather than fill the memory.
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

export const newJournal = (): Journal => {
  const seen = new Map<string, true>()
  const latest = new Map<string, number>()
  return ({ eventId, reference, sequence }) => {
    if (eventId !== '' && seen.has(eventId)) return ['seen before']
    remember(seen, eventId, true)
    if (sequence === undefined) return []
    const last = latest.get(reference) ?? -1
    remember(latest, reference, Math.max(last, sequence))
    return sequence < last ? [`out of order: sequence ${last} came before it`] : []
  }
}
