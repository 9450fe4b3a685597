import { invalid, noSuchTable } from './errors.ts'
import { newRequestTokens } from './request-tokens.ts'
import { refuseReturn, returned } from './return-values.ts'
import type { Storage } from './storage.ts'
import type { TableOptions } from './table.ts'
import { effectsOf, readTransaction, transactItems, transactionWrites } from './transactions.ts'
import { readWrite, type WriteInput, type WriteKind, writeOf } from './writes.ts'

export type TransactInput = {
  TransactItems?: unknown
  ClientRequestToken?: string | undefined
}

const TOKEN_LENGTH_MAX = 36

/** The commands that write. */
export const writesOf = (storage: Storage, { definition, name, now }: TableOptions) => {
  const tokens = newRequestTokens()

  const write = (kind: WriteKind, input: WriteInput): Record<string, unknown> => {
    if (input.TableName !== name) throw noSuchTable()
    refuseReturn(input.ReturnValues, kind)
    const found = writeOf(readWrite(kind, input), definition)
    const before = storage.find(found.key)
    const after = found.next(before)
    storage.commit([{ before, after }])
    return returned(input.ReturnValues, found, before, after)
  }

  const transact = ({ TransactItems, ClientRequestToken: token }: TransactInput) => {
    const items = transactItems(TransactItems)
    const read = readTransaction(items, name)
    if (token !== undefined) {
      if (token.length < 1 || token.length > TOKEN_LENGTH_MAX) {
        throw invalid('A client request token has one to 36 characters')
      }
      if (tokens.isDone(token, items, now())) return {}
    }
    storage.commit(effectsOf(transactionWrites(read, definition), storage.find))
    if (token !== undefined) tokens.remember(token, items, now())
    return {}
  }

  return { write, transact }
}
