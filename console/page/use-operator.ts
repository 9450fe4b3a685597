import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Exactly, NounName, OptionsOf, VerbName } from '../../shared/operator/results.ts'
import type { ConsoleResult } from '../server/backend.ts'
import { mayUse, operate, settings } from './client.ts'
import { onChange } from './live.ts'

/** How soon a change is read, and how often a stage is polled. */
const SETTLE_MS = 300
const POLL_MS = 5_000

/** The items whose changes concern the data. */
type Watch = { entities?: readonly string[]; key?: string }

export type Loaded<T> = { data: T | undefined; error: Error | undefined; reload: () => void }

/**
 * Loads data, and loads it again after changes of the items that `entities` and `key` select; on a
 * stage every five seconds. The last data stay visible while it loads.
 * @param load undefined: nothing to load yet
 */
export const useLoaded = <T>(
  load: (() => Promise<T>) | undefined,
  dependencies: readonly unknown[],
  { entities = [], key = '' }: Watch = {},
): Loaded<T> => {
  const [state, setState] = useState<{ data?: T | undefined; error?: Error | undefined }>({})
  const [version, setVersion] = useState(0)
  const current = useRef(load)
  current.current = load
  const reload = useCallback(() => setVersion((count) => count + 1), [])
  const identity = JSON.stringify(dependencies)

  // The identity names what is loaded.
  useEffect(() => {
    let isStale = false
    current.current?.().then(
      (data) => isStale || setState({ data }),
      (error: Error) => isStale || setState(({ data }) => ({ data, error })),
    )
    return () => {
      isStale = true
    }
  }, [identity, version])

  const watched = entities.join()
  useEffect(() => {
    if (!watched) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, SETTLE_MS)
    }
    const unsubscribe = onChange(({ entity, pk }) => {
      if (entity === '*' || (watched.split(',').includes(entity) && pk.includes(key))) soon()
    })
    const poll = settings.value?.is_live
      ? undefined
      : setInterval(() => document.visibilityState === 'visible' && reload(), POLL_MS)
    return () => {
      unsubscribe()
      clearInterval(poll)
      clearTimeout(timer)
    }
  }, [watched, key, reload])

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
