import type { Item } from '../engine/observations.ts'
import { invalid } from './errors.ts'
import { attributeIn, valueAt } from './paths.ts'
import type { Value } from './values.ts'
import type { Write, WriteKind } from './writes.ts'

type Attributes = Readonly<Record<string, unknown>>

/** What a write gives back of the item that it changed. */
export const returned = (
  wanted: string | undefined,
  write: Write,
  before: Item | undefined,
  after: Item | undefined,
): { Attributes?: Attributes } => {
  switch (wanted ?? 'NONE') {
    case 'ALL_OLD':
      return before ? { Attributes: before } : {}
    case 'ALL_NEW':
      return after ? { Attributes: after } : {}
    case 'UPDATED_OLD':
      return updatedOf(before, write)
    case 'UPDATED_NEW':
      return updatedOf(after, write)
    default:
      return {}
  }
}

/** Whole attributes, also where an update wrote only into them. */
const updatedOf = (
  item: Item | undefined,
  { paths, bindings }: Write,
): { Attributes?: Attributes } => {
  const part: Record<string, unknown> = {}
  for (const path of paths) {
    if (valueAt(item as Value | undefined, path, bindings) === undefined) continue
    const name = attributeIn(path, bindings)
    part[name] = item?.[name]
  }
  return Object.keys(part).length > 0 ? { Attributes: part } : {}
}

const RETURNS: ReadonlySet<string | undefined> = new Set([
  ...[undefined, 'NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'],
])

/** Only an update tells what it made. */
export const refuseReturn = (wanted: string | undefined, kind: WriteKind): void => {
  if (kind === 'Update' && RETURNS.has(wanted)) return
  if (wanted === undefined || wanted === 'NONE' || wanted === 'ALL_OLD') return
  throw invalid('Return values set to invalid value')
}
