import type { Asked } from '../engine/observations.ts'
import { codeIn, type Members, membersOf } from './reply.ts'

/** What a bank said of a debit, by its update or its callback. */
export type BankReport = {
  asked: Asked
  bank: string
  uuid: string
  /** `completed`, `failed`, `approved`, or whatever else was sent. */
  status: unknown
  sent: Members
  /** The published code of a refusal. */
  code: unknown
}

const REPORTS = new Set(['update-debit-transaction', 'debit-callback'])

export const reportsIn = (asked: readonly Asked[]): BankReport[] =>
  asked.flatMap((one) => {
    if (!REPORTS.has(one.name) || one.caller?.kind !== 'bank') return []
    const sent = membersOf(one.sent)
    return [
      {
        asked: one,
        bank: one.caller.id,
        uuid: String(one.path.uuid),
        status: sent.status,
        sent,
        code: one.reply && one.reply.status >= 400 ? codeIn(membersOf(one.reply.body)) : undefined,
      },
    ]
  })

/** The function of a report, told by its name. */
export const isReporting = (name: string | undefined): boolean =>
  name !== undefined && REPORTS.has(name)
