import type { BankCallback } from '../domain/bank-update.ts'
import type { Cause, Debit } from '../domain/debit.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { putLateCompletion } from '../store/late-completions.ts'
import { moveDebit } from '../store/moves.ts'

type Report<R> = {
  report: R
  cause: Cause
  apply: (now: Debit, report: R, cause: Cause) => Debit | Refusal
}

/**
 * Writes what a bank reports of a debit, or refuses it. A completion that comes after the debit
 * failed is refused as well, and kept: the bank has taken a customer's money.
 */
export const takeReport = async <R extends BankCallback>(
  debit: Debit,
  { report, cause, apply }: Report<R>,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Debit | Refusal> => {
  let judged = debit
  const taken = await moveDebit(
    debit,
    (now) => {
      judged = now
      return apply(now, report, cause)
    },
    runtime,
  )
  if (taken instanceof Refusal && report.status === 'completed' && judged.status === 'failed') {
    await putLateCompletion(judged, report, cause)
    log.error('late completion', {
      reference: judged.facts.reference,
      bank: judged.facts.bank.identifier,
      request_id: cause.requestId,
    })
  }
  return taken
}
