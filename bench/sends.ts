import { SQSClient } from '@aws-sdk/client-sqs'

/** Intercepts the commands of every AWS SDK client: all clients inherit `send` from one class. */

// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK have no narrower common type
type Anything = any
export type SentCommand = { constructor: { name: string }; input: Record<string, unknown> }
/** Sends the intercepted command, or another one by the same client without intercepting it. */
export type Proceed = (other?: unknown) => Promise<Anything>
type Client = { send: (command: SentCommand, ...rest: Anything[]) => Promise<Anything> }

/** Returns a function that stops the interception. */
export const tapSends = (
  tap: (command: SentCommand, proceed: Proceed) => Promise<Anything>,
): (() => void) => {
  const prototype: Client = Object.getPrototypeOf(SQSClient.prototype)
  const { send } = prototype
  prototype.send = function (this: Client, command, ...rest) {
    return tap(command, (other = command) => send.call(this, other as SentCommand, ...rest))
  }
  return () => {
    prototype.send = send
  }
}

export const isTableCommand = ({ input }: SentCommand): boolean =>
  'TableName' in input || 'RequestItems' in input || 'TransactItems' in input

export const isWrite = (command: SentCommand): boolean =>
  /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/.test(command.constructor.name)
