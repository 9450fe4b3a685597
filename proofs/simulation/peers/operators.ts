import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import type { SteppedClock as Clock } from '../../../sandbox/aws/clock.ts'
import type { Effects } from '../engine/effects.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import { MINUTE_MS } from '../invariants/time-and-money.ts'
import { type Api, TRIES_MAX } from './api.ts'

/** The operators, who repeat a call until it ends and approve each other's guarded calls. */

export type OperatorCall = {
  verb: string
  options: Record<string, string>
  actor?: string
  approval?: string
}

type Deps = { api: Api; clock: Clock; random: Random }

export type Operators = ReturnType<typeof newOperators>

const REQUESTER = 'local:ama'
const APPROVER = 'local:kofi'

/** Another worker has claimed the granted call; its claim expires. */
const IN_PROGRESS = /in progress/

// biome-ignore lint/suspicious/noExplicitAny: each verb has a result of its own
export const resultOf = (call: ApiCall | undefined): any =>
  (call?.reply?.body as { result?: unknown } | undefined)?.result

const errorOf = (call: ApiCall | undefined): string =>
  (call?.reply?.body as { error?: string } | undefined)?.error ?? ''

export const newOperators = ({ api, clock, random }: Deps) => {
  /** Repeats a call until it returns a result or a refusal. */
  const call = async (
    noun: string,
    sent: OperatorCall,
    triesMax = TRIES_MAX,
  ): Promise<ApiCall | undefined> => {
    const name = `manage-${noun}` as FunctionName
    for (let attempts = 0; attempts < triesMax; attempts += 1) {
      const { call, result } = await api.put({ name, caller: undefined, path: {}, sent }, sent)
      if (result.kind === 'done') {
        const status = 'error' in (result.value as object) ? 400 : 200
        call.reply = { at: clock.now(), status, headers: {}, body: result.value }
        call.received = true
        if (!IN_PROGRESS.test(errorOf(call))) return call
      }
      await api.sleep(random.between(1_000, 30_000))
    }
    return undefined
  }

  /** The requester fails to approve the own call; then a second operator decides. */
  const decide = async (id: string): Promise<ApiCall | undefined> => {
    if (random.happens(0.2)) {
      await call('approval', { verb: 'grant', options: { id }, actor: REQUESTER })
    }
    await api.sleep(random.between(MINUTE_MS, 30 * MINUTE_MS))
    const verb = random.happens(0.1) ? 'deny' : 'grant'
    return call('approval', { verb, options: { id }, actor: APPROVER })
  }

  return {
    /** Makes a call, with its approval if it needs one. */
    operate: async (
      noun: string,
      verb: string,
      options: Record<string, string>,
      triesMax?: number,
    ): Promise<ApiCall | undefined> => {
      const first = await call(noun, { verb, options, actor: REQUESTER }, triesMax)
      const id = resultOf(first)?.approval?.id
      return typeof id === 'string' ? decide(id) : first
    },
  }
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
      const { call, result } = await api.put(
        { name: invoked, caller: undefined, path: {}, sent },
        sent,
      )
      if (result.kind !== 'done') {
        return { FunctionError: 'Unhandled', Payload: FAULT }
      }
      call.reply = { at: clock.now(), status: 200, headers: {}, body: result.value }
      return { Payload: Buffer.from(JSON.stringify(result.value)) }
    })
  }
