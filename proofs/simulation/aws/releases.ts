import type { Command } from '../../../sandbox/aws/sdk.ts'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import { currentInvocation, WORKERS } from '../engine/invocations.ts'
import type { Release } from '../engine/observations.ts'
import { LATER } from '../invariants/operations.ts'

import laterMembers from './later-members.json' with { type: 'json' }

/** One worker in three of each function is of the release before or after, during a rollout. */

type Put = { Item: Item; ConditionExpression?: string }
type Message = { MessageBody: string }
type Input = Partial<Put & Message> & { TransactItems?: { Put?: Put }[]; Entries?: Message[] }

const added: Partial<Record<string, string[]>> = laterMembers

const putBy: Record<Release, (put: Put) => Put> = {
  // A replaced item keeps what was read.
  earlier: (put) => {
    const lacks = added[String(put.Item.entity)]
    if (!lacks || put.ConditionExpression !== 'attribute_not_exists(pk)') return put
    const members = Object.entries(put.Item).filter(([name]) => !lacks.includes(name))
    return { ...put, Item: Object.fromEntries(members) as Item }
  },
  later: (put) => ({ ...put, Item: { ...put.Item, ...LATER } }),
}

const sentBy: Record<Release, <M extends Message>(message: M) => M> = {
  earlier: (message) => message,
  later: (message) => ({
    ...message,
    MessageBody: JSON.stringify({ ...JSON.parse(message.MessageBody), ...LATER }),
  }),
}

const inputBy = (release: Release, input: Input): Input => {
  const [put, send] = [putBy[release], sentBy[release]]
  if (input.Item) return put(input as Put)
  if (input.MessageBody) return send(input as Message)
  const writes = input.TransactItems?.map((write) =>
    write.Put ? { ...write, Put: put(write.Put) } : write,
  )
  return {
    ...input,
    ...(writes && { TransactItems: writes }),
    ...(input.Entries && { Entries: input.Entries.map(send) }),
  }
}

/** Returns a call as the release of its worker sends it. */
export const callBy = (release: Release | undefined, command: Command): Command => {
  const { number = 1 } = currentInvocation() ?? {}
  if (release && number % WORKERS === 0 && /Put|Write|Send/.test(command.constructor.name))
    command.input = inputBy(release, command.input as Input)
  return command
}
