import { randomUUID } from 'node:crypto'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import { newTable } from '../../sandbox/aws/table/table.ts'

/** Creates a table for a test file and sets it in the environment. */
export const useFreshTable = async (): Promise<void> => {
  const name = `test-${randomUUID()}`
  process.env.TABLE_NAME = name
  const table = newTable({ definition: tableDefinition, name, now: Date.now })
  answerCalls(({ constructor: { name }, input }) =>
    name in table.commands ? perform(() => table.run(name, input)) : undefined,
  )
}
