import { randomUUID } from 'node:crypto'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import { newTable, type Table } from '../../sandbox/aws/table/table.ts'
import { tableName } from '../../shared/store/table.ts'

/** Answers the calls of the table in memory, and all others by `answer`. */
export const useTable = (
  options: Partial<Parameters<typeof newTable>[0]> = {},
  answer: (name: string, input: object) => Promise<unknown> | undefined = () => undefined,
): Table => {
  const table = newTable({
    ...{ definition: tableDefinition, name: tableName(), now: Date.now },
    ...options,
  })
  answerCalls(({ constructor: { name }, input }) =>
    name in table.commands ? perform(() => table.run(name, input)) : answer(name, input),
  )
  return table
}

/** Creates a table for a test file and sets it in the environment. */
export const useFreshTable = async (): Promise<void> => {
  process.env.TABLE_NAME = `test-${randomUUID()}`
  useTable()
}
