import { isDeepStrictEqual } from 'node:util'
import type { ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import type { ApiCall, Options } from '../engine/observations.ts'
import type { RawDebit, RawException } from './raw-items.ts'
import { pesewasOf } from './time-and-money.ts'

export type Members = Record<string, unknown>

export const membersOf = (value: unknown): Members => {
  if (typeof value === 'string') {
    try {
      return membersOf(JSON.parse(value))
    } catch {
      return {}
    }
  }
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

export const fieldsOf = ({ sent }: Pick<ApiCall, 'sent'>): Members => {
  const body = membersOf(sent)
  return body.debit_request === undefined ? body : membersOf(body.debit_request)
}

export const isReplay = ({ headers }: NonNullable<ApiCall['reply']>): boolean =>
  headers['Idempotent-Replayed'] === 'true'

export const codeIn = (body: Members): unknown => membersOf(body.error).code

export const requestIdOf = ({ headers, body }: NonNullable<ApiCall['reply']>): unknown =>
  headers['X-Request-ID'] ?? headers['x-request-id'] ?? membersOf(membersOf(body).meta).request_id

export const isRefused = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 400 && reply.status < 500

export const isAccepted = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 200 && reply.status < 300

/** Reports whether the effect is unknown: no reply, or a 5xx. */
export const isUnknown = (call: ApiCall): boolean => !isRefused(call) && !isAccepted(call)

/** Returns the calls of banks to the report endpoints; `code` is the error code of a rejection. */
export const reportsIn = (calls: readonly ApiCall[]) =>
  calls.flatMap((call) => {
    const { name, caller, path, reply } = call
    const isReport = name === 'update-debit-transaction' || name === 'debit-callback'
    if (!isReport || caller?.kind !== 'bank') return []
    const sent = membersOf(call.sent)
    const code = reply && reply.status >= 400 ? codeIn(membersOf(reply.body)) : undefined
    return [{ call, bank: caller.id, uuid: String(path.uuid), status: sent.status, sent, code }]
  })

export type OperatorCall = ReturnType<typeof operatorCallsIn>[number]

/** Returns the calls of operators; `requested` is the id of the approval that a call needs. */
export const operatorCallsIn = (calls: readonly ApiCall[]) =>
  calls.flatMap((call) => {
    const [, noun] = call.name.split('manage-')
    if (noun === undefined) return []
    const { verb, actor, approval, ...sent } = membersOf(call.sent)
    const options = membersOf(sent.options) as Record<string, string>
    const reply = membersOf(call.reply?.body)
    const result = membersOf(reply.result)
    const error = JSON.stringify(reply.error ?? '')
    const requested = membersOf(result.approval).id
    return [{ call, noun, verb, actor, options, approval, result, error, requested }]
  })

/** Returns the rows of each uploaded file of a noun, by its id. */
export const uploadsIn = (operatorCalls: readonly OperatorCall[], of: string) => {
  const rows = operatorCalls.flatMap(({ noun, verb, result: { bulk }, options }) =>
    noun === of && verb === 'upload' && bulk
      ? (JSON.parse(options.rows ?? '[]') as unknown[]).map((row) => ({ bulk, row }))
      : [],
  )
  return Map.groupBy(rows, ({ bulk }) => bulk as unknown)
}

/** One person may spell the own name in several ways. */
const personOf = (actor: unknown): string =>
  String(actor)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

type Approved = Pick<OperatorCall, 'noun' | 'verb' | 'options'> & { grantedAt: number }

export const grantedIn = (calls: readonly OperatorCall[]): Approved[] => {
  const requests = new Map(calls.map((call) => [call.requested, call]))
  return calls.flatMap(({ noun, verb, options, actor, call }) => {
    const request = noun === 'approval' && verb === 'grant' && requests.get(options.id)
    return request && actor !== undefined && personOf(request.actor) !== personOf(actor)
      ? [{ ...request, grantedAt: call.at }]
      : []
  })
}

/** Returns the first call that releases a provider after a restore. */
export const releaseOf = (calls: readonly OperatorCall[], provider: string) =>
  calls.find(
    ({ noun, verb, options }) =>
      noun === 'restore' && verb === 'release' && (options.provider ?? provider) === provider,
  )?.call

export const restoreOf = (calls: readonly OperatorCall[]) =>
  calls.find(({ noun, verb }) => noun === 'restore' && verb === 'begin')?.call

/** Reports whether options select an exception by its kind, bank and day. */
export const isSelected = (
  { kind, bank, from, to }: Options,
  one: Pick<RawException, 'kind' | 'bank' | 'at'>,
): boolean => {
  const day = one.at.slice(0, 10)
  const isBetween = from !== undefined && to !== undefined && from <= day && day <= to
  return isBetween && one.kind === kind && one.bank === bank
}

/** Returns whether a call of `exception` is about a debit: the named one, or one of many. */
export const concernsIn = (
  operatorCalls: readonly OperatorCall[],
  exceptionsOf: ReadonlyMap<string, readonly Pick<RawException, 'kind' | 'bank' | 'at'>[]>,
) => {
  const files = uploadsIn(operatorCalls, 'exception')
  return ({ options }: Pick<OperatorCall, 'options'>, subject: string): boolean => {
    const { reference, bulk, from, to } = options
    if (reference !== undefined) return reference === subject
    if (from === undefined || to === undefined)
      return files.get(bulk)?.some(({ row }) => row === subject) ?? false
    return (exceptionsOf.get(subject) ?? []).some((one) => isSelected(options, one))
  }
}

export type Decision = ReturnType<typeof decisionsIn>[number]

/** Returns the calls about exceptions that were carried out; a granted one has the options of its request. */
export const decisionsIn = (operatorCalls: readonly OperatorCall[]) => {
  const requests = new Map(operatorCalls.map((call) => [call.requested, call]))
  return operatorCalls.flatMap(({ noun, requested, approval, verb, options, call }) =>
    noun !== 'exception' || verb === 'upload' || requested !== undefined
      ? []
      : [{ noun, verb, call, approval, options: requests.get(approval ?? '')?.options ?? options }],
  )
}

export const chargeKey = (provider: string, partnerReference: string): string =>
  `${provider}\u0000${partnerReference}`

export type ChargeAttempt = ReturnType<typeof attemptsIn>[number]

const attemptsIn = (calls: readonly ApiCall[]) =>
  calls.flatMap((call) => {
    const fields = fieldsOf(call)
    const { partner_reference: partnerReference } = fields
    const isCharge = call.name === 'charge' && call.caller?.kind === 'provider'
    if (!isCharge || typeof partnerReference !== 'string') return []
    const provider = call.caller?.id ?? ''
    return [{ call, fields, reply: membersOf(call.reply?.body), provider, partnerReference }]
  })

export const chargesIn = (calls: readonly ApiCall[]) =>
  Map.groupBy(attemptsIn(calls), (one) => chargeKey(one.provider, one.partnerReference))

export const matchesRequest = ({ fields }: Pick<ChargeAttempt, 'fields'>, debit: RawDebit) => {
  const matches: Record<keyof ChargeRequest, boolean> = {
    phone_number: fields.phone_number === debit.phone,
    bank_identifier: fields.bank_identifier === debit.bank.identifier,
    amount: pesewasOf(fields.amount) === debit.amount,
    currency: fields.currency === 'GHS',
    narration: fields.narration === debit.narration,
    partner_reference: fields.partner_reference === debit.partnerReference,
    metadata: isDeepStrictEqual(fields.metadata ?? {}, JSON.parse(debit.metadata ?? '{}')),
  }
  return Object.values(matches).every(Boolean)
}
