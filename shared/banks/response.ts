import * as v from 'valibot'
import type { Uuid } from '../domain/ids.ts'
import { repeatsKey } from '../domain/json.ts'
import { formatAmount, type Pesewas } from '../domain/money.ts'
import { ConnectorFault } from './connector.ts'
import type { BankResponse } from './request.ts'

/** The members of a request that its response repeats. */
export type Echoed = { uuid: Uuid; amount: Pesewas }

/** Rejects responses to another request: cached, swapped or about another amount. */
export const echo = ({ uuid, amount }: Echoed) => ({
  uuid: v.pipe(v.string(), v.toLowerCase(), v.literal(uuid)),
  amount: v.literal(formatAmount(amount)),
})

export const rejected = ({
  message,
  bank_reference: bankReference,
}: {
  message: string
  bank_reference?: string | null | undefined
}) => ({ kind: 'rejected' as const, message, ...(bankReference ? { bankReference } : {}) })

/** The expected replies by status, with their HTTP statuses: a proxy's error page matches none. */
type Replies = Record<
  string,
  {
    statuses: readonly number[]
    body: v.ObjectSchema<
      { status: v.LiteralSchema<string, undefined> } & v.ObjectEntries,
      undefined
    >
  }
>

/** @throws ConnectorFault for any other response (docs/bank-protocol.md) */
export const parseResponse = <R extends Replies>(
  { status, body }: BankResponse,
  replies: R,
): v.InferOutput<R[keyof R]['body']> => {
  if (status >= 500) throw new ConnectorFault(2500, `HTTP ${status}`)
  const expected = Object.values(replies).filter(({ statuses }) => statuses.includes(status))
  if (expected.length === 0) throw new ConnectorFault(2001, `HTTP ${status}`)
  const schema = v.variant(
    'status',
    expected.map(({ body }) => body),
  )
  const { success, output, issues } = v.safeParse(schema, parseBody(body))
  if (!success) throw new ConnectorFault(2002, `HTTP ${status} with ${wrongMembers(issues)}`)
  return output
}

/** Names the members that a schema refuses. */
export const wrongMembers = (issues: readonly v.BaseIssue<unknown>[]): string =>
  `a wrong ${[...new Set(issues.map(({ path }) => path?.[0]?.key ?? 'body'))].join(', ')}`

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns undefined for a body that is not JSON, or has a key twice. */
export const parseBody = (body: Buffer): unknown => {
  try {
    const text = utf8.decode(body)
    const parsed = JSON.parse(text)
    return repeatsKey(text) ? undefined : parsed
  } catch {
    return undefined
  }
}
