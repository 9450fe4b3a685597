import type { ApiCall } from '../engine/observations.ts'
import { codeIn, type Members, membersOf } from './reply.ts'

/** What a bank said of a debit, by its update or its callback. */
export type BankReportCall = {
  call: ApiCall
  bank: string
  uuid: string
  /** `completed`, `failed`, `approved`, or whatever else was sent. */
  status: unknown
  sent: Members
  /** The published code of a refusal. */
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

/** The function of a report, told by its name. */
export const isReporting = (name: string | undefined): boolean =>
  name !== undefined && REPORTS.has(name)
