import type { DynamoDBRecord } from 'aws-lambda'
import type { ConsoleBackend } from '../console/server/backend.ts'
import type { ItemChange, Live } from '../console/server/live.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import type { OperatorReply } from '../shared/operator/verbs.ts'
import type { FunctionHost } from './function-host.ts'
import type { GatewayReply } from './gateway.ts'
import { localOperator } from './local-operator.ts'
import { credentials, customers } from './seeds.ts'

/** Reads changes and calls the functions of this process. @throws StartFailure if OPERATOR_NAME is no name */
export const consoleBackend = (
  functions: FunctionHost,
  clock: ConsoleBackend['clock'],
  live: Live,
): ConsoleBackend => {
  const own = localOperator()
  return {
    clock,
    caller: async () => ({ operator: own, nouns: Object.keys(nouns) }),
    operate: async ({ noun, operator: name, ...call }) => {
      const event = { ...call, actor: name ? localOperator(name) : own }
      return (await functions.invoke(`manage-${noun}`, event)) as OperatorReply
    },
    live,
    seeds: { credentials, customers },
  }
}

/** Returns the change of an item, without its content. */
export const itemChange = ({ dynamodb }: DynamoDBRecord): ItemChange => {
  const item = dynamodb?.NewImage ?? dynamodb?.OldImage
  const text = (name: 'entity' | 'pk' | 'sk') => item?.[name]?.S ?? ''
  return { entity: text('entity'), pk: text('pk'), sk: text('sk') }
}

export const loggedRequest = (
  reply: GatewayReply,
  now: Date,
): Parameters<Live['addRequest']>[0] => {
  const { status, milliseconds, request, headers, body } = reply
  const { method, pathname, search } = request
  return {
    at: now.toISOString(),
    method,
    target: search ? `${pathname}?${search}` : pathname,
    status,
    milliseconds,
    request: {
      headers: request.headers.map(([name, value]) => [name, value]),
      body: request.body.toString('utf8'),
    },
    reply: { headers, body },
  }
}
