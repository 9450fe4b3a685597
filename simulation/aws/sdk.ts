import { SQSClient } from '@aws-sdk/client-sqs'

/** Where the world takes the place of AWS: the one method by which every client sends. */

export type Command = { constructor: { name: string }; input: Record<string, unknown> }

type Client = { send: (command: Command) => Promise<unknown> }

/** All clients of the SDK are of one kind, so none escapes, wherever it is made. */
export const answerCalls = (answer: (command: Command) => Promise<unknown>): void => {
  const kind: Client = Object.getPrototypeOf(SQSClient.prototype)
  kind.send = answer
}
