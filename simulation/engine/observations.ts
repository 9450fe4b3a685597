/**
 * All that could be seen of one simulated world: from outside, by those who call it and are called
 * by it, and from inside, by what was written into the table. The invariants are checked on this
 * alone. Every instant is the world's own, in milliseconds since 1970; amounts are as they were
 * sent or are storage.
 */

/** An item as the document client gives it: plain JavaScript values. */
export type Item = Record<string, unknown> & { pk: string; sk: string; entity?: string }

/** One item changed by one committed write; writes of one transaction share its number. */
export type Change = {
  /** Counts all changes from 1, in the order of their commits. */
  sequence: number
  transaction: number
  at: number
  before: Item | undefined
  after: Item | undefined
  /** The invocation that wrote it; undefined for what the setup was furnished with. */
  by: { name: string; invocation: number } | undefined
}

/** One try of a request at the API, by a provider, a bank or an operator. */
export type ApiCall = {
  at: number
  /** The file of the function: `charge`, `update-debit-transaction`, `manage-debit`, ... */
  name: string
  /** Whose credential it carried; an operator has none. */
  caller: { kind: 'provider' | 'bank'; id: string } | undefined
  path: Record<string, string>
  /** The body as it was sent (or, of an operator, `{ verb, options }`). */
  sent: unknown
  /** What came of it; undefined when the function died or the answer never came into being. */
  reply:
    | {
        at: number
        status: number
        headers: Record<string, unknown>
        /** Parsed; of an operator, what the function returned. */
        body: unknown
        /** As it was sent, where it is the text of a reply. */
        raw?: string
      }
    | undefined
  /** Whether the caller got to see the reply. One that did not asks again. */
  received: boolean
  /** The invocation that took it, as `Change.by` names it. */
  invocation: number
}

/** One webhook as it came to a receiver. */
export type Post = {
  at: number
  url: string
  headers: Record<string, string>
  /** The exact bytes of the body. */
  raw: string
  /** What the receiver answered; null: it took the body and gave no answer. */
  code: number | null
  /** Whether the sender got the answer. */
  responseReceived: boolean
  /** The `Retry-After` of the answer, in seconds. */
  retryAfter?: number
  /** The invocation that sent it, as `Change.by` names it. */
  by?: number | undefined
}

/** One POST as it came to a bank: a debit, the payment of a batch, or a refund. */
export type BankPost = {
  at: number
  bank: string
  path: '/submissions' | '/settlements' | '/refunds'
  idempotencyKey: string
  body: Record<string, unknown>
  /** Whether the bank acted on it: it knew no such key before. */
  effective: boolean
  /** What the bank has made of this key, as it would say when call. */
  verdict: 'accepted' | 'rejected' | 'paid' | 'underway' | 'nothing'
}

/** A question about a debit as it came to a bank, and the status in its reply. */
export type BankQuery = {
  at: number
  bank: string
  uuid: string
  answer: BankPost['verdict'] | 'completed' | 'failed'
}

/** `isFinished`: its worker was not lost, and it reported no failure, so that its writes were made. */
export type InvocationRecord = { startedAt: number; isFinished: boolean }

export type SimulatedProvider = {
  id: string
  /** Its webhook; undefined for a provider that polls. */
  webhook:
    | { url: string; secret: string; events?: readonly string[]; attemptsMax?: number }
    | undefined
  /** In pesewas; undefined: none. */
  dailyLimit: number | undefined
  /** What a repeated charge gets; absent: the debit that there is. */
  duplicates?: 'return' | 'reject'
  feeSchedule:
    | { basisPoints: number; fixed: number; minimum?: number; maximum?: number }
    | undefined
}

export type RunSetup = {
  seed: number
  referencePrefix: string
  startedAt: number
  /** From current on nothing goes wrong any more and the world is left to come to rest. */
  healedAt: number
  endedAt: number
  /** Whether anything at all was to go wrong in this world. */
  isHealthy: boolean
  /** How far the clock of a worker may be away from the world's, in milliseconds. */
  skew: number
  providers: readonly SimulatedProvider[]
  banks: readonly string[]
  /** The banks with endpoints of their own, which can be call. */
  endpoints: readonly string[]
}

export type Observations = {
  setup: RunSetup
  /** The whole table when the world had come to rest. */
  items: readonly Item[]
  changes: readonly Change[]
  calls: readonly ApiCall[]
  posts: readonly Post[]
  bankPosts: readonly BankPost[]
  queries: readonly BankQuery[]
  /** As far as they are known. */
  invocations: ReadonlyMap<number, InvocationRecord>
}

/** What is wrong, by the number of the invariant (docs/simulation.md). */
export type Violation = { invariant: number; about: string; message: string }
