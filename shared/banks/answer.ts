import * as v from 'valibot'
import { text } from '../domain/text.ts'
import { ConnectorFault } from './connector-fault.ts'
import type { Answer } from './exchange.ts'

/** What is read from the answers of a bank in our protocol (docs/bank-protocol.md). */

export const BankReference = text({ max: 100 })

/** What stands in every rejection. */
export const rejection = {
  status: v.literal('rejected'),
  message: text({ max: 200 }),
  bank_reference: v.optional(BankReference),
}

export const rejected = (said: { message: string; bank_reference?: string | undefined }) => ({
  kind: 'rejected' as const,
  message: said.message,
  ...(said.bank_reference === undefined ? {} : { bankReference: said.bank_reference }),
})

/** The only answers there are. Each has its HTTP statuses, so that a proxy's page is none of them. */
type Answers<Said extends { status: string }> = {
  bodies: v.GenericSchema<unknown, Said>
  statuses: Record<Said['status'], number[]>
}

/** @throws ConnectorFault for whatever is not one of the answers */
export const saidIn = <Said extends { status: string }>(
  { status, body }: Answer,
  { bodies, statuses }: Answers<Said>,
): Said => {
  if (status >= 500) throw new ConnectorFault(2500, `HTTP ${status}`)
  const known = Object.values<number[]>(statuses).flat()
  if (!known.includes(status)) throw new ConnectorFault(2001, `HTTP ${status}`)
  const { success, output } = v.safeParse(bodies, parsed(body))
  if (!success || !statuses[output.status as Said['status']].includes(status)) {
    throw new ConnectorFault(2002, `HTTP ${status} with an answer that is not in the protocol`)
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
