import { signal } from '@preact/signals'
import type {
  Exactly,
  FullResult,
  NounName,
  OptionsOf,
  ResultOf,
  VerbName,
} from '../../shared/operator/results.ts'
import type { ConsoleSettings } from '../server/backend.ts'

/** The service's clock: ahead of this machine's by some milliseconds, or frozen. */
const clock = signal({ ahead: 0, frozenAt: undefined as number | undefined })
export const settings = signal<ConsoleSettings | undefined>(undefined)
/** The operator to act as, in a sandbox; empty: the user of this machine. */
export const actingAs = signal(sessionStorage.getItem('operator') ?? '')

export const isSandbox = (): boolean => settings.value?.stage === null
export const mayUse = (noun: NounName): boolean => settings.value?.nouns.includes(noun) ?? false
/** Returns the published token of a provider or bank of the sandbox. */
export const tokenOf = (kind: 'provider' | 'bank', holder: string): string | undefined =>
  settings.value?.seeds?.credentials.find(
    (credential) => credential.kind === kind && credential.holder === holder,
  )?.token
/** Returns the time of the service, by default now. */
export const serviceNow = (local = Date.now()): number =>
  clock.value.frozenAt ?? local + clock.value.ahead
export const isClockFrozen = (): boolean => clock.value.frozenAt !== undefined

/** The error of a call, in the words of the service. A refused call is refused again. */
export class CallError extends Error {
  isRefusal = false
}

export const isRefusal = (error: Error | undefined): boolean =>
  error instanceof CallError && error.isRefusal

type Reply<T> = { data: T; next_cursor?: string }

/** Sends JSON, with a token of the API. @throws CallError */
const exchangeReply = async <T>(
  method: string,
  path: string,
  content?: unknown,
  token?: string,
  signal: AbortSignal | null = null,
): Promise<Reply<T>> => {
  const authorization = token && { Authorization: `Bearer ${token}` }
  const headers = { 'Content-Type': 'application/json', ...authorization }
  const body = JSON.stringify(content) ?? null
  const response = await fetch(path, { method, headers, body, signal }).catch(() => {
    throw new CallError(
      'The console is not reachable. Is the command that serves it still running?',
    )
  })
  const reply = await response.json().catch(() => {
    throw new CallError(`${method} ${path} replied ${response.status} without JSON`)
  })
  // Replies of the console, and those that show the clock.
  const frozen: unknown = reply.meta?.frozen ?? reply.data?.frozen
  if (typeof frozen === 'boolean' && /^\/(?:console|sandbox)\//.test(path)) {
    const now = Date.parse(reply.meta.timestamp)
    clock.value = { ahead: now - Date.now(), frozenAt: frozen ? now : undefined }
  }
  if (response.ok) return reply
  const error = new CallError(errorText(reply.error) ?? `${path} replied ${response.status}`)
  throw Object.assign(error, { isRefusal: response.status === 422 })
}

/** Sends JSON, with a token of the API, and returns `data` of the reply. @throws CallError */
export const exchange = async <T>(...request: Parameters<typeof exchangeReply>): Promise<T> =>
  (await exchangeReply<T>(...request)).data

const errorText = (error: { message?: string; details?: unknown } | undefined) => {
  if (!error?.message) return undefined
  const text = error.message.replace(/^[a-z]/, (letter) => letter.toUpperCase())
  return error.details ? `${text}: ${JSON.stringify(error.details)}` : text
}

/** The values of a form. */
export type CallOptions = Record<string, string>

/** Runs a verb and returns the reply. @throws CallError */
export const call = <T>(noun: string, verb: string, options: object, signal?: AbortSignal) => {
  const operator = actingAs.value || undefined
  const body = { noun, verb, options, operator }
  return exchangeReply<T>('POST', '/console/operator', body, undefined, signal)
}

/** Runs a verb with the values of a form; the result of a list names its next page. @throws CallError */
export const submit = async <T>(noun: string, verb: string, options: Partial<CallOptions>) => {
  const { data, next_cursor } = await call<T>(noun, verb, options)
  return (next_cursor ? { rows: data, next_cursor } : data) as T
}

/** Runs a verb of the operator command. @throws CallError with the refusal */
export const operate = <N extends NounName, V extends VerbName<N>, const O extends OptionsOf<N, V>>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V>,
  signal?: AbortSignal,
) => call<FullResult<N, V, O>>(noun, verb, options, signal).then(({ data }) => data)

/** A row of the list of a noun. */
export type ListedRow<N extends NounName> =
  ResultOf<N, 'list'> extends readonly (infer T extends object)[] ? T : never

/** The most rows of a page; a reply has fewer if they are long. */
export const LIMIT_MAX = '1000'

/** A page of a list. */
export type ListPage<T> = {
  rows: readonly T[]
  isFirst: boolean
  /** The cursor of the next page; undefined: the list ends. */
  next: string | undefined
}

/** Reads a page of a list. @throws CallError with the refusal */
export const readPage = async <N extends NounName>(
  noun: N,
  options: Partial<CallOptions>,
  signal?: AbortSignal,
): Promise<ListPage<ListedRow<N>>> => {
  const { data: rows, next_cursor: next } = await call<ListedRow<N>[]>(
    noun,
    'list',
    options,
    signal,
  )
  return { rows, isFirst: !options.cursor, next }
}

export const loadSettings = async (): Promise<void> => {
  settings.value = await exchange<ConsoleSettings>('GET', '/console/settings')
}
