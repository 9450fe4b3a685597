import { AsyncLocalStorage } from 'node:async_hooks'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { actor } from '../../sandbox/authorizer.ts'
import { table, tableName } from '../../shared/store/table.ts'
import type { Change, Item } from '../../simulation/engine/observations.ts'

/** What each write of the real functions changes in the table, seen by reading it again. */

type Key = { pk: string; sk: string }
type Attribute = string | { S: string }
type Written = { Key?: Record<keyof Key, Attribute>; Item?: Record<keyof Key, Attribute> }
type Input = Written & { TransactItems?: { Put?: Written; Update?: Written; Delete?: Written }[] }

const text = (attribute: Attribute): string =>
  typeof attribute === 'string' ? attribute : attribute.S

const keyIn = ({ Key, Item }: Written): Key[] => {
  const named = Key ?? Item
  return named ? [{ pk: text(named.pk), sk: text(named.sk) }] : []
}

/** What a write is about; a check of a transaction changes nothing. */
const keysIn = ({ TransactItems, ...one }: Input): Key[] =>
  TransactItems
    ? TransactItems.flatMap(({ Put, Update, Delete }) => keyIn(Put ?? Update ?? Delete ?? {}))
    : keyIn(one)

const WRITES = /^(?:Put|Update|Delete|TransactWrite)/

const named = ({ pk, sk }: Key): string => `${pk} ${sk}`

/** @param now in epoch milliseconds */
export const watchWrites = async (now: () => number) => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB as string
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint }))
  const changes: Change[] = []
  const asking = { invocation: 0 }
  const known = new Map<string, Item>()
  let transaction = 0

  const note = (before: Item | undefined, after: Item | undefined, name?: string): void => {
    if (JSON.stringify(before) === JSON.stringify(after)) return
    const item = after ?? before
    if (after) known.set(named(after), after)
    else if (item) known.delete(named(item))
    const by = name === undefined ? undefined : { name, invocation: asking.invocation }
    changes.push({ sequence: changes.length + 1, transaction, at: now(), before, after, by })
  }

  const read = async (Key: Key): Promise<Item | undefined> => {
    const wanted = new GetCommand({ TableName: tableName(), Key, ConsistentRead: true })
    return (await client.send(wanted)).Item as Item | undefined
  }

  const noteWritten = async (keys: readonly Key[], name: string | undefined): Promise<void> => {
    const found = await Promise.all(keys.map(read))
    transaction += 1
    for (const [place, key] of keys.entries()) note(known.get(named(key)), found[place], name)
  }

  const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName() }))
  for (const item of Items) note(undefined, item as Item)
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
          await outside(() => noteWritten(keysIn(args.input as Input), name))
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
