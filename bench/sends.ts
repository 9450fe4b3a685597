import { SQSClient } from '@aws-sdk/client-sqs'
import { sendMetered } from './units.ts'

/** What goes through any client of the AWS SDK: all are of one kind. */

// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK agree on nothing narrower
type Anything = any
export type SentCommand = { constructor: { name: string }; input: Record<string, unknown> }
/** Sends what would be sent, or another command by the same client, which no tap hears of. */
export type Onwards = (other?: unknown) => Promise<Anything>
type Client = { send: (command: SentCommand, ...rest: Anything[]) => Promise<Anything> }

/** @returns a function that ends it */
export const tapSends = (
  tap: (command: SentCommand, onwards: Onwards) => Promise<Anything>,
): (() => void) => {
  const kind: Client = Object.getPrototypeOf(SQSClient.prototype)
  const { send } = kind
  kind.send = function (this: Client, command, ...rest) {
    return tap(command, (other = command) => send.call(this, other as SentCommand, ...rest))
  }
  return () => {
    kind.send = send
  }
}

export const isTableCommand = ({ input }: SentCommand): boolean =>
  'TableName' in input || 'RequestItems' in input || 'TransactItems' in input

export const isWrite = (command: SentCommand): boolean =>
  /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/.test(command.constructor.name)

/** What some work on the table costs: round trips, and units. */
export const countUnits = async (work: () => Promise<unknown>) => {
  const counted = { trips: 0, written: 0, read: 0 }
  const end = tapSends(async (command, onwards) => {
    if (!isTableCommand(command)) return onwards()
    const { output, units } = await sendMetered(command, onwards)
    counted.trips += 1
    counted[isWrite(command) ? 'written' : 'read'] += units
    return output
  })
  try {
    await work()
    return counted
  } finally {
    end()
  }
}
