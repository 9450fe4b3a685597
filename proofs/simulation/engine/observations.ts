/**
 * The observations of one run, which the invariants check: API calls, requests to peers, and every
 * write to the table. Instants are simulated, in milliseconds since 1970.
 */

import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { PayoutResult } from '../../../shared/domain/settlement/payout.ts'
import type * as banks from '../../../shared/operator/nouns/banks.ts'
import type { calendar } from '../../../shared/operator/nouns/calendar.ts'
import type { customer } from '../../../shared/operator/nouns/customers.ts'
import type * as providers from '../../../shared/operator/nouns/providers.ts'
import type { webhook } from '../../../shared/operator/nouns/webhook.ts'
import type { FaultName } from './faults.ts'

type Nouns = typeof providers &
  typeof banks & { customer: typeof customer; webhook: typeof webhook; calendar: typeof calendar }
type ChangesOf<N> = N extends { name: infer Name extends string; verbs: infer Verbs }
  ? {
      [V in keyof Verbs & string]: Verbs[V] extends { effect: 'reads' } ? never : `${Name} ${V}`
    }[keyof Verbs & string]
  : never
export type SettingVerb = ChangesOf<Nouns[keyof Nouns]>

export type Options = Readonly<Record<string, string>>

/** The release of some workers, before or after the one that is tested. */
export type Release = 'earlier' | 'later'

/** One attempt of an API call, by a provider, a bank or an operator. */
export type ApiCall = {
  at: number
  /** The name of the function: `charge`, `update-debit-transaction`, ... */
  name: string
  /** The owner of the credential; undefined for an operator. */
  caller: { kind: 'provider' | 'bank'; id: string } | undefined
  path: Record<string, string>
  token?: string | undefined
  secret?: string | undefined
  /** Milliseconds from the caller's clock to the timestamp that it signs; usually 0. */
  drift?: number
  /** The request body, or an operator's `{ verb, options }`. */
  sent: unknown
  /** Undefined if the function crashed or returned nothing. */
  reply:
    | { at: number; status: number; headers: Record<string, unknown>; body: unknown; raw?: string }
    | undefined
  /** Whether the caller received the reply; otherwise it retries. */
  received: boolean
  /** The invocation that handled it, as in `Change.by`. */
  invocation: number
}

export type Post = {
  at: number
  url: string
  headers: Record<string, string>
  raw: string
  code: number | null
  responseReceived: boolean
  retryAfter?: number
  by?: number | undefined
}

/** What a bank received: where, and signed by which secret. */
type Received = { at: number; url: string; secret: string; bank: string; by?: number | undefined }

export type BankPost = Received & {
  path: '/submissions' | '/settlements' | '/refunds'
  idempotencyKey: string
  body: Record<string, unknown>
  /** Whether the bank acted on it: the idempotency key was new. */
  effective: boolean
  verdict: PayoutResult['kind'] | 'accepted' | 'nothing'
}

/** One query to a bank: of a status, or of the account of a number that is unknown here. */
export type BankQuery = Received & {
  /** The uuid or phone number of the request. */
  uuid: string
  /** `none`: no usable one. */
  answer: BankPost['verdict'] | 'completed' | 'failed' | 'found' | 'none'
  /** Whether the service received the reply in time. */
  isHeard?: boolean
  /** A found account. */
  account?: { account_number: string; active: boolean }
  /** The fee of a completion, as the bank wrote it. */
  fee?: string | number
}

/** Money that a bank moved, as its own books have it. */
export type BookEntry = {
  at: number
  bank: string
  /** From a customer, back to one, to a provider, or to the service. */
  type: 'debit' | 'refund' | 'payout' | 'remittance'
  /** The uuid of the debit, the id of the batch or the reference of the remittance. */
  of: string
  /** In pesewas; a debit is above zero, the others below. */
  amount: number
  /** Whether the service ordered it by a request. */
  isOrdered?: boolean
}

/** `isFinished`: the invocation completed its writes and reported no failure. */
export type InvocationRecord = {
  name: string
  startedAt: number
  /** Undefined while it runs. */
  endedAt?: number
  isFinished: boolean
  late?: readonly string[]
  refused?: readonly string[]
  /** The messages of `process-batch`. */
  payments: string
  /** The debits of messages that SQS delivered before, or that ask for a repeat. */
  repeated: string
}

export type SimulatedProvider = {
  id: string
  /** Undefined for a provider that polls. */
  webhook:
    | { url: string; secret: string; events?: readonly string[]; attemptsMax?: number }
    | undefined
  /** In pesewas; undefined for none. */
  dailyLimit: number | undefined
  /** Undefined for a provider that does not sign at the start. */
  requestSecret: string | undefined
  /** The response to a repeated charge; `return` by default. */
  duplicates?: 'return' | 'reject'
  feeSchedule: FeeSchedule | undefined
  account: Account
}

/** In pesewas. */
export type FeeSchedule = { basisPoints: number; fixed: number; minimum?: number; maximum?: number }

export type Account = { bank: string; number: string; name: string }

/** The settings of a scenario that the invariants know as well. */
export type StageSettings = {
  /** Whether a second operator must approve guarded calls. */
  approvals: boolean
  /** The release of one worker in three; undefined: all have the same. */
  otherRelease: Release | undefined
  /** Whether a payout waits until the recorded remittances cover it. */
  waitsForFunding: boolean
  /** The stage's cap on the prompts of a customer; undefined: none. */
  openPromptsMax: number | undefined
  /** The banks that are asked for numbers that are unknown here, from the start. */
  lookups: readonly string[]
  /** The banks that pay on working days, from the start. */
  workingBanks: readonly string[]
  /** Whether banks act once on a key; otherwise on each POST. */
  isIdempotent: boolean
}

export type RunSetup = StageSettings & {
  startedAt: number
  healedAt: number
  endedAt: number
  /** Whether the scenario has neither faults nor crashes. */
  isHealthy: boolean
  hasSmallSizes: boolean
  /** Whether each query of a bank arrives. */
  isQueried: boolean
  /** The largest clock offset of an invocation, in milliseconds. */
  skew: number
  /** The longest time for which a function may use an old setting. */
  staleMs: number
  /** The unwanted prompts of a provider's day that can ring an alarm. */
  unwantedPromptsLeast: number
  isRestored: boolean
  /** Whether operators repair the debits of all days after the faults. */
  isRepaired: boolean
  providers: readonly SimulatedProvider[]
  banks: readonly string[]
  /** The account number by phone number, at each bank. */
  customerAccounts: Readonly<Record<string, string>>
  endpoints: readonly string[]
  /** Their first connections. */
  connections: Readonly<Record<string, { connectorUrl: string; connectorSecret: string }>>
  /** The providers and banks that do not exist at the start, with the token that is never theirs. */
  absent: Readonly<Record<string, string>>
}

/**
 * A fault. `about` begins with the function that it struck, or with `message`, `record`, `timer`, `index` or
 * `shard`, and names the subjects of the work.
 */
export type Strike = { at: number; name: FaultName; by: string | undefined; about: string }

type Work = { Records?: readonly { body?: string; dynamodb?: { Keys?: object } }[] }

/** Returns the messages of an event, the keys of its records, or a call. */
export const subjectsIn = (event: unknown): string =>
  (event as Work | undefined)?.Records?.map(
    ({ body, dynamodb }) => body ?? JSON.stringify(dynamodb?.Keys),
  ).join(' ') ?? JSON.stringify(event)

/** A metric with its dimensions, and the invocation that measured it. */
export type Measurement = {
  name: string
  value: number
  by: number | undefined
  dimensions: Readonly<Record<string, string | undefined>>
}

/** The customers who were erased at the end of a run, and all items before and after. */
export type Erasure = {
  at: number
  /** Of a debit, from its last event; those before `at` are due. */
  afterDays: number
  phones: readonly string[]
  /** Whose erasure had to wait for open work. */
  refused: readonly string[]
  before: readonly Item[]
  after: readonly Item[]
}

/** The items falsified after a run, and the reconciliation of their day. */
export type FalsifiedDay = {
  date: string
  items: readonly { subject: string; name: string }[]
  result: unknown
}

export type Observations = {
  setup: RunSetup
  /** The table at the end. */
  items: readonly Item[]
  changes: readonly Change[]
  calls: readonly ApiCall[]
  posts: readonly Post[]
  bankPosts: readonly BankPost[]
  queries: readonly BankQuery[]
  books: readonly BookEntry[]
  invocations: ReadonlyMap<number, InvocationRecord>
  /** The files that the service stored in its buckets. */
  reports: readonly { at: number; key: string; text: string }[]
  measurements: readonly Measurement[]
  strikes: readonly Strike[]
  /** Without the calls and changes of the erasures. */
  erasures: readonly Erasure[]
  falsified: FalsifiedDay | undefined
  /** The messages that the sweep sent. */
  repairs: readonly { at: number; queue: string; body: string }[]
}

export type Violation = { invariant: number; about: string; message: string }
