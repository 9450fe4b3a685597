import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Command } from '../../../sandbox/aws/sdk.ts'
import type { Outgoing } from '../engine/effects.ts'
import { currentInvocation } from '../engine/invocations.ts'
import type { FaultyCalls } from './calls.ts'
import { conflicting, throttled, throttledTransaction, timedOut } from './failures.ts'

const READS = /^(?:Get|BatchGet|Query|Scan|TransactGet)/

const SHORT_PAGE = 3

/** The time until the SDK detects a lost call; it retries once. */
const LOST_CALL_MS = 2_000

type Deps = FaultyCalls & { clock: Clock; isOut: (input: object) => boolean }

type Keyed = { Key?: { pk: string; sk: string }; Item?: { pk: string; sk: string } }
type Written = { Put?: Keyed; Update?: Keyed; Delete?: Keyed; ConditionCheck?: Keyed }

const keyIn = ({ Key, Item }: Keyed): string => {
  const key = Key ?? Item
  return key ? `${key.pk} ${key.sk}` : ''
}

type KeysByTable = Record<string, { Keys: readonly object[] }>

/** Returns the keys of a call, for the trace. */
const subjectOf = (input: Record<string, unknown>): string => {
  const writes = input.TransactItems as Written[] | undefined
  if (!writes) return keyIn(input as Keyed)
  return writes
    .map(({ Put, Update, Delete, ConditionCheck }) =>
      keyIn(Put ?? Update ?? Delete ?? ConditionCheck ?? {}),
    )
    .join(', ')
}

/** The SDK gives a transaction a token, which its retry repeats. */
const withToken = (name: string, input: Record<string, unknown>, token: string) =>
  name === 'TransactWriteCommand' ? { ClientRequestToken: token, ...input } : input

export const tableCalls = ({ perform: run, effects, faults, random, clock, isOut }: Deps) => {
  /** Returns a part of the result, as DynamoDB does for a long one. */
  const inPart = (name: string, input: Record<string, unknown>): object | undefined => {
    if (name === 'QueryCommand' && faults.strikes('page cut short')) {
      const limit = Number(input.Limit ?? SHORT_PAGE)
      return run(name, { ...input, Limit: Math.min(limit, 1 + random.below(SHORT_PAGE)) })
    }
    if (name !== 'BatchGetCommand') return undefined
    const [[table = '', request] = []] = Object.entries(input.RequestItems as KeysByTable)
    if (!request || request.Keys.length < 2 || !faults.strikes('read in part')) return undefined
    const count = 1 + random.below(request.Keys.length - 1)
    const [read, unprocessed] = [request.Keys.slice(0, count), request.Keys.slice(count)]
    const output = run(name, { RequestItems: { [table]: { ...request, Keys: read } } })
    return { ...output, UnprocessedKeys: { [table]: { ...request, Keys: unprocessed } } }
  }

  let repeats = 0

  const happen = (name: string, sent: Record<string, unknown>): unknown => {
    let input = sent
    const writes = (input.TransactItems as unknown[] | undefined)?.length
    const isWrite = !READS.test(name)
    const isBySweep = isWrite && effects.acting()?.worker.name === 'sweep'
    if (
      isOut(input) ||
      faults.strikes('table throttled') ||
      (isBySweep && faults.strikes('sweep throttled'))
    ) {
      throw writes && isWrite ? throttledTransaction(writes, random) : throttled()
    }
    if (isWrite && faults.strikes('table conflict')) throw conflicting(writes, random)
    if (faults.strikes('table unreachable')) throw timedOut()
    if (isWrite && faults.strikes('table call repeated')) {
      repeats += 1
      input = withToken(name, sent, `repeat-${repeats}`)
      try {
        run(name, input)
      } catch {
        // Only the retry's result is returned.
      }
    }
    const output = inPart(name, input) ?? run(name, input)
    if (isWrite && faults.strikes('table result unknown')) throw timedOut()
    return output
  }

  return (command: Command): Promise<unknown> => {
    const { name } = command.constructor
    const { input } = command
    if (!currentInvocation())
      return effects.call({ name, changes: false, takes: [0, 0] }, () => run(name, input))
    const outgoing: Outgoing = {
      name: `${name} ${subjectOf(input)}`,
      changes: !READS.test(name),
      takes: [1, 8],
    }
    return effects
      .call(outgoing, () => happen(name, input))
      .catch((error: Error) =>
        error.name === 'TimeoutError'
          ? later(clock, 2 * LOST_CALL_MS, error)
          : Promise.reject(error),
      )
  }
}

const later = (clock: Clock, milliseconds: number, error: Error): Promise<never> =>
  new Promise((_, reject) => {
    clock.after(milliseconds, () => reject(error))
  })
