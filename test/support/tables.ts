import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import { newTable } from '../../sandbox/aws/table/table.ts'
import { createTable } from '../../sandbox/emulator/resources.ts'

/** Whether the tests run on DynamoDB Local and fauxqs. */
export const isEmulated = process.env.EMULATORS === 'true'

/** Creates a table for a test file and sets it in the environment. */
export const useFreshTable = async (): Promise<void> => {
  const name = `test-${randomUUID()}`
  process.env.TABLE_NAME = name
  if (isEmulated) {
    const { dynamoDb } = inject('emulators')
    process.env.AWS_ENDPOINT_URL_DYNAMODB = dynamoDb
    await createTable(dynamoDb, name)
    return
  }
  const table = newTable({ definition: tableDefinition, name, now: Date.now })
  answerCalls(({ constructor: { name }, input }) =>
    name in table.commands ? perform(() => table.run(name, input)) : undefined,
  )
}
