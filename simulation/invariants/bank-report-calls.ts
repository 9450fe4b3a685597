import type { ApiCall } from '../engine/observations.ts'
import { codeIn, type Members, membersOf } from './reply.ts'
import { pesewasOfFee } from './time-and-money.ts'

/** A bank's call of one of the two report endpoints. */
export type BankReportCall = {
  call: ApiCall
  bank: string
  uuid: string
  /** The sent status, valid or not. */
  status: unknown
  sent: Members
  /** The error code of a rejection. */
  code: unknown
}

const REPORTS = new Set(['update-debit-transaction', 'debit-callback'])

export const reportsIn = (calls: readonly ApiCall[]): BankReportCall[] =>
  calls.flatMap((call) => {
    if (!REPORTS.has(call.name) || call.caller?.kind !== 'bank') return []
    const sent = membersOf(call.sent)
    return [
      {
        call,
        bank: call.caller.id,
        uuid: String(call.path.uuid),
        status: sent.status,
        sent,
        code:
          call.reply && call.reply.status >= 400 ? codeIn(membersOf(call.reply.body)) : undefined,
      },
    ]
  })

const METHODS = new Set<unknown>(['ussd', 'mobile_api', 'web', 'mobile_app', null, undefined])
const METADATA_BYTES = 8_192

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (sent: unknown): unknown => {
  if (typeof sent !== 'string') return sent
  try {
    return JSON.parse(sent)
  } catch {
    return undefined
  }
}

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max

/** Reports whether a body follows docs/api.md#bank-reports. */
export const isValidReport = ({ name, sent }: ApiCall): boolean => {
  const body = parsed(sent)
  if (!isObject(body)) return false
  const { status, fee, metadata } = body
  const isApproved = status === 'approved' && name === 'debit-callback'
  const isEnd = status === 'completed' || status === 'failed'
  return (
    (isEnd || isApproved) &&
    isText(body.bank_reference, 255) &&
    (status !== 'failed' || isText(body.error_message, Number.POSITIVE_INFINITY)) &&
    METHODS.has(body.approval_method) &&
    (fee === null || fee === undefined || pesewasOfFee(fee) !== undefined) &&
    (metadata === null || metadata === undefined || isObject(metadata)) &&
    JSON.stringify(metadata ?? {}).length <= METADATA_BYTES
  )
}

export const isReporting = (name: string | undefined): boolean =>
  name !== undefined && REPORTS.has(name)
