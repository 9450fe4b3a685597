import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import type { SteppedClock as Clock } from '../../../sandbox/aws/clock.ts'
import type { Effects } from '../engine/effects.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import { MINUTE_MS } from '../invariants/time-and-money.ts'
import { type Api, TRIES_MAX } from './api.ts'
import type { Books } from './books.ts'

/** The operators, who repeat a call until it ends and approve each other's guarded calls. */

type Deps = { api: Api; clock: Clock; random: Random }

export type Operators = ReturnType<typeof newOperators>

/** The callers of the service, and the books of the banks. */
export type Staff = { api: Api; operators: Operators; books: Books }

const REQUESTER = 'ama'

/** Another worker has claimed the granted call; its claim expires. */
const IN_PROGRESS = /in progress/

/** How operators decide on a request. The requester cannot grant it; a repeat follows a lost reply. */
const decisions = [
  ...Array<string>(8).fill('kofi grants'),
  'kofi denies',
  'ama denies',
  'ama grants, then kofi grants',
  'A_MA grants, then kofi grants',
  'kofi grants, then kofi grants',
  'kofi grants, then esi grants',
  'kofi grants and esi grants',
  'kofi grants and kofi grants, then kofi grants',
  'kofi grants and esi denies',
  'nobody',
]

// biome-ignore lint/suspicious/noExplicitAny: each verb has a result of its own
export const resultOf = (call: ApiCall | undefined): any =>
  (call?.reply?.body as { result?: unknown } | undefined)?.result

export const isDone = (call: ApiCall | undefined): boolean => call?.reply?.status === 200

const errorOf = (call: ApiCall | undefined): string =>
  (call?.reply?.body as { error?: string } | undefined)?.error ?? ''

/** @param random draws of its own, so that the acts of operators change no others */
export const newOperators = ({ api, clock, random }: Deps) => {
  /** Repeats a call until it returns a result or a refusal. */
  const call = async (
    noun: string,
    { verb, options }: { verb: string; options: Record<string, string> },
    operator: string,
    triesMax = TRIES_MAX,
  ): Promise<ApiCall | undefined> => {
    const name = `manage-${noun}` as FunctionName
    let sent = { verb, options, actor: `local:${operator}` }
    for (let attempts = 0; attempts < triesMax; attempts += 1) {
      const { call, result } = await api.put({ name, caller: undefined, path: {}, sent }, sent)
      if (result.kind === 'done') {
        const status = 'error' in (result.value as object) ? 400 : 200
        call.reply = { at: clock.now(), status, headers: {}, body: result.value }
        call.received = true
        const { bulk, processed } = resultOf(call) ?? {}
        if (processed === undefined && !IN_PROGRESS.test(errorOf(call))) return call
        // The next call about many continues this one; a grant names its request.
        const isUnnamed = bulk !== undefined && noun !== 'approval' && options.bulk !== bulk
        if (isUnnamed) sent = { ...sent, options: { ...options, bulk } }
      }
      await api.sleep(random.between(1_000, 30_000))
    }
    return undefined
  }

  /** @returns the grant that ran the call; undefined without one */
  const decide = async (id: string): Promise<ApiCall | undefined> => {
    const granted: (ApiCall | undefined)[] = []
    for (const step of random.pick(decisions).split(', then ')) {
      await api.sleep(random.between(MINUTE_MS, 15 * MINUTE_MS))
      const decided = step.split(' and ').map(async (decision) => {
        const [name = '', verb] = decision.split(' ')
        if (verb === undefined) return undefined
        if (verb === 'denies') return call('approval', { verb: 'deny', options: { id } }, name)
        return granted.push(await call('approval', { verb: 'grant', options: { id } }, name))
      })
      await Promise.all(decided)
    }
    return granted.find(isDone)
  }

  /** Makes a call, with its approval if it needs one. Returns undefined if nobody granted it. */
  const operate = async (
    noun: string,
    verb: string,
    options: Record<string, string>,
    { operator = REQUESTER, triesMax }: { operator?: string; triesMax?: number } = {},
  ): Promise<ApiCall | undefined> => {
    const first = await call(noun, { verb, options }, operator, triesMax)
    const id = resultOf(first)?.approval?.id
    return typeof id === 'string' ? decide(id) : first
  }

  /** Uploads a file in two parts. @returns the options that name it; undefined without a reply */
  const upload = async (noun: string, rows: readonly unknown[], options: object = {}) => {
    const half = Math.ceil(rows.length / 2)
    let named = {}
    for (const [n, part] of [rows.slice(0, half), rows.slice(half)].entries()) {
      const sent = { ...options, ...named, n: String(n), rows: JSON.stringify(part) }
      const { bulk } = resultOf(await operate(noun, 'upload', sent)) ?? {}
      if (bulk === undefined) return undefined
      named = { bulk }
    }
    return { file: 'many.csv', ...named }
  }

  return { random, operate, upload }
}

type Command = { constructor: { name: string }; input: Record<string, unknown> }

const FAULT = Buffer.from(JSON.stringify({ errorMessage: 'fault' }))

/** Returns the answer to Lambda's `Invoke`, by which an approval runs the approved call. */
export const invokeCalls =
  ({ api, clock, effects }: Pick<Deps, 'api' | 'clock'> & { effects: Effects }) =>
  ({ constructor: { name }, input }: Command): Promise<unknown> | undefined => {
    if (name !== 'InvokeCommand') return undefined
    const invoked = String(input.FunctionName) as FunctionName
    const sent = JSON.parse(String(input.Payload))
    const outgoing = { name: `invoke ${invoked}`, changes: true, takes: [5, 40] } as const
    return effects.call(outgoing, async () => {
      const requested = { name: invoked, caller: undefined, path: {}, sent }
      const { call, result } = await api.put(requested, sent)
      if (result.kind !== 'done') return { FunctionError: 'Unhandled', Payload: FAULT }
      call.reply = { at: clock.now(), status: 200, headers: {}, body: result.value }
      return { Payload: Buffer.from(JSON.stringify(result.value)) }
    })
  }
