import * as v from 'valibot'
import { parseJson } from '../../shared/domain/json.ts'
import { invalid } from '../../shared/domain/refusal.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { reconciliation, StatementRequest } from '../../shared/operator/nouns/accounting.ts'
import { readBankDebits, readByUuid } from '../../shared/reconciliation/bank-debits.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { moneyView } from '../../shared/reconciliation/sums.ts'
import { real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'

export const manageReconciliation = operatorHandler(reconciliation, {
  run: async ({ date }, _author, runtime) => {
    const { checkedAt, invariants, money, differences, held } = await reconcile(date, runtime)
    return {
      date,
      checked_at: checkedAt.toISOString(),
      differences,
      held,
      completed_debits: moneyView(money),
      invariants,
    }
  },
  /** Returns a page of the bank's debits; the command compares them with the file. */
  statement: async ({ bank, statement, date }) => {
    if (!(await findBank(bank))) return noSuch('bank')
    const request = v.safeParse(StatementRequest, parseJson(statement))
    if (!request.success) return invalid({ statement: ['is compared by the operator command'] })
    if ('uuids' in request.output) {
      return { debits: await readByUuid(bank, request.output.uuids), next: null }
    }
    return readBankDebits({ bank, date, cursor: request.output.cursor })
  },
})

export const handler = manageReconciliation(real)
