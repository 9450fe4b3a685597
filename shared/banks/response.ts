import * as v from 'valibot'
import { BankReference, ErrorMessage } from '../domain/debits/bank-update.ts'
import type { Uuid } from '../domain/ids.ts'
import { formatAmount, type Pesewas } from '../domain/money.ts'
import { ConnectorFault } from './connector.ts'
import type { BankResponse } from './request.ts'

/** The members of a request that its response repeats. */
export type Echoed = { uuid: Uuid; amount: Pesewas }

/** Rejects responses to another request: cached, swapped or about another amount. */
export const echo = ({ uuid, amount }: Echoed) => ({
  uuid: v.literal(uuid),
  amount: v.literal(formatAmount(amount)),
})

export const rejection = {
  status: v.literal('rejected'),
  message: v.pipe(ErrorMessage, v.nonEmpty()),
  bank_reference: v.nullish(BankReference),
}

export const rejected = ({
  message,
  bank_reference: bankReference,
}: {
  message: string
  bank_reference?: string | null | undefined
}) => ({ kind: 'rejected' as const, message, ...(bankReference ? { bankReference } : {}) })

/** The expected bodies, and the HTTP statuses of each: a proxy's error page matches none. */
type Expected<Reply extends { status: string }> = {
  bodies: v.GenericSchema<unknown, Reply>
  statuses: Record<Reply['status'], number[]>
}

/** @throws ConnectorFault for any other response (docs/bank-protocol.md) */
export const parseResponse = <Reply extends { status: string }>(
  { status, body }: BankResponse,
  { bodies, statuses }: Expected<Reply>,
): Reply => {
  if (status >= 500) throw new ConnectorFault(2500, `HTTP ${status}`)
  const expected = Object.values<number[]>(statuses).flat()
  if (!expected.includes(status)) throw new ConnectorFault(2001, `HTTP ${status}`)
  const { success, output } = v.safeParse(bodies, parseJson(body))
  if (!success || !statuses[output.status as Reply['status']].includes(status)) {
    throw new ConnectorFault(2002, `HTTP ${status} with a reply that does not match the request`)
  }
  return output
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}
