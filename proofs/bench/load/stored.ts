import type { Table } from '../../../sandbox/aws/table/table.ts'
import { bytesOf } from '../../../sandbox/aws/table/units.ts'

/** The stored items by entity, without DynamoDB's hundred bytes per item. */
export type Stored = ReadonlyMap<string, { count: number; bytes: number }>

export const storedIn = ({ items }: Pick<Table, 'items'>): Stored => {
  const stored = new Map<string, { count: number; bytes: number }>()
  for (const item of items()) {
    const entity = String(item.entity ?? item.sk)
    const { count, bytes } = stored.get(entity) ?? { count: 0, bytes: 0 }
    stored.set(entity, { count: count + 1, bytes: bytes + bytesOf(item) })
  }
  return stored
}
