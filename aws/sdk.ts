import { SQSClient } from '@aws-sdk/client-sqs'

/** Replaces the `send` method that all SDK clients share. */

export type Command = { constructor: { name: string }; input: Record<string, unknown> }

type Client = { send: (command: Command) => Promise<unknown> }

export const answerCalls = (answer: (command: Command) => Promise<unknown>): void => {
  const kind: Client = Object.getPrototypeOf(SQSClient.prototype)
  kind.send = answer
}
