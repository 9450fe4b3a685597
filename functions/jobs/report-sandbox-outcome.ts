import { sandboxReport } from '../../shared/banks/sandbox.ts'
import { applyBankUpdate } from '../../shared/domain/debits/bank-update.ts'
import { timeOut } from '../../shared/domain/debits/debit.ts'
import { isOpen, isUnsubmitted } from '../../shared/domain/debits/lifecycle.ts'
import { isHeldBy } from '../../shared/domain/operator/restore.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { findRestore } from '../../shared/store/operator/restores.ts'

/** Applies the sandbox bank's report of a debit, 30 s after its submission (docs/api.md#sandbox). */
export const reportSandboxOutcome = (runtime: Runtime) =>
  consumer('sandbox-outcomes', async ({ reference, outcome }, messageId) => {
    const debit = await findDebit(reference)
    if (!debit || !isOpen(debit.status)) return
    if (isUnsubmitted(debit.status) && outcome !== 'timeout') {
      throw new Error(`Submission of ${reference} is not recorded yet`)
    }
    const { uuid, bank, provider } = debit.facts
    const restore = await findRestore()
    if (outcome === 'timeout' && isHeldBy(restore, provider)) return
    const cause = {
      at: runtime.now(),
      by: `bank:${bank.identifier}`,
      requestId: messageId,
      generation: restore?.generation,
    }
    // The first outcome wins; a refusal needs no report.
    await transition(
      debit,
      (current) =>
        outcome === 'timeout'
          ? timeOut(current, 'approval', cause)
          : applyBankUpdate(
              current,
              sandboxReport(outcome, { uuid, bank: bank.identifier }),
              cause,
            ),
      runtime,
    )
  })

export const handler = reportSandboxOutcome(real)
