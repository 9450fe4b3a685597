import { AsyncLocalStorage } from 'node:async_hooks'
import { BatchGetCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { tableDefinition } from '../infra/definitions/table.ts'
import type { Onwards, SentCommand } from './sends.ts'

/**
 * Units of DynamoDB, as AWS bills them. DynamoDB Local says what a call consumed, and is right but for
 * transactions: there it rounds all items up as if they were one, and counts indexes twice. In those
 * each item and each of its index entries is measured here, by how it stood before and after, and
 * counted as it was seen to be counted on AWS (nubo-db/dynoxide, pull request 188).
 */

const UNIT_BYTES = 1_024
/** Of items alone: an entry of an index costs what it costs without a transaction. */
const TRANSACTION_FACTOR = 2

type Capacity = { CapacityUnits?: number }
type Item = Record<string, unknown>
type Image = Item | undefined
type Write = { Item?: Item; Key?: Item; TableName?: string | undefined }

/** The sandbox holds each function's calls against its role; what is read here is nobody's. */
const asNobody = AsyncLocalStorage.snapshot()

/**
 * Sends a call to the table, and counts it.
 * @param onwards sends it, or another command, which is not counted
 * @returns with the answer its units, and the milliseconds that counting took
 */
export const sendMetered = async (command: SentCommand, onwards: Onwards) => {
  if (command.constructor.name !== 'TransactWriteCommand') {
    command.input.ReturnConsumedCapacity = 'TOTAL'
    const output = await onwards()
    return { output, units: unitsTold(output.ConsumedCapacity), counting: 0 }
  }
  const transaction = command.input.TransactItems as TransactWriteCommandInput['TransactItems']
  const writes = (transaction ?? []).map((write) => Object.values(write)[0] as Write)
  const start = performance.now()
  const before = await imagesOf(writes, onwards)
  const sentAt = performance.now()
  const output = await onwards()
  const answeredAt = performance.now()
  const after = await imagesOf(writes, onwards)
  const units = writes.map((_, n) => unitsOfWrite(before[n], after[n]))
  return {
    output,
    units: units.reduce((sum, one) => sum + one, 0),
    counting: sentAt - start + (performance.now() - answeredAt),
  }
}

const unitsTold = (consumed: Capacity | Capacity[] | undefined): number =>
  [consumed ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)

/** The items that a transaction writes, as they stand now, in its order. */
const imagesOf = async (writes: readonly Write[], onwards: Onwards): Promise<Image[]> => {
  const [{ TableName = '' } = {}] = writes
  const Keys = writes.map(({ Item, Key }) => Key ?? { pk: Item?.pk, sk: Item?.sk })
  const command = new BatchGetCommand({
    RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
  })
  const { Responses } = await asNobody(() => onwards(command))
  const found: Item[] = Responses?.[TableName] ?? []
  return Keys.map(({ pk, sk }) => found.find((item) => item.pk === pk && item.sk === sk))
}

/** Of an item that a transaction writes, or only holds to a condition. */
export const unitsOfWrite = (before: Image, after: Image): number => {
  const size = Math.max(sizeOf(before ?? {}), sizeOf(after ?? {}))
  const entries = tableDefinition.indexes.map((index) => unitsOfEntry(before, after, index))
  const inTable = TRANSACTION_FACTOR * Math.max(1, Math.ceil(size / UNIT_BYTES))
  return inTable + entries.reduce((sum, one) => sum + one, 0)
}

type Index = (typeof tableDefinition.indexes)[number]

/** Other keys delete one entry and put another; other projected attributes update the entry. */
const unitsOfEntry = (
  before: Image,
  after: Image,
  { partitionKey, sortKey, projected }: Index,
): number => {
  const [gone, come] = [before, after].map((image) => {
    const keys = [image?.[partitionKey], image?.[sortKey]]
    return keys.includes(undefined) ? undefined : JSON.stringify(keys)
  })
  if (gone !== come) return Number(gone !== undefined) + Number(come !== undefined)
  return gone !== undefined && projected.some((name) => before?.[name] !== after?.[name]) ? 1 : 0
}

/** Bytes that an item counts for: the documented sizes of names and values. */
export const sizeOf = (item: Item): number =>
  Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value), 0)

const CONTAINER_BYTES = 3

const sizeOfValue = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // One byte for two digits, and one.
  if (typeof value === 'number') return Math.ceil(String(Math.abs(value)).length / 2) + 1
  if (typeof value !== 'object' || value === null) return 1
  const members = Array.isArray(value)
    ? value.map((one) => ['', one] as const)
    : Object.entries(value)
  const inner = members
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => 1 + Buffer.byteLength(name) + sizeOfValue(member))
  return CONTAINER_BYTES + inner.reduce((sum, one) => sum + one, 0)
}
