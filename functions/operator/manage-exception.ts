import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { exception } from '../../shared/operator/nouns/exception.ts'
import { real } from '../../shared/runtime.ts'
import {
  findLateCompletions,
  type LateCompletion,
  listLateCompletions,
  resolveLateCompletion,
} from '../../shared/store/late-completions.ts'

const view = (late: LateCompletion) => ({
  reference: late.reference,
  provider: late.partner,
  bank: late.bank,
  amount: formatAmount(late.amount),
  bank_reference: late.bankReference,
  fee: late.fee === undefined ? null : formatAmount(late.fee),
  at: late.at.toISOString(),
  reported_by: late.by,
  request_id: late.requestId,
  resolved_at: late.resolvedAt ?? null,
  note: late.note ?? null,
})

const unknown = () => new Refusal(1404, { details: 'no such exception' })

const isIn = (status: 'open' | 'resolved' | undefined) => (late: LateCompletion) =>
  status === undefined || (late.resolvedAt === undefined) === (status === 'open')

export const handler = operatorHandler(exception, {
  list: async ({ status, limit }) =>
    (await listLateCompletions(limit)).filter(isIn(status)).map(view),
  show: async ({ reference }) => {
    const found = await findLateCompletions(reference)
    return found.length > 0 ? found.map(view) : unknown()
  },
  /** However often a bank repeated itself, the money is given back once. */
  resolve: async ({ reference, note }) => {
    const found = await findLateCompletions(reference)
    if (found.length === 0) return unknown()
    const resolution = { note, resolvedAt: real.now().toISOString() }
    for (const late of found) await resolveLateCompletion(late, resolution)
    return (await findLateCompletions(reference)).map(view)
  },
})
