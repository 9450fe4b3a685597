import { AsyncLocalStorage } from 'node:async_hooks'
import { BatchGetCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Command } from '../aws/sdk.ts'
import { sizeOf } from '../aws/table/item-size.ts'
import { tableDefinition } from '../infra/definitions/table.ts'

/**
 * Counts DynamoDB units as AWS bills them. DynamoDB Local reports the units of a call correctly, except
 * for transactions: it rounds all items up together and doubles index units. For transactions, this
 * file counts each item and index entry from its images before and after (docs/benchmarks.md#units).
 */

const UNIT_BYTES = 1_024
/** Applies to items, not to index entries. */
const TRANSACTION_FACTOR = 2

/** Sends the intercepted command, or another one by the same client without intercepting it. */
// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK have no narrower common type
export type Proceed = (other?: Command) => Promise<any>
type Capacity = { CapacityUnits?: number }
type Item = Parameters<typeof sizeOf>[0]
type Image = Item | undefined
type Write = { Item?: Item; Key?: Item; TableName?: string | undefined }

/** Leaves the function's context, so that the sandbox does not check its role for our reads. */
const withoutActor = AsyncLocalStorage.snapshot()

/** Sends a command to the table. Returns the output, the units, and the milliseconds spent counting. */
export const sendMetered = async (command: Command, proceed: Proceed) => {
  if (command.constructor.name !== 'TransactWriteCommand') {
    command.input.ReturnConsumedCapacity = 'TOTAL'
    const output = await proceed()
    return { output, units: consumedUnits(output.ConsumedCapacity), overhead: 0 }
  }
  const transaction = command.input.TransactItems as TransactWriteCommandInput['TransactItems']
  const writes = (transaction ?? []).map((write) => Object.values(write)[0] as Write)
  const startedAt = performance.now()
  const previous = await readImages(writes, proceed)
  const sentAt = performance.now()
  const output = await proceed()
  const receivedAt = performance.now()
  const next = await readImages(writes, proceed)
  const units = writes.map((_, index) => unitsOfWrite(previous[index], next[index]))
  return {
    output,
    units: sum(units),
    overhead: sentAt - startedAt + (performance.now() - receivedAt),
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const consumedUnits = (consumed: Capacity | Capacity[] | undefined): number =>
  sum([consumed ?? []].flat().map(({ CapacityUnits = 0 }) => CapacityUnits))

/** Returns the stored items that a transaction writes, in its order. */
const readImages = async (writes: readonly Write[], proceed: Proceed): Promise<Image[]> => {
  const [{ TableName = '' } = {}] = writes
  const Keys = writes.map(({ Item, Key }) => Key ?? { pk: Item?.pk, sk: Item?.sk })
  const command = new BatchGetCommand({
    RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
  })
  const { Responses } = await withoutActor(() => proceed(command))
  const items: Item[] = Responses?.[TableName] ?? []
  return Keys.map(({ pk, sk }) => items.find((item) => item.pk === pk && item.sk === sk))
}

/** Returns the units of an item that a transaction writes or checks. */
const unitsOfWrite = (previous: Image, next: Image): number => {
  const size = Math.max(sizeOf(previous ?? {}), sizeOf(next ?? {}))
  const entries = tableDefinition.indexes.map((index) => unitsOfEntry(previous, next, index))
  return TRANSACTION_FACTOR * Math.max(1, Math.ceil(size / UNIT_BYTES)) + sum(entries)
}

type Index = (typeof tableDefinition.indexes)[number]

/** A change of keys deletes one entry and puts another; a change of projected attributes updates one. */
const unitsOfEntry = (
  previous: Image,
  next: Image,
  { partitionKey, sortKey, projected }: Index,
): number => {
  const [previousKeys, nextKeys] = [previous, next].map((image) => {
    const values = [image?.[partitionKey], image?.[sortKey]]
    return values.includes(undefined) ? undefined : JSON.stringify(values)
  })
  if (previousKeys !== nextKeys) {
    return Number(previousKeys !== undefined) + Number(nextKeys !== undefined)
  }
  const isUpdated = projected.some((name) => previous?.[name] !== next?.[name])
  return previousKeys !== undefined && isUpdated ? 1 : 0
}
