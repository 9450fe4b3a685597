import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { Item } from './change.ts'
import { cancelled, invalid, noSuchTable, reasonOf, tokenMismatch, unsupported } from './errors.ts'
import type { Key, TableDefinition } from './keys.ts'
import type { Replacement, Storage, TableOptions } from './storage.ts'
import { sumOfUnits, unitsOfWrite } from './units.ts'
import { isSame, storable, type Value } from './values.ts'
import { parseWrite, type Write, type WriteInput, type WriteKind } from './write.ts'

type TransactInput = { TransactItems?: unknown; ClientRequestToken?: string | undefined }

type TransactItem = Partial<Record<WriteKind, WriteInput>>

const ITEMS_MAX = 100
const TOKEN_LENGTH_MAX = 36

export const writeCommands = (
  storage: Storage,
  { definition, name, now, onConsumed }: TableOptions,
) => {
  const tokens = newRequestTokens()

  const meter = newMeter(definition, onConsumed)

  const write = (kind: WriteKind) => (input: WriteInput) => {
    if (input.TableName !== name) throw noSuchTable()
    const { key, next, written } = parseWrite(kind, input, definition)
    const before = storage.find(key)
    const replacement = { before, after: before }
    try {
      replacement.after = next(before)
    } finally {
      meter([{ key }], [replacement], { inTransaction: false })
    }
    const { after } = replacement
    storage.commit([replacement])
    return returnValues(input.ReturnValues, after, written)
  }

  const parseItem = (item: TransactItem): Write => {
    const [kind, second] = KINDS.filter((kind) => item[kind] !== undefined)
    const input = kind && item[kind]
    if (!input || second) throw invalid('TransactItems can only contain one of its kinds')
    if (input.TableName !== name) throw noSuchTable()
    return parseWrite(kind, input, definition)
  }

  const transact = ({ TransactItems, ClientRequestToken: token }: TransactInput) => {
    // A copy, to compare with a repeat.
    const items = storable(listIn(TransactItems))
    const writes = (items as readonly TransactItem[]).map(parseItem)
    if (token !== undefined) {
      if (token.length < 1 || token.length > TOKEN_LENGTH_MAX) throw invalid('Invalid token length')
      if (tokens.isDone(token, items, now())) return {}
    }
    let replacements: readonly Replacement[] = writes.map(({ key }) => {
      const before = storage.find(key)
      return { before, after: before }
    })
    try {
      replacements = replacementsOf(writes, storage.find)
    } finally {
      meter(writes, replacements, { inTransaction: true })
    }
    storage.commit(replacements)
    if (token !== undefined) tokens.remember(token, items, now())
    return {}
  }

  return {
    PutCommand: write('Put'),
    UpdateCommand: write('Update'),
    DeleteCommand: write('Delete'),
    TransactWriteCommand: transact,
  }
}

/** Returns a function that counts the units of writes. */
const newMeter =
  ({ indexes }: TableDefinition, onConsumed: TableOptions['onConsumed']) =>
  (
    writes: readonly { key: Key }[],
    replacements: readonly Replacement[],
    { inTransaction }: { inTransaction: boolean },
  ): void => {
    if (!onConsumed) return
    const parts = writes.flatMap(({ key }, index) =>
      unitsOfWrite(key, replacements[index] as Replacement, { indexes, inTransaction }),
    )
    onConsumed({ kind: 'write', units: sumOfUnits(parts), parts })
  }

const listIn = (items: unknown): unknown[] => {
  if (!Array.isArray(items) || items.length < 1) throw invalid('No items')
  if (items.length > ITEMS_MAX) throw invalid(`More than ${ITEMS_MAX} items`)
  return items
}

const KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']

const returnValues = (
  kind: string | undefined,
  after: Item | undefined,
  written: readonly string[],
): { Attributes?: Readonly<Record<string, unknown>> } => {
  switch (kind) {
    case undefined:
      return {}
    case 'ALL_NEW':
      return after ? { Attributes: after } : {}
    case 'UPDATED_NEW': {
      const entries = written.flatMap((name) =>
        after && name in after ? [[name, after[name]]] : [],
      )
      return entries.length > 0 ? { Attributes: Object.fromEntries(entries) } : {}
    }
    default:
      throw unsupported(`ReturnValues: ${kind}`)
  }
}

const NO_REASON: CancellationReason = { Code: 'None' }

/** @throws TransactionCanceledException if any of the writes fails */
const replacementsOf = (
  writes: readonly Write[],
  find: (key: Write['key']) => Item | undefined,
): Replacement[] => {
  if (new Set(writes.map(({ key }) => `${key.pk}\n${key.sk}`)).size < writes.length) {
    throw invalid('Transaction request cannot include multiple operations on one item')
  }
  const replacements: Replacement[] = []
  let reasons: CancellationReason[] | undefined
  writes.forEach((write, index) => {
    const before = find(write.key)
    try {
      replacements.push({ before, after: write.next(before) })
      reasons?.push(NO_REASON)
    } catch (error) {
      reasons ??= Array.from({ length: index }, () => NO_REASON)
      reasons.push(reasonOf(error))
    }
  })
  if (reasons) throw cancelled(reasons)
  return replacements
}

const TOKEN_KEPT_MS = 600_000

/** The transactions of the last ten minutes, by their client request token. */
const newRequestTokens = () => {
  // A Map iterates the oldest first.
  const done = new Map<string, { items: Value; at: number }>()

  const removeOld = (now: number): void => {
    for (const [token, { at }] of done) {
      if (now - at < TOKEN_KEPT_MS) return
      done.delete(token)
    }
  }

  return {
    /** @throws IdempotentParameterMismatchException if the token belongs to another transaction */
    isDone: (token: string, items: Value, now: number): boolean => {
      removeOld(now)
      const previous = done.get(token)
      if (previous && !isSame(previous.items, items)) throw tokenMismatch()
      return previous !== undefined
    },
    remember: (token: string, items: Value, now: number): void => {
      done.set(token, { items, at: now })
    },
  }
}
