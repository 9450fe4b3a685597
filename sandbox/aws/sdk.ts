import { SQSClient } from '@aws-sdk/client-sqs'

/** Answers the calls of the SDK's clients in this process. */

export type Command = { constructor: { name: string }; input: Record<string, unknown> }

/** Returns undefined for a call that goes to the network. */
export type Answer = (command: Command) => Promise<unknown> | undefined

type Client = { send: (this: Client, command: Command, ...rest: unknown[]) => Promise<unknown> }

let answer: Answer = () => undefined
let refuse: (command: Command) => Error | undefined = () => undefined

/** The prototype of all SDK clients. */
export const clients: Client = Object.getPrototypeOf(SQSClient.prototype)
const { send } = clients
clients.send = function (command, ...rest) {
  const refusal = refuse(command)
  if (refusal) return Promise.reject(refusal)
  return answer(command) ?? send.call(this, command, ...rest)
}

/**
 * Performs a call after the pending events of this process, as a reply of the network comes. Without
 * the pause, a loop of calls would hold up all timers.
 */
export const perform = <T>(call: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(call())
      } catch (error) {
        reject(error)
      }
    })
  })

export const answerCalls = (chosen: Answer): void => {
  answer = chosen
}

/** Rejects the calls for which a function returns an error, before they are answered or sent. */
export const refuseCalls = (chosen: typeof refuse): void => {
  refuse = chosen
}
