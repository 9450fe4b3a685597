import { signal } from '@preact/signals'
import type { ItemChange, LiveEvent, LoggedRequest } from '../server/live.ts'

/** Requests and changes of a sandbox, from the event stream of the server. */

const REQUESTS_MAX = 1_000

/** Newest first. */
export const requests = signal<readonly LoggedRequest[]>([])
export const isConnected = signal(false)

const listeners = new Set<(change: ItemChange) => void>()

const announce = (change: ItemChange): void => {
  for (const listener of listeners) listener(change)
}

/** Announces that everything may have changed. */
export const refresh = (): void => announce({ entity: '*', pk: '', sk: '' })

/** @returns the unsubscriber */
export const onChange = (listener: (change: ItemChange) => void): (() => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const connect = (): void => {
  const source = new EventSource('/console/live')
  type Data<T> = Extract<LiveEvent, { type: T }>['data']
  const on = <T extends LiveEvent['type']>(type: T, take: (data: Data<T>) => void) =>
    source.addEventListener(type, ({ data }: MessageEvent) => take(JSON.parse(data)))
  on('requests', (kept) => {
    requests.value = kept.toReversed()
    isConnected.value = true
    // The page may have missed changes while it was not connected.
    refresh()
  })
  on('request', (request) => {
    requests.value = [request, ...requests.value].slice(0, REQUESTS_MAX)
  })
  on('change', announce)
  source.addEventListener('error', () => {
    isConnected.value = false
  })
}
