import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { createTable } from '../../sandbox/table.ts'

/** A fresh table of its own for this file, under the endpoint that the store's client will use. */
export const useFreshTable = async (): Promise<void> => {
  const endpoint = inject('dynamoDbEndpoint')
  const name = `test-${randomUUID()}`
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, TABLE_NAME: name })
  await createTable(endpoint, name)
}
