import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Exactly, NounName, OptionsOf, VerbName } from '../../shared/operator/results.ts'
import type { ConsoleResult } from '../server/backend.ts'
import { mayUse, operate, settings } from './client.ts'
import { onChange } from './live.ts'
import { openReader, type Reader } from './reader.ts'

/** How often a stage is polled. */
const POLL_MS = 5_000

/** The items whose changes concern the data. */
type Watch = { entities?: readonly string[]; key?: string }

export type Loaded<T> = { data: T | undefined; error: Error | undefined; reload: () => void }

type State<T> = { data?: T | undefined; error?: Error | undefined }

/**
 * Loads data, and loads it again after changes of the items that `entities` and `key` select; on a
 * stage five seconds after each reply. The last data stay visible while it loads.
 * @param load undefined: nothing to load yet
 */
export const useLoaded = <T>(
  load: (() => Promise<T>) | undefined,
  dependencies: readonly unknown[],
  { entities = [], key = '' }: Watch = {},
): Loaded<T> => {
  const [state, setState] = useState<State<T>>({})
  const reader = useRef<Reader>(undefined)
  const identity = JSON.stringify(dependencies)
  const watched = entities.join()

  // The identity names what is loaded.
  useEffect(() => {
    if (!load) return undefined
    const { read, readSoon, close } = openReader<T>({
      load,
      show: (reply) => setState(({ data }) => ({ data, ...reply })),
      pollMs: watched && !settings.value?.is_live ? POLL_MS : undefined,
      isVisible: () => document.visibilityState === 'visible',
    })
    reader.current = { read, readSoon, close }
    read()
    const unsubscribe = onChange(({ entity, pk }) => {
      const isWatched = watched.split(',').includes(entity) && pk.includes(key)
      if (watched && (entity === '*' || isWatched)) readSoon()
    })
    return () => {
      unsubscribe()
      close()
    }
  }, [identity, load === undefined, watched, key])

  const reload = useCallback(() => reader.current?.read(), [])
  return { data: state.data, error: state.error, reload }
}

/**
 * Loads the result of a verb, if the operator may use the noun.
 */
export const useOperator = <
  N extends NounName,
  V extends VerbName<N>,
  const O extends OptionsOf<N, V>,
>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V>,
  watch: Watch = {},
): Loaded<ConsoleResult<N, V, O>> =>
  useLoaded(
    mayUse(noun) ? () => operate(noun, verb, options) : undefined,
    [noun, verb, options],
    watch,
  )
