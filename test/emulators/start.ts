import type { TestProject } from 'vitest/node'
import type { Endpoints } from '../../sandbox/emulator/endpoints.ts'
import { startDynamoDbLocal } from '../../sandbox/localstack/dynamodb-local.ts'
import { startFauxqs } from './fauxqs.ts'

declare module 'vitest' {
  interface ProvidedContext {
    emulators: Required<Endpoints>
  }
}

/** Starts DynamoDB Local and fauxqs for the run; each test file has its own tables and queues. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  const local = await startDynamoDbLocal({ isShared: false })
  const fauxqs = await startFauxqs('eu-west-1')
  project.provide('emulators', {
    dynamoDb: local.endpoint,
    sqs: fauxqs.endpoint,
    s3: fauxqs.endpoint,
  })
  return async () => {
    await fauxqs.stop()
    await local.stop()
  }
}
