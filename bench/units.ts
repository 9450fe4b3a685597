import { AsyncLocalStorage } from 'node:async_hooks'
import { GetCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { SentCommand } from './sends.ts'

/**
 * Units of DynamoDB, as AWS bills them. DynamoDB Local says what a call consumed, but rounds the items
 * of a transaction up as if they were one: there each is measured here.
 */

const UNIT_BYTES = 1_024
const TRANSACTION_FACTOR = 2

type Capacity = {
  CapacityUnits?: number
  Table?: { CapacityUnits?: number }
}

type Key = Record<string, unknown>
type Write = { Item?: Record<string, unknown>; Key?: Key; TableName?: string | undefined }
type Read = (command: GetCommand) => Promise<{ Item?: Record<string, unknown> }>

/** The sandbox holds each function's calls against its role; what is read here is nobody's. */
const asNobody = AsyncLocalStorage.snapshot()

/** @param read reads an item without being counted itself */
export const unitsOf = async (
  command: SentCommand,
  consumed: Capacity | Capacity[] | undefined,
  read: Read,
): Promise<number> => {
  const told = [consumed ?? []].flat()
  const whole = told.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
  if (command.constructor.name !== 'TransactWriteCommand') return whole
  const ofTables = told.reduce((sum, { Table }) => sum + (Table?.CapacityUnits ?? 0), 0)
  const writes = command.input.TransactItems as TransactWriteCommandInput['TransactItems']
  const units = await Promise.all((writes ?? []).map((write) => unitsOfWrite(write, read)))
  return whole - ofTables + units.reduce((sum, one) => sum + one, 0)
}

/** An update costs by the item as it stands after it; here no item shrinks to another unit. */
const unitsOfWrite = async (write: object, read: Read): Promise<number> => {
  const [{ Item, Key, TableName }] = Object.values(write) as [Write]
  const found = Item ? { Item } : await asNobody(() => read(new GetCommand({ TableName, Key })))
  const item = found.Item ?? {}
  return TRANSACTION_FACTOR * Math.max(1, Math.ceil(sizeOf(item) / UNIT_BYTES))
}

/** Bytes that an item counts for: the documented sizes of names and values. */
export const sizeOf = (item: Record<string, unknown>): number =>
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
