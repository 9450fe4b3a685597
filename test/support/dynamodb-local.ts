import type { TestProject } from 'vitest/node'
import { startDynamoDbLocal } from '../../sandbox/dynamodb-local.ts'

declare module 'vitest' {
  interface ProvidedContext {
    dynamoDbEndpoint: string
  }
}

/** Starts one DynamoDB Local for the run; each test file has its own tables. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  const local = await startDynamoDbLocal({ isShared: false })
  project.provide('dynamoDbEndpoint', local.endpoint)
  return local.stop
}
