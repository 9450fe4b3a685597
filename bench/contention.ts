import { setTimeout as pause } from 'node:timers/promises'
import { type Call, tapWire, wireResponse } from './wire.ts'

/** Adds to DynamoDB Local the latency of transactions on AWS, and their conflicts. */

/** A transaction over four items takes about ten milliseconds on AWS; a conflict takes half of it. */
const LATENCY_MS = 10

type Write = Record<string, { Key?: object; Item?: { pk: object; sk: object } }>

const itemsOf = ({ input }: Call): string[] =>
  (input.TransactItems as Write[]).flatMap((write) =>
    Object.values(write).map(({ Key, Item }) =>
      JSON.stringify(Item ? { pk: Item.pk, sk: Item.sk } : Key),
    ),
  )

const cancelled = (reasons: string[]) =>
  wireResponse(
    {
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      Message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
      CancellationReasons: reasons.map((Code) => ({ Code })),
    },
    400,
  )

export type Contention = {
  /** Whether a transaction on an item of another one in flight is cancelled. */
  conflicts: boolean
  /** All transactions sent, including cancelled ones. */
  transactions: number
  stop: () => void
}

export const openContention = (): Contention => {
  const inFlight = new Set<string>()
  const stop = tapWire(async (call, proceed) => {
    if (call.operation !== 'TransactWriteItems') return proceed()
    contention.transactions += 1
    const items = itemsOf(call)
    const reasons = items.map((item) => (inFlight.has(item) ? 'TransactionConflict' : 'None'))
    if (contention.conflicts && reasons.includes('TransactionConflict')) {
      await pause(LATENCY_MS / 2)
      return cancelled(reasons)
    }
    for (const item of items) inFlight.add(item)
    await pause(LATENCY_MS)
    for (const item of items) inFlight.delete(item)
    // No longer in flight: DynamoDB Local takes many times longer than AWS.
    return proceed()
  })
  const contention: Contention = { conflicts: true, transactions: 0, stop }
  return contention
}
