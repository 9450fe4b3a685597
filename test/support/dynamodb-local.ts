import type { TestProject } from 'vitest/node'
import { startDynamoDbLocal } from '../../sandbox/localstack/dynamodb-local.ts'

declare module 'vitest' {
  interface ProvidedContext {
    dynamoDbLocal: string
  }
}

/** Starts DynamoDB Local for the run; each test has its own tables. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  const { endpoint, stop } = await startDynamoDbLocal()
  project.provide('dynamoDbLocal', endpoint)
  return stop
}
