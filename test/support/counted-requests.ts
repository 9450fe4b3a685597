import {
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { actingAs, authorizeCallsOf } from '../../sandbox/authorizer.ts'
import { type OperationName, operations } from '../../shared/api/operations.ts'
import type { Provider } from '../../shared/domain/providers/provider.ts'
import { table } from '../../shared/store/table.ts'
import { demoProvider, gcb, NOON, pendingDebit } from './examples.ts'
import { sampleEvent } from './requests.ts'

/** Requests to the functions on a mocked table that only counts them, in one minute. */

export const calls = mockClient(table)
authorizeCallsOf(table)

/** Counted requests by the key of their window, and the count at which a new window starts. */
export const counts = { windows: new Map<string, number>(), usedBefore: 0 }

export const useCountedRequests = (): void => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON }))
  afterAll(() => void vi.useRealTimers())
  beforeEach(() => {
    // Workers remember their tokens of a minute.
    vi.setSystemTime(Date.now() + 60_000)
    counts.windows.clear()
    counts.usedBefore = 0
    calls.reset()
    calls.on(GetCommand).resolves({})
    calls.on(TransactWriteCommand).resolves({})
    calls
      .on(QueryCommand)
      .callsFake((input) => ({
        Items: JSON.stringify(input).includes('BANKS') ? [{ ...gcb, pk: 'BANKS', sk: 'GCB' }] : [],
      }))
    calls.on(UpdateCommand).callsFake(({ Key, ExpressionAttributeValues }) => {
      const before = Math.max(counts.windows.get(Key.pk) ?? 0, counts.usedBefore)
      const requests = before + ExpressionAttributeValues[':tokens']
      counts.windows.set(Key.pk, requests)
      return { Attributes: { requests, floating: 0 } }
    })
  })
}

/** The debit that the path of a bank's report names. */
export const reported = pendingDebit()

/** Replaces the item of every credential. */
export const credentialIs = (found: { Item?: object }) =>
  calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves(found)

let tokens = 0
export const newestToken = () => `token-${tokens}`

export type Settings = Partial<
  Pick<Provider, 'requestLimits' | 'requestSigning' | 'allowedAddresses'>
> & { status?: string }

type Request = {
  /** Headers in place of a valid credential. */
  headers?: Record<string, string | string[]>
  /** The address of the peer. */
  address?: string | undefined
  /** The time until the function times out. */
  milliseconds?: number
}

export type Reply = { statusCode: number; headers: Record<string, string>; body: string }

/** Returns a function that sends the sample of an operation with a new token of its caller. */
export const callerOf = (name: OperationName, settings: Settings = {}) => {
  const { caller } = operations[name]
  calls
    .on(GetCommand, { Key: { pk: 'PROVIDER#demo', sk: 'PROVIDER' } })
    .resolves({ Item: { ...demoProvider, ...settings } })
  calls
    .on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } })
    .resolves({ Item: { ...gcb, ...settings } })
  const owner = caller === 'bank' ? 'GCB' : 'demo'
  credentialIs({ Item: { kind: caller, owner, createdAt: '' } })
  tokens += 1
  const authorization = { Authorization: `Bearer ${newestToken()}` }
  return async ({ milliseconds = 28_000, ...sent }: Request = {}) => {
    const { handler } = (await import(`../../functions/${caller}/${name}.ts`)) as {
      handler: (event: APIGatewayProxyEvent, context: Context) => Promise<Reply>
    }
    const sample = (await sampleEvent(name)) as unknown as APIGatewayProxyEvent
    const headers = { 'Content-Type': 'application/json', ...(sent.headers ?? authorization) }
    const multiValueHeaders = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, [value].flat()]),
    )
    const sourceIp = 'address' in sent ? sent.address : '198.51.100.7'
    const requestContext = { ...sample.requestContext, identity: { sourceIp } }
    const context = { getRemainingTimeInMillis: () => milliseconds } as unknown as Context
    const { uuid } = reported.facts
    const pathParameters = {
      ...sample.pathParameters,
      ...(sample.pathParameters?.uuid && { uuid }),
    }
    const event = { ...sample, headers: {}, multiValueHeaders, requestContext, pathParameters }
    return actingAs(name, () => handler(event as APIGatewayProxyEvent, context))
  }
}

export const answer = ({ statusCode, body }: Reply) =>
  `${statusCode}/${JSON.parse(body).error?.code}`

export const details = ({ body }: Reply) => JSON.parse(body).details

/** Returns the limit and the remaining requests from the headers. */
export const standing = ({ headers }: Reply) =>
  [headers['X-RateLimit-Limit'], headers['X-RateLimit-Remaining']].map(Number)

/** Returns the calls of the table, as `Get Update`. */
export const tableCalls = (): string =>
  calls
    .calls()
    .map(({ args }) => args[0].constructor.name.replace('Command', ''))
    .join(' ')

/** Sends requests one after another. */
export const times = async (count: number, send: () => Promise<Reply>): Promise<Reply[]> => {
  const replies: Reply[] = []
  while (replies.length < count) replies.push(await send())
  return replies
}
