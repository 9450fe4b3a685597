import * as v from 'valibot'
import { parseJson } from '../../shared/domain/json.ts'
import { invalid } from '../../shared/domain/refusal.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { reconciliation, StatementRequest } from '../../shared/operator/nouns/accounting.ts'
import { readBankDebits, readByUuid } from '../../shared/reconciliation/bank-debits.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { real, timeLimit } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { reconciliationView } from '../../shared/views/operator/reconciliation.ts'

/** The part of the function's fifteen minutes that a call uses. */
const RUN_MS = 780_000

export const manageReconciliation = operatorHandler(reconciliation, {
  /** Returns the result, or the run that the next call continues; the command repeats the call. */
  run: async ({ date, run: id }, _author, runtime) => {
    if (id && !id.startsWith(`${date}#`)) return invalid({ run: ['is of another day'] })
    const timeIsUp = timeLimit(runtime, RUN_MS)
    const result = await reconcile(date, runtime, { id, timeIsUp })
    return 'id' in result ? { run: result.id } : reconciliationView(result)
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
