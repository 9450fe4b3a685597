import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { StartFailure } from './start-failure.ts'

/** Endpoints of a running emulator, such as LocalStack. */
export type Endpoints = { dynamoDb: string; sqs: string; s3: string }

/** LocalStack starts a service on its first request. */
const RESPONSE_MS = 60_000

/**
 * Reads the endpoints from AWS_ENDPOINT_URL, which AWS_ENDPOINT_URL_DYNAMODB, _SQS and _S3 override
 * for a single service, as in the SDK.
 * @returns undefined without AWS_ENDPOINT_URL
 * @throws StartFailure
 */
export const endpointsIn = (env: NodeJS.ProcessEnv): Endpoints | undefined => {
  if (!env.AWS_ENDPOINT_URL) return undefined
  const endpointIn = (variable: string): string => {
    const [name, url] = env[variable]
      ? [variable, env[variable]]
      : ['AWS_ENDPOINT_URL', env.AWS_ENDPOINT_URL ?? '']
    if (!/^https?:\/\/[^/]+\/?$/.test(url) || !URL.canParse(url)) {
      throw new StartFailure(`${name} is not a URL like http://127.0.0.1:4566: ${url}`)
    }
    return new URL(url).origin
  }
  return {
    dynamoDb: endpointIn('AWS_ENDPOINT_URL_DYNAMODB'),
    sqs: endpointIn('AWS_ENDPOINT_URL_SQS'),
    s3: endpointIn('AWS_ENDPOINT_URL_S3'),
  }
}

/** @throws StartFailure when a service does not respond at its endpoint */
export const assertReachable = async (endpoints: Endpoints, region: string): Promise<void> => {
  const settings = (endpoint: string) => ({
    endpoint,
    region,
    maxAttempts: 1,
    requestHandler: { requestTimeout: RESPONSE_MS, throwOnRequestTimeout: true },
  })
  const dynamoDb = new DynamoDBClient(settings(endpoints.dynamoDb))
  const sqs = new SQSClient(settings(endpoints.sqs))
  const s3 = new S3Client({ ...settings(endpoints.s3), forcePathStyle: true })
  const probes = [
    ['DynamoDB', endpoints.dynamoDb, () => dynamoDb.send(new ListTablesCommand())],
    ['SQS', endpoints.sqs, () => sqs.send(new ListQueuesCommand())],
    ['S3', endpoints.s3, () => s3.send(new ListBucketsCommand())],
  ] as const
  try {
    for (const [service, endpoint, probe] of probes) {
      await probe().catch((error) => {
        throw new StartFailure(`${service} does not answer at ${endpoint}: ${causeOf(error)}`)
      })
    }
  } finally {
    for (const client of [dynamoDb, sqs, s3]) client.destroy()
  }
}

const causeOf = (error: { code?: string; name?: string; message?: string }): string =>
  error.code ?? error.message?.split('\n')[0] ?? String(error.name)
