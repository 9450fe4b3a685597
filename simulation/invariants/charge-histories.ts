import type { ApiCall } from '../engine/observations.ts'
import type { RawDebit } from './raw-items.ts'
import { type Members, membersOf } from './reply.ts'
import { pesewasOf } from './time-and-money.ts'

/** The attempts of one charge: those of one provider with one reference. */

export type ChargeRequest = {
  partnerReference: string
  amount: number | undefined
  currency: unknown
  phone: unknown
  bank: unknown
  narration: unknown
  metadata: unknown
}

/** `reply` is the parsed body of the reply. */
export type ChargeAttempt = { call: ApiCall; request: ChargeRequest; reply: Members }

export type ChargeHistory = { provider: string; partnerReference: string; tries: ChargeAttempt[] }

const requestIn = (sent: unknown): ChargeRequest | undefined => {
  const body = membersOf(sent)
  const flat = body.debit_request === undefined ? body : membersOf(body.debit_request)
  const partnerReference = flat.partner_reference
  if (typeof partnerReference !== 'string') return undefined
  return {
    partnerReference,
    amount: pesewasOf(flat.amount),
    currency: flat.currency,
    phone: flat.phone_number,
    bank: flat.bank_identifier,
    narration: flat.narration,
    metadata: flat.metadata,
  }
}

export const chargeKey = (provider: string, partnerReference: string): string =>
  `${provider}\u0000${partnerReference}`

export const chargesIn = (calls: readonly ApiCall[]): Map<string, ChargeHistory> => {
  const charges = new Map<string, ChargeHistory>()
  for (const call of calls) {
    if (call.name !== 'charge' || call.caller?.kind !== 'provider') continue
    const request = requestIn(call.sent)
    if (!request) continue
    const { partnerReference } = request
    const key = chargeKey(call.caller.id, partnerReference)
    const known = charges.get(key)
    const tried = { call, request, reply: membersOf(call.reply?.body) }
    if (known) known.tries.push(tried)
    else charges.set(key, { provider: call.caller.id, partnerReference, tries: [tried] })
  }
  return charges
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return members.map(([name, member]) => [name, sorted(member)])
}

const spelled = (metadata: unknown): string => JSON.stringify(sorted(metadata ?? {}))

/** Reports whether a debit has the requested facts. */
export const matchesRequest = (request: ChargeRequest, debit: RawDebit): boolean =>
  request.amount === debit.amount &&
  request.currency === 'GHS' &&
  request.phone === debit.phone &&
  request.bank === debit.bank.identifier &&
  request.narration === debit.narration &&
  spelled(request.metadata) === spelled(debit.metadata && JSON.parse(debit.metadata))
