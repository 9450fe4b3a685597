import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { StartFailure } from './start-failure.ts'

/** Something that speaks for AWS and runs already: LocalStack, or another emulator. */
export type Endpoints = { dynamoDb: string; sqs: string; s3: string }

/** A service of LocalStack starts when it is first asked. */
const ANSWER_MS = 60_000

/**
 * As the SDK's own variables name them: AWS_ENDPOINT_URL, and for a single service
 * AWS_ENDPOINT_URL_DYNAMODB, _SQS and _S3 in its place.
 * @returns undefined without AWS_ENDPOINT_URL: the sandbox brings parts of its own
 * @throws StartFailure
 */
export const endpointsIn = (env: NodeJS.ProcessEnv): Endpoints | undefined => {
  if (!env.AWS_ENDPOINT_URL) return undefined
  const named = (variable: string): string => {
    const [name, url] = env[variable]
      ? [variable, env[variable]]
      : ['AWS_ENDPOINT_URL', env.AWS_ENDPOINT_URL ?? '']
    if (!/^https?:\/\/[^/]+\/?$/.test(url) || !URL.canParse(url)) {
      throw new StartFailure(`${name} is not a URL like http://127.0.0.1:4566: ${url}`)
    }
    return new URL(url).origin
  }
  return {
    dynamoDb: named('AWS_ENDPOINT_URL_DYNAMODB'),
    sqs: named('AWS_ENDPOINT_URL_SQS'),
    s3: named('AWS_ENDPOINT_URL_S3'),
  }
}

/** @throws StartFailure unless every service answers where it is said to be */
export const assertAnswers = async (endpoints: Endpoints, region: string): Promise<void> => {
  const settings = (endpoint: string) => ({
    endpoint,
    region,
    maxAttempts: 1,
    requestHandler: { requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
  })
  const dynamoDb = new DynamoDBClient(settings(endpoints.dynamoDb))
  const sqs = new SQSClient(settings(endpoints.sqs))
  const s3 = new S3Client({ ...settings(endpoints.s3), forcePathStyle: true })
  const questions = [
    ['DynamoDB', endpoints.dynamoDb, () => dynamoDb.send(new ListTablesCommand())],
    ['SQS', endpoints.sqs, () => sqs.send(new ListQueuesCommand())],
    ['S3', endpoints.s3, () => s3.send(new ListBucketsCommand())],
  ] as const
  try {
    for (const [service, endpoint, ask] of questions) {
      await ask().catch((error) => {
        throw new StartFailure(`${service} does not answer at ${endpoint}: ${causeOf(error)}`)
      })
    }
  } finally {
    for (const client of [dynamoDb, sqs, s3]) client.destroy()
  }
}

const causeOf = (error: { code?: string; name?: string; message?: string }): string =>
  error.code ?? error.message?.split('\n')[0] ?? String(error.name)
