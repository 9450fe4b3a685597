import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { createTable } from '../../sandbox/table.ts'

/** Creates a table for a test file and sets it in the environment. */
export const useFreshTable = async (): Promise<void> => {
  const endpoint = inject('dynamoDbEndpoint')
  const name = `test-${randomUUID()}`
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, TABLE_NAME: name })
  await createTable(endpoint, name)
}
