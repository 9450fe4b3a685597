import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { StartFailure } from '../start-failure.ts'

/** Endpoints of a running emulator, such as LocalStack; this process serves the other services. */
export type Endpoints = { dynamoDb?: string; sqs?: string; s3?: string }

/** LocalStack starts a service on its first request. */
const RESPONSE_MS = 60_000

const variables = {
  dynamoDb: 'AWS_ENDPOINT_URL_DYNAMODB',
  sqs: 'AWS_ENDPOINT_URL_SQS',
  s3: 'AWS_ENDPOINT_URL_S3',
} as const

/** Reads the endpoints from AWS_ENDPOINT_URL and its _DYNAMODB, _SQS, _S3. @throws StartFailure */
export const endpointsIn = (env: NodeJS.ProcessEnv): Endpoints => {
  const entries = Object.entries(variables).flatMap(([service, variable]) => {
    const name = env[variable] ? variable : 'AWS_ENDPOINT_URL'
    const url = env[name]
    if (!url) return []
    if (!/^https?:\/\/[^/]+\/?$/.test(url) || !URL.canParse(url)) {
      throw new StartFailure(`${name} is not a URL like http://127.0.0.1:4566: ${url}`)
    }
    return [[service, new URL(url).origin]]
  })
  return Object.fromEntries(entries)
}

/** @throws StartFailure when a service does not respond at its endpoint */
export const assertReachable = async ({ dynamoDb, sqs, s3 }: Endpoints, region: string) => {
  const settings = (endpoint: string) => ({
    endpoint,
    region,
    maxAttempts: 1,
    forcePathStyle: true,
    requestHandler: { requestTimeout: RESPONSE_MS, throwOnRequestTimeout: true },
  })
  const probe = async (
    service: string,
    endpoint: string | undefined,
    ask: (endpoint: string) => Promise<unknown>,
  ): Promise<void> => {
    if (!endpoint) return
    await ask(endpoint).catch((error) => {
      throw new StartFailure(`${service} does not answer at ${endpoint}: ${causeOf(error)}`)
    })
  }
  await probe('DynamoDB', dynamoDb, (endpoint) =>
    new DynamoDBClient(settings(endpoint)).send(new ListTablesCommand()),
  )
  await probe('SQS', sqs, (endpoint) =>
    new SQSClient(settings(endpoint)).send(new ListQueuesCommand()),
  )
  await probe('S3', s3, (endpoint) =>
    new S3Client(settings(endpoint)).send(new ListBucketsCommand()),
  )
}

const causeOf = (error: { code?: string; name?: string; message?: string }): string =>
  error.code ?? error.message?.split('\n')[0] ?? String(error.name)
