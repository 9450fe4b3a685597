import { type Command, clients } from '../aws/sdk.ts'

/** Intercepts the commands of every AWS SDK client. */

// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK have no narrower common type
type Anything = any
export type SentCommand = Command
/** Sends the intercepted command, or another one by the same client without intercepting it. */
export type Proceed = (other?: unknown) => Promise<Anything>

/** Returns a function that stops the interception. */
export const tapSends = (
  tap: (command: SentCommand, proceed: Proceed) => Promise<Anything>,
): (() => void) => {
  const { send } = clients
  clients.send = function (command, ...rest) {
    return tap(command, (other = command) => send.call(this, other as SentCommand, ...rest))
  }
  return () => {
    clients.send = send
  }
}

export const isTableCommand = ({ input }: SentCommand): boolean =>
  'TableName' in input || 'RequestItems' in input || 'TransactItems' in input

export const isWrite = (command: SentCommand): boolean =>
  /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/.test(command.constructor.name)
