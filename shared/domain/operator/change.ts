import type { BankIdentifier } from '../banks/bank.ts'
import type { ProviderId } from '../providers/provider.ts'

/** Settings as operators read them; secrets are absent or `changed`. */
export type Fields = Record<string, unknown>

/** A change by an operator (docs/api.md#changes). */
export type Change = {
  at: Date
  /** The caller's ARN, or `local:` and the local user. */
  by: string
  /** The second operator, of a call that needed an approval. */
  approvedBy?: string
  noun: string
  verb: string
  /** The id of the changed object. */
  target: string
  provider?: ProviderId
  bank?: BankIdentifier
  changed: Record<string, { from: unknown; to: unknown }>
}

/** Returns the fields that differ, with their old and new values; null for an absent one. */
export const changedFields = (previous: Fields = {}, next: Fields = {}): Change['changed'] => {
  const names = [...new Set([...Object.keys(previous), ...Object.keys(next)])]
  const differing = names.filter((name) => !isSame(previous[name], next[name]))
  return Object.fromEntries(
    differing.map((name) => [name, { from: previous[name] ?? null, to: next[name] ?? null }]),
  )
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** Returns the field of a secret, which shows whether it exists or changed, never its value. */
export const secretField = (previous: string | undefined, next: string | undefined) => ({
  previous: previous === undefined ? null : 'set',
  next: next === undefined ? null : next === previous ? 'set' : 'changed',
})
