import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FunctionName } from '../../infra/definitions/function-permissions.ts'
import { newAws } from '../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../sandbox/aws/clock.ts'
import { perform } from '../../sandbox/aws/sdk.ts'
import { openAwsEndpoint } from '../../sandbox/bundles/aws-endpoint.ts'
import { signedObject } from '../../sandbox/signed-object.ts'
import { takeRefused } from '../support/permissions/record.ts'

/** The AWS endpoint for functions in other processes, which their session tokens name. */

const TableName = 'table'
const Bucket = 'reports'
const aws = newAws({
  clock: newSteppedClock(Date.now()),
  tableName: TableName,
  invoke: async () => ({ kind: 'failed' }),
})
const cleanup = new AsyncDisposableStack()
let endpoint = ''
beforeAll(async () => {
  endpoint = await openAwsEndpoint(
    {
      answer: ({ constructor: { name }, input }) =>
        aws.serviceOf(name) && perform(() => aws.perform(name, input)),
      readObject: (url) => signedObject(url, aws.bucket.objects),
    },
    cleanup,
  )
})
afterAll(() => cleanup.disposeAsync())

const credentialsOf = (sessionToken: string) => ({
  accessKeyId: String(process.env.AWS_ACCESS_KEY_ID),
  secretAccessKey: String(process.env.AWS_SECRET_ACCESS_KEY),
  sessionToken,
})

const tableOf = (name: FunctionName | 'nobody') =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, credentials: credentialsOf(name) }))

const s3Of = (name: FunctionName) =>
  new S3Client({ endpoint, forcePathStyle: true, credentials: credentialsOf(name) })

const debit = { pk: 'DEBIT#DCS-20261122-ABC123', sk: 'DEBIT' }

const putDebit = () =>
  new TransactWriteCommand({
    TransactItems: [
      {
        Put: {
          TableName,
          Item: { ...debit, entity: 'debit', S: 'text', M: { N: 1 }, L: [{ BOOL: false }, null] },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ],
  })

test('the items keep their values, also in attributes with names of types, and errors their reasons', async () => {
  const table = tableOf('charge')
  await table.send(putDebit())
  const { Item } = await table.send(new GetCommand({ TableName, Key: debit, ConsistentRead: true }))
  expect(Item).toMatchObject({ S: 'text', M: { N: 1 }, L: [{ BOOL: false }, null] })
  await expect(table.send(putDebit())).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
  })
})

test('a function is denied a call that its role does not allow', async () => {
  await expect(tableOf('get-bank').send(putDebit())).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining('get-bank is not allowed dynamodb:PutItem on table DEBIT#'),
  })
  expect(takeRefused()).toHaveLength(1)
})

test('the endpoint refuses credentials that name no function, and pages of other hosts', async () => {
  const unknown = { name: 'UnrecognizedClientException' }
  await expect(tableOf('nobody').send(putDebit())).rejects.toMatchObject(unknown)
  const headers = { 'X-Amz-Security-Token': 'charge', 'X-Amz-Target': 'secretsmanager.Any' }
  const request = {
    method: 'POST',
    body: '{}',
    headers: { ...headers, Origin: 'http://a.example' },
  }
  const { status } = await fetch(endpoint, request)
  expect(status).toBe(403)
})

test('a presigned URL downloads its object until it expires, and no other', async () => {
  const place = { Bucket, Key: 'settlements/demo/STL-20261122-ABCDEF.csv' }
  const s3 = s3Of('build-batch')
  const content = { ContentType: 'text/csv', ContentDisposition: 'attachment' }
  await s3.send(new PutObjectCommand({ ...place, ...content, Body: 'a,b' }))
  const urlAt = (signingDate: Date) =>
    getSignedUrl(s3, new GetObjectCommand(place), { expiresIn: 60, signingDate })
  const url = await urlAt(new Date())
  const file = await fetch(url)
  expect([file.status, await file.text()]).toEqual([200, 'a,b'])
  expect(file.headers.get('content-disposition')).toBe('attachment')
  const expired = await urlAt(new Date(Date.now() - 61_000))
  for (const other of [expired, url.replace('.csv', '.json'), url.split('?')[0] ?? '']) {
    expect((await fetch(other)).status).toBe(403)
  }
  expect((await fetch(url, { method: 'PUT', body: 'forged' })).status).toBe(403)
})

test('a request without a protocol of AWS ends only its own connection', async () => {
  const headers = { 'X-Amz-Target': 'DynamoDB_20120810.GetItem' }
  await expect(fetch(endpoint, { method: 'POST', body: '{', headers })).rejects.toThrow('fetch')
  expect((await fetch(endpoint)).status).toBe(403)
})
