import type {
  Accepted,
  Completed,
  Failed,
  Paid,
  Rejected,
  RejectedDebit,
  Underway,
} from './bank-wire.ts'

/** The replies of a bank, and the store that repeats them (docs/bank-protocol.md). */

export type Awaitable<T> = T | Promise<T>

export type Kind = 'submission' | 'payout' | 'refund'

type CamelCase<Name> = Name extends `${infer Start}_${infer Rest}`
  ? `${Start}${Capitalize<CamelCase<Rest>>}`
  : Name & string

/** The own members of a reply; the kit adds those that repeat the request. */
type OwnMembers<Reply> = {
  [Name in keyof Reply as CamelCase<Exclude<Name, keyof Identity>>]: object extends Pick<
    Reply,
    Name
  >
    ? Exclude<Reply[Name], null> | undefined
    : Reply[Name]
}

/**
 * `accepted`: the bank will report the outcome. `rejected`: the bank will never debit this.
 * `completed` and `failed`: the outcome is known at once.
 */
export type SubmissionReply = OwnMembers<Accepted> | OwnMembers<RejectedDebit> | DebitOutcome

/** The outcome of a debit. `fee` is text with two decimals. */
export type DebitOutcome = OwnMembers<Completed> | OwnMembers<Failed>

/** `paid` and `rejected` are final. */
export type PaymentReply = OwnMembers<Paid> | OwnMembers<Underway> | OwnMembers<Rejected>

export type Outcome = SubmissionReply | PaymentReply

/**
 * Stores the first reply to each request. Keep one to a submission for at least 35 days.
 * Never delete one to a payout or refund: a repeat can arrive at any time.
 */
export type ReplyStore<Transaction = undefined> = {
  /**
   * Returns the reply with this key. Without one, stores and returns the result of `decide`. Concurrent
   * calls with one key decide once; nothing is stored if `decide` throws. A durable store passes a
   * transaction of the bank's database to `decide` and writes the reply in the same transaction.
   */
  once: (key: string, decide: (transaction: Transaction) => Promise<string>) => Promise<string>
  /** Returns the reply with this key. Waits for a running `once` of the key. */
  read: (key: string) => Awaitable<string | undefined>
}

/** Returns a store for tests: a restart forgets the replies, so that a repeat has a second effect. */
export const memoryStore = <Transaction>(): ReplyStore<Transaction> => {
  const replies = new Map<string, Promise<string>>()
  return {
    once: (key, decide) => {
      const earlier = replies.get(key)
      if (earlier !== undefined) return earlier
      const first = decide(undefined as Transaction)
      replies.set(key, first)
      first.catch(() => replies.delete(key))
      return first
    },
    read: (key) => replies.get(key)?.catch(() => undefined),
  }
}

/** The members of a request that its reply repeats. */
export type Identity = { uuid: string; amount: string }

const PAYMENT_MEMBERS = { paid: ['bankReference'], underway: [], rejected: ['message'] }

/** The service refuses a reply without these members as text. */
const MEMBERS: Record<Kind, Record<string, readonly string[]>> = {
  submission: {
    accepted: ['bankReference'],
    rejected: ['code', 'message'],
    completed: ['bankReference'],
    failed: [],
  },
  payout: PAYMENT_MEMBERS,
  refund: PAYMENT_MEMBERS,
}

/** Statuses whose wrong reference the service ignores. */
const IGNORED = ['failed', 'underway']

// The characters of `bank_reference` in docs/bank-protocol.json.
const CONTROL = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2800]/u

const isText = (value: unknown): value is string => typeof value === 'string' && VISIBLE.test(value)

const isLine = (value: unknown): boolean =>
  isText(value) && [...value].length <= 255 && !CONTROL.test(value)

/**
 * Returns the body of a reply.
 * @throws TypeError for a reply that the service would refuse
 */
export const replyText = (kind: Kind, { uuid, amount }: Identity, outcome: Outcome): string => {
  const { status = '', bankReference } = outcome as Partial<Record<string, string>>
  const members = Object.hasOwn(MEMBERS[kind], status) ? MEMBERS[kind][status] : undefined
  if (!members) throw new TypeError(`a ${kind} cannot be ${status}`)
  const missing = members.find((name) => !isText(outcome[name as keyof Outcome]))
  if (missing) throw new TypeError(`a ${kind} that is ${status} needs ${missing} as text`)
  if (!IGNORED.includes(status) && !isLine(bankReference ?? 'none'))
    throw new TypeError('bankReference must be a line of 1 to 255 characters')
  const message = 'message' in outcome && { message: storedMessage(outcome.message) }
  const reply = Object.entries({ ...outcome, ...message, uuid, amount })
  return JSON.stringify(Object.fromEntries(reply.map(([name, value]) => [snakeCase(name), value])))
}

/** Cuts a message to what the service stores: it refuses a reply above 16 KiB. */
const storedMessage = (message: unknown): unknown =>
  typeof message === 'string' ? [...message.trim()].slice(0, 2_000).join('') : message

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
