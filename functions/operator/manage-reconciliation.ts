import * as v from 'valibot'
import { parseJson } from '../../shared/domain/json.ts'
import { invalid } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { reconciliation, StatementRequest } from '../../shared/operator/nouns/accounting.ts'
import { readBankDebits, readByUuid } from '../../shared/reconciliation/bank-debits.ts'
import { readOutgoing } from '../../shared/reconciliation/bank-outgoing.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { environment, real, timeLimit } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { loadBooked, putStatement } from '../../shared/store/banks/statements.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { refusalOfDay } from '../../shared/store/retention.ts'
import { reconciliationView } from '../../shared/views/operator/reconciliation.ts'

/** The part of the function's fifteen minutes that a call uses. */
const RUN_MS = 780_000

export const manageReconciliation = operatorHandler(reconciliation, {
  /** Returns the result, or the run that the next call continues; the command repeats the call. */
  run: async ({ date, run: id }, _author, runtime) => {
    if (id && !id.startsWith(`${date}#`)) return invalid({ run: ['is of another day'] })
    const expired = refusalOfDay('date', date, runtime.now())
    if (expired) return expired
    if (environment.limits === 'production' && date > dayOf(runtime.now()))
      return invalid({ date: ['must not be in the future'] })
    const timeIsUp = timeLimit(runtime, RUN_MS)
    const result = await reconcile(date, runtime, { id, timeIsUp })
    return 'id' in result ? { run: result.id } : reconciliationView(result)
  },
  /** Returns what the command compares with the file, and stores its result. */
  statement: async ({ bank: identifier, statement, date }, author) => {
    const bank = await findBank(identifier)
    if (!bank) return noSuch('bank')
    const expired = refusalOfDay('date', date, author.at)
    if (expired) return expired
    const parsed = v.safeParse(StatementRequest, parseJson(statement))
    if (!parsed.success) return invalid({ statement: ['is compared by the operator command'] })
    const request = parsed.output
    if ('format' in request) {
      const { statementColumns: columns = null, statementEncoding: encoding = 'utf-8' } = bank
      return { columns, encoding }
    }
    if ('uuids' in request) return readByUuid(identifier, request.uuids)
    if ('cursor' in request) {
      const { cursor } = request
      const page = await readBankDebits({ bank: identifier, date, cursor })
      if (!page)
        return invalid({ statement: ['continues a list that is missing: compare the file again'] })
      if (cursor) return page
      const booked = (await loadBooked(date))(identifier)
      return { ...page, booked, read_at: author.at.toISOString() }
    }
    if ('outgoing' in request) {
      const { outgoing: kind, after } = request
      return readOutgoing(kind, { bank: identifier, date, after })
    }
    const { read_at: readAt = author.at, ...result } = request.result
    const { digest, counts } = result
    await putChange(
      { ...author, target: identifier, bank: identifier },
      { date, digest, ...counts },
    )
    // A change after the first page was read may be missing in the comparison.
    const at = readAt < author.at ? readAt : author.at
    await putStatement({ bank: identifier, date, ...result, at, by: author.by })
    return { stored: true }
  },
})

export const handler = manageReconciliation(real)
