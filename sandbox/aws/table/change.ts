export type Item = Record<string, unknown> & { pk: string; sk: string; entity?: string }

/** One change of one item; the writes of a transaction share its number. */
export type Change = {
  /** Counts the changes from 1 in commit order. */
  sequence: number
  transaction: number
  at: number
  before: Item | undefined
  after: Item | undefined
  /** The invocation that wrote it; undefined outside of invocations. */
  by: { name: string; invocation: number } | undefined
}
