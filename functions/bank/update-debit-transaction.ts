import * as v from 'valibot'
import { bankUpdateView } from '../../shared/api/debit-view.ts'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { applyBankUpdate } from '../../shared/domain/bank-update.ts'
import { Uuid } from '../../shared/domain/reference.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBankDebit } from '../../shared/store/debits.ts'
import { moveDebit } from '../../shared/store/moves.ts'

export const updateDebitTransaction = (runtime: Runtime) =>
  endpoint('update-debit-transaction', runtime, async ({ path, caller, input, at, requestId }) => {
    const uuid = v.safeParse(Uuid, path.uuid)
    const debit = uuid.success && (await findBankDebit(caller.bank, uuid.output))
    if (!debit) return notFound('update-debit-transaction')
    const cause = { at, by: `bank:${caller.bank}`, requestId }
    const moved = await moveDebit(debit, (now) => applyBankUpdate(now, input, cause), runtime)
    return moved instanceof Refusal ? moved : { data: bankUpdateView(moved) }
  })

export const handler = updateDebitTransaction(real)
