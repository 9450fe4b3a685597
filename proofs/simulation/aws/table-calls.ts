import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import type { Command } from '../../../sandbox/aws/sdk.ts'
import { currentInvocation } from '../engine/invocations.ts'
import type { Random } from '../engine/random.ts'
import { type FaultyCalls, timedOut } from './calls.ts'

const READS = /^(?:Get|BatchGet|Query|Scan|TransactGet)/

const SHORT_PAGE = 3

/** The time until the SDK detects a lost call; it retries once. */
const LOST_CALL_MS = 2_000

const throttled = (): Error =>
  new ProvisionedThroughputExceededException({ $metadata: {}, message: 'Too many requests' })

const cancelled = (writes: number, position: number, Code: string): Error =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'Transaction cancelled',
    CancellationReasons: Array.from({ length: writes }, (_, index) => ({
      Code: index === position ? Code : 'None',
    })),
  })

const conflicting = (writes: number | undefined, random: Random): Error =>
  writes === undefined
    ? new TransactionConflictException({ $metadata: {}, message: 'Transaction is ongoing' })
    : cancelled(writes, random.below(writes), 'TransactionConflict')

const throttledTransaction = (writes: number, random: Random): Error =>
  cancelled(writes, random.below(writes), 'ThrottlingError')

type Deps = FaultyCalls & { isOut: (input: object) => boolean }

type Keyed = Partial<Record<'Key' | 'Item', { pk: string; sk: string }>>
type Input = Record<string, unknown> & Keyed & { TransactItems?: Record<string, Keyed>[] }

const subjectOf = ({ Item, Key = Item, TransactItems = [] }: Input): string =>
  Key
    ? `${Key.pk} ${Key.sk}`
    : TransactItems.map((write) => subjectOf(Object.values(write)[0] as Input)).join(', ')

export const tableCalls = ({ perform: run, effects, faults, random, clock, isOut }: Deps) => {
  /** Returns a part of the result, as DynamoDB does for a long one. */
  const inPart = (name: string, input: Input): object | undefined => {
    if (name === 'QueryCommand' && faults.strikes('page cut short')) {
      const limit = Number(input.Limit ?? SHORT_PAGE)
      return run(name, { ...input, Limit: Math.min(limit, 1 + random.below(SHORT_PAGE)) })
    }
    if (name !== 'BatchGetCommand') return undefined
    const requests = input.RequestItems as Record<string, { Keys: readonly object[] }>
    const [[table = '', request] = []] = Object.entries(requests)
    if (!request || request.Keys.length < 2 || !faults.strikes('read in part')) return undefined
    const count = 1 + random.below(request.Keys.length - 1)
    const [read, unprocessed] = [request.Keys.slice(0, count), request.Keys.slice(count)]
    const output = run(name, { RequestItems: { [table]: { ...request, Keys: read } } })
    return { ...output, UnprocessedKeys: { [table]: { ...request, Keys: unprocessed } } }
  }

  let repeats = 0

  const happen = (name: string, sent: Input): unknown => {
    let input = sent
    const writes = input.TransactItems?.length
    const isWrite = !READS.test(name)
    const isBySweep = isWrite && effects.acting()?.worker.name === 'sweep'
    const isThrottled =
      isOut(input) ||
      faults.strikes('table throttled') ||
      (isBySweep && faults.strikes('sweep throttled'))
    if (isThrottled) throw writes && isWrite ? throttledTransaction(writes, random) : throttled()
    if (isWrite && faults.strikes('table conflict')) throw conflicting(writes, random)
    if (faults.strikes('table unreachable')) throw timedOut()
    if (isWrite && faults.strikes('table call repeated')) {
      repeats += 1
      // The SDK gives a transaction a token, which its retry repeats.
      const token = { ClientRequestToken: `repeat-${repeats}` }
      input = name === 'TransactWriteCommand' ? { ...token, ...sent } : sent
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

  return ({ constructor: { name }, input }: Command): Promise<unknown> => {
    if (!currentInvocation())
      return effects.call({ name, changes: false, takes: [0, 0] }, () => run(name, input))
    const changes = !READS.test(name)
    const outgoing = { name: `${name} ${subjectOf(input)}`, changes, takes: [1, 8] } as const
    return effects
      .call(outgoing, () => happen(name, input))
      .catch((error: Error) =>
        error.name === 'TimeoutError'
          ? new Promise((_, reject) => {
              clock.after(2 * LOST_CALL_MS, () => reject(error))
            })
          : Promise.reject(error),
      )
  }
}
