import * as v from 'valibot'
import type { BankIdentifier } from '../domain/bank.ts'
import type { BankCallback } from '../domain/bank-update.ts'
import type { Cause, Debit } from '../domain/debit.ts'
import { Uuid } from '../domain/reference.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { presumeBankDebit } from '../store/debits.ts'
import { putLateCompletion } from '../store/late-completions.ts'
import { movePresumed, moveRead } from '../store/moves.ts'

type Report<R> = {
  report: R
  cause: Cause
  apply: (now: Debit, report: R, cause: Cause) => Debit | Refusal
}

/** The debit that a bank's path names, its state presumed; undefined for what is not the bank's. */
export const namedDebit = async ({
  caller,
  path,
}: {
  caller: { bank: BankIdentifier }
  path: Record<string, string>
}): Promise<Debit | undefined> => {
  const uuid = v.safeParse(Uuid, path.uuid)
  return uuid.success ? presumeBankDebit(caller.bank, uuid.output) : undefined
}

/**
 * Writes what a bank reports of a debit, or refuses it. A completion that comes after the debit
 * failed is refused as well, and kept: the bank has taken a customer's money.
 */
export const takeReport = async <R extends BankCallback>(
  presumed: Debit,
  { report, cause, apply }: Report<R>,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Debit | Refusal> => {
  let judged = presumed
  const judge = (now: Debit) => {
    judged = now
    return apply(now, report, cause)
  }
  // Metadata is merged into what is there, and what is there is not presumed.
  const move = report.metadata ? moveRead : movePresumed
  const taken = await move(presumed, judge, runtime)
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
