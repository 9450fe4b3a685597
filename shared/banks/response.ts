import * as v from 'valibot'
import { BankReference, ErrorMessage } from '../domain/debits/bank-update.ts'
import type { Uuid } from '../domain/ids.ts'
import { formatAmount, type Pesewas } from '../domain/money.ts'
import { ConnectorFault } from './connector-fault.ts'
import type { BankResponse } from './request.ts'

/** What is read from the answers of a bank in our protocol (docs/bank-protocol.md). */

/**
 * Ties a reply to its request: a cached reply, a crossed one or one about another amount is no
 * answer to it.
 */
export const echo = ({ uuid, amount }: { uuid: Uuid; amount: Pesewas }) => ({
  uuid: v.literal(uuid),
  amount: v.literal(formatAmount(amount)),
})

/** The fields of every rejection. */
export const rejection = {
  status: v.literal('rejected'),
  message: v.pipe(ErrorMessage, v.nonEmpty()),
  bank_reference: v.nullish(BankReference),
}

export const rejected = (said: {
  message: string
  bank_reference?: string | null | undefined
}) => ({
  kind: 'rejected' as const,
  message: said.message,
  ...(said.bank_reference ? { bankReference: said.bank_reference } : {}),
})

/** The only answers there are. Each has its HTTP statuses, so that a proxy's page is none of them. */
type Answers<Said extends { status: string }> = {
  bodies: v.GenericSchema<unknown, Said>
  statuses: Record<Said['status'], number[]>
}

/** @throws ConnectorFault for whatever is not one of the answers */
export const parseResponse = <Said extends { status: string }>(
  { status, body }: BankResponse,
  { bodies, statuses }: Answers<Said>,
): Said => {
  if (status >= 500) throw new ConnectorFault(2500, `HTTP ${status}`)
  const known = Object.values<number[]>(statuses).flat()
  if (!known.includes(status)) throw new ConnectorFault(2001, `HTTP ${status}`)
  const { success, output } = v.safeParse(bodies, parsed(body))
  if (!success || !statuses[output.status as Said['status']].includes(status)) {
    throw new ConnectorFault(2002, `HTTP ${status} with a reply that does not match the request`)
  }
  return output
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @returns undefined for what is no JSON */
const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}
