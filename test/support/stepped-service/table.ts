import { randomUUID } from 'node:crypto'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { inject } from 'vitest'
import { createTable } from '../../../sandbox/table.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import { openStream } from './stream.ts'
import type { Workers } from './workers.ts'

/** A table of its own for each world, in which every write is a side effect of its worker. */

export type Item = Record<string, unknown> & { pk: string; sk: string; entity?: string }

const WRITES = /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/

type Written = { Key?: object; Item?: object }

/** Of a key in either spelling. */
const sortKeyIn = ({ Key, Item }: Written): string => {
  const { sk } = (Key ?? Item ?? {}) as { sk?: string | { S: string } }
  return (typeof sk === 'object' ? sk.S : sk) ?? ''
}

export const openTable = async (workers: Workers) => {
  const endpoint = inject('dynamoDbEndpoint')
  const name = `test-${randomUUID()}`
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, TABLE_NAME: name })
  const stream = await openStream(endpoint, await createTable(endpoint, name))
  let writes = 0
  let read = 0
  table.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        WRITES.test(commandName)
          ? workers.effect(`${commandName} ${sortKeyIn(args.input as Written)}`, () =>
              next(args).finally(() => {
                writes += 1
              }),
            )
          : workers.read(() => next(args)),
    { step: 'initialize', name: 'world', override: true },
  )
  /** What a read of it all gives, read again only after a write. */
  const sinceWrite = <T>(readAll: () => Promise<T>) => {
    let known: { writes: number; found: Promise<T> } | undefined
    return (): Promise<T> => {
      if (known?.writes !== writes) known = { writes, found: readAll() }
      return known.found
    }
  }
  return {
    /** What was written since the last time. */
    readStream: async (): Promise<DynamoDBRecord[]> => {
      if (read === writes) return []
      read = writes
      return stream()
    },
    /** Everything, as it is kept. */
    items: sinceWrite(async (): Promise<Item[]> => {
      const { Items = [] } = await table.send(
        new ScanCommand({ TableName: tableName(), ConsistentRead: true }),
      )
      return Items as Item[]
    }),
  }
}
