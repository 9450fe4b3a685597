import * as v from 'valibot'
import { formatAmount } from '../../shared/domain/money.ts'
import { options, wholeNumber } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { type LateCompletion, listLateCompletions } from '../../shared/store/late-completions.ts'

const NEWEST = { otherwise: 100, min: 1, max: 1_000 }

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
})

export const handler = operatorHandler({
  /** Debits that a bank has taken after they had failed here: somebody must give them back. */
  list: verb(
    options({ limit: v.optional(wholeNumber(NEWEST)) }),
    async ({ limit = NEWEST.otherwise }) => (await listLateCompletions(limit)).map(view),
  ),
})
