import type { BankIdentifier } from '../banks/bank.ts'
import type { ProviderId } from '../providers/provider.ts'

/** The settings of something as an operator reads them; secrets are absent or `changed`. */
export type Fields = Record<string, unknown>

/** What one operator changed, and when: the record that `change list` shows. */
export type Change = {
  at: Date
  /** The caller's ARN, or `local:` and the local user. */
  by: string
  /** The second operator, of a call that needed an approval. */
  approvedBy?: string
  noun: string
  verb: string
  /** The id of what was changed. */
  target: string
  provider?: ProviderId
  bank?: BankIdentifier
  changed: Record<string, { from: unknown; to: unknown }>
}

/** The fields that differ, with their old and new values; null for an absent one. */
export const changedFields = (before: Fields = {}, after: Fields = {}): Change['changed'] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => !isSame(before[name], after[name]))
  return Object.fromEntries(
    differing.map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  )
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** The field of a secret: it shows that the secret exists or changed, and never its value. */
export const secretField = (before: string | undefined, after: string | undefined) => ({
  before: before === undefined ? null : 'set',
  after: after === undefined ? null : after === before ? 'set' : 'changed',
})

/** `*****9001`: the last digits tell one account from another. */
export const maskAccount = (account: string): string => `*****${account.slice(-4)}`
