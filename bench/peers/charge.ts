import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware'
import { Logger } from '@aws-lambda-powertools/logger'
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import middy from '@middy/core'
import httpErrorHandler from '@middy/http-error-handler'
import httpJsonBodyParser from '@middy/http-json-body-parser'
import validator from '@middy/validator'
import { transpileSchema } from '@middy/validator/transpile'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { itemsOf } from './charge-items.ts'
import { chargeSchema } from './charge-schema.ts'

/**
 * The charge as it is usually built: middy's middleware for the body, its validation and errors,
 * Powertools for the log and for idempotency, and an item for each concern. As one would write it with
 * care: clients outside the handler, credential and banks remembered, one transaction.
 */

export type ChargeBody = {
  phone_number: string
  bank_identifier: string
  amount: string
  currency: string
  narration: string
  partner_reference: string
  metadata?: object
}

type Item = Record<string, unknown>

const TableName = process.env.TABLE_NAME ?? ''
const LIMIT_PER_MINUTE = 100
const REMEMBERED_MS = Number(process.env.CACHE_SECONDS ?? 30) * 1_000

const client = new DynamoDBClient({})
const table = DynamoDBDocumentClient.from(client, {
  marshallOptions: { removeUndefinedValues: true },
})
const logger = new Logger({ serviceName: 'charge' })

const refuse = (statusCode: number, code: number, message: string): Error =>
  Object.assign(new Error(JSON.stringify({ success: false, error: { code, message } })), {
    statusCode,
    expose: true,
  })

const remember = <T>(load: (key: string) => Promise<T>) => {
  const known = new Map<string, { value: T; until: number }>()
  return async (key: string): Promise<T> => {
    const found = known.get(key)
    if (found && found.until > Date.now()) return found.value
    const value = await load(key)
    known.set(key, { value, until: Date.now() + REMEMBERED_MS })
    return value
  }
}

const get = async (pk: string, sk: string): Promise<Item | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }),
  )
  return Item
}

const findProvider = remember(async (token) => {
  const hash = createHash('sha256').update(token).digest('base64url')
  const credential = await get(`CREDENTIAL#${hash}`, 'CREDENTIAL')
  return credential && get(`PROVIDER#${credential.owner}`, 'PROVIDER')
})

const listBanks = remember(async () => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'BANKS' },
      ConsistentRead: true,
    }),
  )
  return new Map(Items.map((bank) => [String(bank.identifier), bank]))
})

const countRequest = async (provider: string, now: Date): Promise<number> => {
  const minute = Math.floor(now.getTime() / 60_000)
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName,
      Key: { pk: `RATE#charge#${provider}#${minute}`, sk: 'RATE' },
      UpdateExpression: 'SET expiresAt = :expires ADD requests :one',
      ExpressionAttributeValues: { ':one': 1, ':expires': minute * 60 + 120 },
      ReturnValues: 'UPDATED_NEW',
    }),
  )
  return Number(Attributes?.requests)
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const newReference = (now: Date): string => {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '')
  const suffix = [...randomBytes(6)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
  return `DCS-${day}-${suffix}`
}

type Event = Omit<APIGatewayProxyEvent, 'body'> & { body: ChargeBody }

const open =
  (clock: () => Date) =>
  async ({ body, headers }: Event): Promise<APIGatewayProxyResult> => {
    const now = clock()
    const provider = await findProvider(headers.Authorization?.replace(/^Bearer /, '') ?? '')
    if (provider?.status !== 'active') throw refuse(401, 1401, 'Unauthorized')
    const count = await countRequest(String(provider.id), now)
    if (count > LIMIT_PER_MINUTE) throw refuse(429, 1456, 'Rate limit exceeded')
    const bank = (await listBanks('all')).get(body.bank_identifier)
    if (bank?.status !== 'live') throw refuse(402, 1402, 'Bank not supported')
    const ids = { reference: newReference(now), uuid: randomUUID(), requestId: randomUUID() }
    await table.send(
      new TransactWriteCommand({
        TransactItems: itemsOf({ ...ids, TableName, body, bank, provider, now }),
      }),
    )
    logger.info('charge accepted', { reference: ids.reference, provider: provider.id })
    return accepted(ids, bank, now)
  }

type Ids = { reference: string; uuid: string; requestId: string }

const accepted = ({ reference, uuid, requestId }: Ids, bank: Item, now: Date) => {
  const timestamp = now.toISOString()
  const { name, identifier } = bank
  const shown = { name, identifier, country_code: 'GH' }
  return {
    statusCode: 202,
    headers: { 'Content-Type': 'application/json', 'X-Request-ID': requestId },
    body: JSON.stringify({
      success: true,
      data: {
        reference,
        status: 'pending',
        response: { uuid, status: 'pending', timestamp, reference, bank: shown },
      },
      meta: { timestamp, request_id: requestId, api_version: 'v1' },
    }),
  }
}

const persistenceStore = new DynamoDBPersistenceLayer({
  tableName: process.env.IDEMPOTENCY_TABLE_NAME ?? '',
  awsSdkV3Client: client,
})

export const charge = (clock: () => Date) =>
  middy()
    .use(injectLambdaContext(logger))
    .use(httpErrorHandler({ logger: false }))
    .use(httpJsonBodyParser())
    .use(validator({ eventSchema: transpileSchema(chargeSchema) }) as middy.MiddlewareObj)
    .use(
      makeHandlerIdempotent({
        persistenceStore,
        config: new IdempotencyConfig({
          eventKeyJmesPath: '[headers.Authorization, body.partner_reference]',
          payloadValidationJmesPath: 'body',
          throwOnNoIdempotencyKey: true,
          expiresAfterSeconds: 86_400,
        }),
      }),
    )
    .handler(open(clock) as never) as unknown as (
    event: APIGatewayProxyEvent,
    context: object,
  ) => Promise<APIGatewayProxyResult>

export const handler = charge(() => new Date())
