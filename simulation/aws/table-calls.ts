import type { Clock } from '../engine/clock.ts'
import type { Effects, Outgoing } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import { currentInvocation } from '../engine/invocations.ts'
import type { Random } from '../engine/random.ts'
import type { Table } from '../table/table.ts'
import { conflicting, throttled, throttledTransaction, timedOut } from './failures.ts'
import type { Command } from './sdk.ts'

/** Calls to DynamoDB: the table does what it is told, and the way there and back may fail. */

const READS = /^(?:Get|BatchGet|Query|Scan|TransactGet)/

/** Of items. */
const SHORT_PAGE = 3

/** Milliseconds of a call that is lost, and of its repeat by the SDK. */
const PATIENCE = 2_000

type Deps = {
  run: Table['run']
  effects: Effects
  faults: Faults
  random: Random
  clock: Clock
  /** Whether all calls are refused at this moment. */
  isOut: () => boolean
}

type Keyed = { Key?: { pk: string; sk: string }; Item?: { pk: string; sk: string } }
type Written = { Put?: Keyed; Update?: Keyed; Delete?: Keyed; ConditionCheck?: Keyed }

const keyIn = ({ Key, Item }: Keyed): string => {
  const key = Key ?? Item
  return key ? `${key.pk} ${key.sk}` : ''
}

type Wanted = Record<string, { Keys: readonly object[] }>

/** What a call is about, for the trace. */
const subjectOf = (input: Record<string, unknown>): string => {
  const writes = input.TransactItems as Written[] | undefined
  if (!writes) return keyIn(input as Keyed)
  return writes
    .map(({ Put, Update, Delete, ConditionCheck }) =>
      keyIn(Put ?? Update ?? Delete ?? ConditionCheck ?? {}),
    )
    .join(', ')
}

export const tableCalls = ({ run, effects, faults, random, clock, isOut }: Deps) => {
  /** What DynamoDB may do where an answer would be long: give a part of it. */
  const inPart = (name: string, input: Record<string, unknown>): object | undefined => {
    if (name === 'QueryCommand' && faults.strikes('page cut short')) {
      const most = Number(input.Limit ?? SHORT_PAGE)
      return run(name, { ...input, Limit: Math.min(most, 1 + random.below(SHORT_PAGE)) })
    }
    if (name !== 'BatchGetCommand') return undefined
    const [[table = '', wanted] = []] = Object.entries(input.RequestItems as Wanted)
    if (!wanted || wanted.Keys.length < 2 || !faults.strikes('read in part')) return undefined
    const count = 1 + random.below(wanted.Keys.length - 1)
    const [now, later] = [wanted.Keys.slice(0, count), wanted.Keys.slice(count)]
    const output = run(name, { RequestItems: { [table]: { ...wanted, Keys: now } } })
    return { ...output, UnprocessedKeys: { [table]: { ...wanted, Keys: later } } }
  }

  /** The call itself, or a failure on its way. */
  const happen = (name: string, input: Record<string, unknown>): unknown => {
    const writes = (input.TransactItems as unknown[] | undefined)?.length
    const isWrite = !READS.test(name)
    if (isOut() || faults.strikes('table throttled')) {
      throw writes && isWrite ? throttledTransaction(writes, random) : throttled()
    }
    if (isWrite && faults.strikes('table conflict')) throw conflicting(writes, random)
    if (faults.strikes('table unreachable')) throw timedOut()
    if (isWrite && faults.strikes('table call repeated')) {
      try {
        run(name, input)
      } catch {
        // Only the answer to the repeat is seen.
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
        // Whoever waits in vain waits for long.
        error.name === 'TimeoutError' ? later(clock, 2 * PATIENCE, error) : Promise.reject(error),
      )
  }
}

const later = (clock: Clock, milliseconds: number, error: Error): Promise<never> =>
  new Promise((_, reject) => {
    clock.after(milliseconds, () => reject(error))
  })
