import type { ProviderId } from '../providers/provider.ts'

/** The findings of a reconciliation (docs/api.md#reconciliation), as operators read them. */

/** Without a provider, the subject concerns all of them. */
export type Subject = { provider?: ProviderId; subject: string }

export type Example = Subject & { difference: string }

export type Finding = {
  number: number
  title: string
  checked: number
  differences: number
  examples: Example[]
}
