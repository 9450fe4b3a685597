import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { Item } from '../engine/observations.ts'
import { cancelled, invalid, noSuchTable, reasonOf } from './errors.ts'
import type { TableDefinition } from './keys.ts'
import { storable, type Value } from './values.ts'
import {
  type ReadWrite,
  readWrite,
  type Write,
  type WriteInput,
  type WriteKind,
  writeOf,
} from './writes.ts'

/** One item before and after a write. */
export type Effect = { before: Item | undefined; after: Item | undefined }

type TransactItem = Partial<Record<WriteKind, WriteInput>>

const ITEMS_MAX = 100

/** A copy of what was asked for, to be held against a repeat. */
export const transactItems = (given: unknown): Value => {
  if (!Array.isArray(given) || given.length === 0 || given.length > ITEMS_MAX) {
    throw invalid(`A transaction has one to ${ITEMS_MAX} items`)
  }
  return storable(given)
}

/** The expressions come first: what makes no sense in them is refused whatever was done before. */
export const readTransaction = (items: Value, name: string): ReadWrite[] =>
  (items as readonly TransactItem[]).map((item) => readIn(item, name))

const KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']

const readIn = (item: TransactItem, name: string): ReadWrite => {
  const [kind, second] = KINDS.filter((one) => item[one] !== undefined)
  const input = kind && item[kind]
  if (!input || second) throw invalid('TransactItems can only contain one of its kinds')
  if (input.TableName !== name) throw noSuchTable()
  return readWrite(kind, input)
}

export const transactionWrites = (
  read: readonly ReadWrite[],
  definition: TableDefinition,
): Write[] => {
  const writes = read.map((one) => writeOf(one, definition))
  const keys = new Set(writes.map(({ key }) => `${key.pk}\n${key.sk}`))
  if (keys.size < writes.length) {
    throw invalid('Transaction request cannot include multiple operations on one item')
  }
  return writes
}

const NO_REASON: CancellationReason = { Code: 'None' }

/**
 * What the writes come to, all of them.
 * @throws TransactionCanceledException when there is a reason for any of them not to be done
 */
export const effectsOf = (
  writes: readonly Write[],
  find: (key: Write['key']) => Item | undefined,
): Effect[] => {
  const effects: Effect[] = []
  let reasons: CancellationReason[] | undefined
  writes.forEach((write, n) => {
    const before = find(write.key)
    try {
      effects.push({ before, after: write.next(before) })
      reasons?.push(NO_REASON)
    } catch (error) {
      reasons ??= Array.from({ length: n }, () => NO_REASON)
      reasons.push(reasonOf(error))
    }
  })
  if (reasons) throw cancelled(reasons)
  return effects
}
