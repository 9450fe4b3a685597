import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type {
  Exactly,
  FullResult,
  NounName,
  OptionsOf,
  VerbName,
} from '../../shared/operator/results.ts'
import { mayUse, operate, settings } from './client.ts'
import { onChange } from './live.ts'
import { type LoadCall, openReader, type Reader } from './reader.ts'

/** How often a stage is polled for changing items. */
const POLL_MS = 5_000

/** The items whose changes concern the data, and how often a stage is polled for it. */
type Watch = { entities?: readonly string[]; key?: string; pollMs?: number | undefined }

/** The last results by their calls: a return to a screen shows them until the next reply. */
const results = new Map<string, unknown>()
const RESULTS_MAX = 50

const keep = <T>(call: string, result: T): T => {
  results.delete(call)
  results.set(call, result)
  const [oldest] = results.keys()
  if (results.size > RESULTS_MAX && oldest) results.delete(oldest)
  return result
}

export type Loaded<T> = { data: T | undefined; error: Error | undefined; reload: () => void }

type LoadState<T> = { of: string; data?: T | undefined; error?: Error | undefined }

/**
 * Loads data, and loads it again after changes of the items that `entities` and `key` select; on a
 * stage five seconds after each reply. The last data stay visible while it loads.
 * @param load undefined: nothing to load yet
 * @param dependencies name what is loaded: the data of other ones are not shown
 * @param initial data of an earlier reply
 */
export const useLoaded = <T>(
  load: LoadCall<T> | undefined,
  dependencies: readonly unknown[],
  { entities = [], key = '', pollMs = entities.length > 0 ? POLL_MS : undefined }: Watch = {},
  initial?: T,
): Loaded<T> => {
  const of = JSON.stringify(dependencies)
  const [state, setState] = useState<LoadState<T>>({ of })
  const shown = state.of === of && state.data !== undefined ? state.data : initial
  const reader = useRef<Reader>(undefined)
  const watched = entities.join()

  useEffect(() => {
    if (!load) return undefined
    const own = openReader<T>({
      load,
      show: (reply) =>
        setState((last) => ({ ...(last.of === of && last), error: undefined, of, ...reply })),
      pollMs: settings.value?.is_live ? undefined : pollMs,
      isVisible: () => document.visibilityState === 'visible',
    })
    reader.current = own
    own.read()
    const unsubscribe = onChange(({ entity, pk }) => {
      const isWatched = watched.split(',').includes(entity) && pk.includes(key)
      if (watched && (entity === '*' || isWatched)) own.readSoon()
    })
    return () => {
      unsubscribe()
      own.close()
    }
  }, [of, load === undefined, watched, key])

  const reload = useCallback(() => reader.current?.read(), [])
  return { data: shown, error: state.of === of ? state.error : undefined, reload }
}

/** Loads the result of a call, which its name identifies. */
export const useCall = <T>(
  name: readonly unknown[],
  load: LoadCall<T> | undefined,
  watch: Watch = {},
): Loaded<T> => {
  const call = JSON.stringify(name)
  const kept: LoadCall<T> | undefined = load && (async (signal) => keep(call, await load(signal)))
  return useLoaded(kept, [call], watch, results.get(call) as T | undefined)
}

/** Loads the result of a verb, if the operator may use the noun. */
export const useOperator = <
  N extends NounName,
  V extends VerbName<N>,
  const O extends OptionsOf<N, V>,
>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V>,
  watch: Watch = {},
): Loaded<FullResult<N, V, O>> =>
  useCall(
    [noun, verb, options],
    mayUse(noun) ? (signal) => operate(noun, verb, options, signal) : undefined,
    watch,
  )

type Run = {
  isRunning: boolean
  /** That of the last work. */
  error: Error | undefined
  run: (work: () => Promise<void>) => void
}

/** Runs the work of a button or a form. */
export const useRun = (): Run => {
  const [state, setState] = useState<Pick<Run, 'isRunning' | 'error'>>(IDLE)
  const run = (work: () => Promise<void>): void => {
    setState({ ...IDLE, isRunning: true })
    work().then(
      () => setState(IDLE),
      (error: Error) => setState({ ...IDLE, error }),
    )
  }
  return { ...state, run }
}

const IDLE = { isRunning: false, error: undefined }
