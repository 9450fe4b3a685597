import { AsyncLocalStorage } from 'node:async_hooks'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { actor } from '../../infra/sandbox/authorizer.ts'
import { table, tableName } from '../../shared/store/table.ts'
import type { Change, Item } from '../../simulation/world/witness.ts'

/** What each write of the real functions changes in the table, seen by reading it all anew. */

const WRITES = /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/

const keyOf = ({ pk, sk }: Item): string => `${pk} ${sk}`

const scan = async (client: DynamoDBDocumentClient): Promise<Map<string, Item>> => {
  const read = new ScanCommand({ TableName: tableName(), ConsistentRead: true })
  const { Items = [] } = await client.send(read)
  return new Map((Items as Item[]).map((item) => [keyOf(item), item]))
}

const isSame = (one: Item | undefined, other: Item | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** @param now in epoch milliseconds */
export const watchWrites = async (now: () => number) => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB as string
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint }))
  const changes: Change[] = []
  const asking = { invocation: 0 }
  let transaction = 0
  let known = new Map<string, Item>()

  const note = async (name: string | undefined): Promise<void> => {
    const found = await scan(client)
    transaction += 1
    for (const key of new Set([...known.keys(), ...found.keys()])) {
      const [before, after] = [known.get(key), found.get(key)]
      if (isSame(before, after)) continue
      const by = name === undefined ? undefined : { name, invocation: asking.invocation }
      changes.push({ sequence: changes.length + 1, transaction, at: now(), before, after, by })
    }
    known = found
  }

  await note(undefined)
  // What is read here is no call of the function that wrote.
  const outside = AsyncLocalStorage.snapshot()
  // One write after the other, so that each is seen by itself.
  let last: Promise<unknown> = Promise.resolve()
  table.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (!WRITES.test(commandName)) return next(args)
        const name = actor()
        const earlier = last
        const { promise, resolve } = Promise.withResolvers<void>()
        last = promise
        await earlier
        try {
          return await next(args)
        } finally {
          await outside(() => note(name))
          resolve()
        }
      },
    { step: 'build', name: 'watched', override: true },
  )
  return {
    changes,
    /** Whose writes those are that follow; 0: of the jobs. */
    asking,
  }
}
