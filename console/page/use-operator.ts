import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type {
  Exactly,
  FullResult,
  NounName,
  OptionsOf,
  VerbName,
} from '../../shared/operator/results.ts'
import { mayUse, operate, readPage, settings } from './client.ts'
import { onChange } from './live.ts'
import { type LoadCall, openReader, type Reader } from './reader.ts'

/** How often a stage is polled for changing items. */
const POLL_MS = 5_000

type Watch = {
  /** The items whose changes concern the data, and a part of their key. */
  entities?: readonly string[]
  key?: string
  /** How often a stage is polled for it. */
  pollMs?: number | undefined
  /** The last data stay, and nothing is loaded. */
  isPaused?: boolean
  /** A return to the screen shows the last data until the next reply. */
  isKept?: boolean
}

/** The last results by their names. */
const results = new Map<string, unknown>()
const RESULTS_MAX = 50

const keep = (name: string, result: unknown): void => {
  results.delete(name)
  results.set(name, result)
  const [oldest] = results.keys()
  if (results.size > RESULTS_MAX && oldest) results.delete(oldest)
}

type LoadState<T> = { data?: T | undefined; error?: Error | undefined }

export type Loaded<T> = Required<LoadState<T>> & { reload: () => void }

/**
 * Loads data, and loads it again after changes of the items that `entities` and `key` select; on a
 * stage five seconds after each reply. The last data stay visible while it loads.
 * @param name identifies what is loaded: the data of other ones are not shown
 * @param load undefined: nothing to load yet
 */
export const useLoaded = <T>(
  name: readonly unknown[],
  load: LoadCall<T> | undefined,
  { entities = [], key = '', isPaused = false, ...watch }: Watch = {},
): Loaded<T> => {
  const isWatched = entities.length > 0
  const { pollMs = isWatched ? POLL_MS : undefined, isKept = isWatched } = watch
  const of = JSON.stringify(name)
  const [state, setState] = useState<LoadState<T> & { of: string }>({ of })
  const { data = isKept ? (results.get(of) as T) : undefined, error }: LoadState<T> =
    state.of === of ? state : {}
  const reader = useRef<Reader>(undefined)
  const watched = entities.join()

  useEffect(() => {
    if (!load || isPaused) return undefined
    const own = openReader<T>({
      load,
      show: (reply) => {
        if (isKept && 'data' in reply) keep(of, reply.data)
        setState((last) => ({ ...(last.of === of && last), error: undefined, of, ...reply }))
      },
      pollMs: settings.value?.is_live ? undefined : pollMs,
      isVisible: () => document.visibilityState === 'visible',
    })
    reader.current = own
    own.read()
    const unsubscribe = onChange(({ entity, pk }) => {
      const isConcerned = watched.split(',').includes(entity) && pk.includes(key)
      if (isWatched && (entity === '*' || isConcerned)) own.readSoon()
    })
    return () => {
      unsubscribe()
      own.close()
    }
  }, [of, load === undefined, isPaused, watched, key])

  return { data, error, reload: useCallback(() => reader.current?.read(), []) }
}

/**
 * Loads the result of a verb, if the operator may use the noun.
 * @param options undefined: nothing to load yet
 */
export const useOperator = <
  N extends NounName,
  V extends VerbName<N>,
  const O extends OptionsOf<N, V>,
>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V> | undefined,
  watch?: Watch,
): Loaded<FullResult<N, V, O>> =>
  useLoaded(
    [noun, verb, options],
    options && mayUse(noun) ? (signal) => operate(noun, verb, options, signal) : undefined,
    watch,
  )

/** Reports whether a restore holds a provider, if the operator may read it. */
export const useIsHeld = (provider: string | undefined): boolean => {
  const watch = { entities: ['restore'], pollMs: 60_000 }
  const { data } = useOperator('restore', 'show', {}, watch)
  return data?.held.some((held) => held === provider) ?? false
}

/** Loads a page of a list, if the operator may use the noun. Figures of its rows omit those of a next page. */
export const usePage = <N extends NounName>(
  noun: N,
  options: Partial<OptionsOf<N, VerbName<N> & 'list'>>,
  watch?: Watch,
) => {
  const load = (signal: AbortSignal) => readPage(noun, options, signal)
  return useLoaded([noun, 'page', options], mayUse(noun) ? load : undefined, watch)
}

const IDLE = { isRunning: false, error: undefined as Error | undefined }

/**
 * Runs the work of a button or a form; `error` is that of the last work.
 * @param onLateError takes the error of work that outlasts its button or form
 */
export const useRun = (onLateError?: (error: Error) => void) => {
  const [state, setState] = useState(IDLE)
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
    },
    [],
  )
  const run = (work: () => Promise<unknown>): void => {
    setState({ ...IDLE, isRunning: true })
    work().then(
      () => setState(IDLE),
      (error: Error) => (isGone.current ? onLateError?.(error) : setState({ ...IDLE, error })),
    )
  }
  return { ...state, run }
}
