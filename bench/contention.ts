import { setTimeout as pause } from 'node:timers/promises'
import { type Call, callOf, tapWire, wireReply } from './wire.ts'

/**
 * What DynamoDB Local leaves out: transactions that take their time, and are cancelled when they touch
 * an item that another one in flight touches.
 */

/** A transaction over four items takes some ten milliseconds on AWS; a conflict is told in half of it. */
const LATENCY_MS = 10

type Write = Record<string, { Key?: object; Item?: { pk: object; sk: object } }>

const itemsOf = ({ input }: Call): string[] =>
  (input.TransactItems as Write[]).flatMap((write) =>
    Object.values(write).map(({ Key, Item }) =>
      JSON.stringify(Item ? { pk: Item.pk, sk: Item.sk } : Key),
    ),
  )

const cancelled = (reasons: string[]) =>
  wireReply(
    {
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      Message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
      CancellationReasons: reasons.map((Code) => ({ Code })),
    },
    400,
  )

export type Contention = {
  /** Whether transactions that meet are cancelled; they take their time in either case. */
  conflicts: boolean
  /** Transactions that were asked for, the cancelled ones among them. */
  transactions: number
  end: () => void
}

export const openContention = (): Contention => {
  const inFlight = new Set<string>()
  const untap = tapWire(async (request, onwards) => {
    const call = callOf(request)
    if (call.operation !== 'TransactWriteItems') return onwards()
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
    // Not in flight for as long as DynamoDB Local takes, which is many times slower than AWS.
    return onwards()
  })
  const contention: Contention = { conflicts: true, transactions: 0, end: untap }
  return contention
}
