import { signal } from '@preact/signals'
import type { ConsoleSeeds } from '../server/backend.ts'

/** The service behind this console. */
export type ConsoleSettings = {
  /** The name of the stage; null in a sandbox. */
  stage: string | null
  operator: string
  /** The nouns that the operator may use. */
  nouns: string[]
  is_live: boolean
  /** The published tokens and customers of a sandbox. */
  seeds: ConsoleSeeds | null
}

/** The service's clock: ahead of this machine's by some milliseconds, or frozen. */
const clock = signal({ ahead: 0, frozenAt: undefined as number | undefined })
export const settings = signal<ConsoleSettings | undefined>(undefined)
/** The operator to act as, in a sandbox; empty: the user of this machine. */
export const actingAs = signal(sessionStorage.getItem('operator') ?? '')

export const isSandbox = (): boolean => settings.value?.stage === null
export const mayUse = (noun: string): boolean => settings.value?.nouns.includes(noun) ?? false
/** Returns the published token of a provider or bank of the sandbox. */
export const tokenOf = (kind: 'provider' | 'bank', holder: string): string | undefined =>
  settings.value?.seeds?.credentials.find(
    (credential) => credential.kind === kind && credential.holder === holder,
  )?.token
/** Returns the time of the service, by default now. */
export const serviceNow = (local = Date.now()): number =>
  clock.value.frozenAt ?? local + clock.value.ahead
export const isClockFrozen = (): boolean => clock.value.frozenAt !== undefined

/** The error of a call, in the words of the service. */
export class CallError extends Error {}

const NOT_REACHED = 'The console is not reachable. Is the command that serves it still running?'

/** Sends JSON, with a token of the API, and returns `data` of the reply. @throws CallError */
export const exchange = async <T>(
  method: string,
  path: string,
  body?: unknown,
  token?: string,
): Promise<T> => {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = {
    'Content-Type': 'application/json',
    ...(token && { Authorization: `Bearer ${token}` }),
  }
  const response = await fetch(path, { method, headers, ...init }).catch(() => {
    throw new CallError(NOT_REACHED)
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
  if (!response.ok)
    throw new CallError(errorText(reply.error) ?? `${path} replied ${response.status}`)
  return reply.data as T
}

const errorText = (error: { message?: string; details?: unknown } | undefined) => {
  if (!error?.message) return undefined
  return error.details ? `${error.message}: ${JSON.stringify(error.details)}` : error.message
}

export type CallOptions = Record<string, string>

/** Runs a verb of the operator command. @throws CallError with the refusal */
export const operate = <T>(noun: string, verb: string, options: CallOptions = {}): Promise<T> => {
  const operator = actingAs.value || undefined
  return exchange<T>('POST', '/console/operator', { noun, verb, options, operator })
}

export const loadSettings = async (): Promise<void> => {
  settings.value = await exchange<ConsoleSettings>('GET', '/console/settings')
}
