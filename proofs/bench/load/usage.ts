/** What one function consumes, as AWS bills it. */
export type Usage = {
  invocations: number
  /** DynamoDB units, including indexes. */
  written: number
  read: number
  /** Requests to SQS, including the receive and delete requests of Lambda. */
  sqs: number
  /** Lambda's time by the model of `lambda-time.ts`. */
  gigabyteSeconds: number
  /** Bytes of its own log lines. */
  logged: number
  /** Bytes of webhooks and of replies of the API. */
  sent: number
}

const members = [
  'invocations',
  'written',
  'read',
  'sqs',
  'gigabyteSeconds',
  'logged',
  'sent',
] as const satisfies (keyof Usage)[]

export type UsageByFunction = ReadonlyMap<string, Usage>

const combined = (
  one: Usage | undefined,
  other: Usage | undefined,
  combine: (a: number, b: number) => number,
): Usage =>
  Object.fromEntries(
    members.map((name) => [name, combine(one?.[name] ?? 0, other?.[name] ?? 0)]),
  ) as Usage

export const noUsage = (): Usage => combined(undefined, undefined, () => 0)

export const sumOf = (usages: Iterable<Usage>): Usage =>
  [...usages].reduce((sum, usage) => combined(sum, usage, (a, b) => a + b), noUsage())

/** Returns the usage per debit, without the usage of an equally long run without debits. */
export const perDebit = (
  loaded: UsageByFunction,
  idle: UsageByFunction,
  debits: number,
): Map<string, Usage> =>
  new Map(
    [...loaded].map(([name, usage]) => [
      name,
      combined(usage, idle.get(name), (a, b) => (a - b) / debits),
    ]),
  )
