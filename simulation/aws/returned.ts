import type { Item } from '../world/witness.ts'
import { projected } from './projections.ts'
import { invalid } from './refusals.ts'
import type { Value } from './values.ts'
import type { Write, WriteKind } from './writes.ts'

type Attributes = Readonly<Record<string, unknown>>

/** What a write gives back of the item that it changed. */
export const returned = (
  wanted: string | undefined,
  { paths, bindings }: Write,
  before: Item | undefined,
  after: Item | undefined,
): { Attributes?: Attributes } => {
  switch (wanted ?? 'NONE') {
    case 'ALL_OLD':
      return before ? { Attributes: before } : {}
    case 'ALL_NEW':
      return after ? { Attributes: after } : {}
    case 'UPDATED_OLD':
    case 'UPDATED_NEW': {
      const item = wanted === 'UPDATED_OLD' ? before : after
      const part = item ? projected(item as Record<string, Value>, paths, bindings) : {}
      return Object.keys(part).length > 0 ? { Attributes: part } : {}
    }
    default:
      return {}
  }
}

/** Only an update tells what it made. */
export const refuseReturn = (wanted: string | undefined, kind: WriteKind): void => {
  if (kind === 'Update' || wanted === undefined || wanted === 'NONE' || wanted === 'ALL_OLD') return
  throw invalid('Return values set to invalid value')
}
