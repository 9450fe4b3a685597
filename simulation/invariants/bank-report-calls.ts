import type { ApiCall } from '../engine/observations.ts'
import { codeIn, type Members, membersOf } from './reply.ts'

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

export const isReporting = (name: string | undefined): boolean =>
  name !== undefined && REPORTS.has(name)
