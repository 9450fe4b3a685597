import * as v from 'valibot'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { BankCallback } from '../domain/debits/bank-update.ts'
import type { Cause, Debit } from '../domain/debits/debit.ts'
import { type ExceptionKind, exceptionKind } from '../domain/debits/exception.ts'
import { Uuid } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findBankDebitByUuid } from '../store/debits/debits.ts'
import { putException } from '../store/debits/exceptions.ts'
import { transitionAssumed, transitionFresh } from '../store/debits/transitions.ts'
import { currentGeneration } from '../store/operator/restores.ts'
import type { Rejected } from './endpoint.ts'

type Named = {
  /** With an assumed state. Undefined when it does not exist or belongs to another bank. */
  debit: Debit | undefined
  generation: number | undefined
}

/** Reads the debit that a bank's path names, and the generation of an event that is written now. */
export const namedDebit = async ({
  caller,
  path,
  at,
}: {
  caller: { bank: BankIdentifier }
  path: Record<string, string>
  at: Date
}): Promise<Named> => {
  const uuid = v.safeParse(Uuid, path.uuid)
  const [debit, generation] = await Promise.all([
    uuid.success ? findBankDebitByUuid(caller.bank, uuid.output) : undefined,
    currentGeneration(at),
  ])
  return { debit, generation }
}

type Report<R> = {
  report: R
  /** Returns the body as the bank sent it. */
  body: () => string
  cause: Cause
  apply: (now: Debit, report: R, cause: Cause) => Debit | Refusal
}

/**
 * Applies a bank's report to its debit. A report that the debit rejects becomes an exception before
 * the bank gets its answer: the bank may have moved a customer's money.
 */
export const applyReport = async <R extends BankCallback>(
  presumed: Debit,
  { report, body, cause, apply }: Report<R>,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Debit | Refusal> => {
  let current = presumed
  const judge = (now: Debit) => {
    current = now
    return apply(now, report, cause)
  }
  // Metadata merges into the stored metadata, which an assumed state does not have.
  const move = report.metadata ? transitionFresh : transitionAssumed
  const taken = await move(presumed, judge, runtime)
  if (taken instanceof Refusal) {
    const kind = exceptionKind(current.status, report.status)
    await recordRejection(current, { kind, refusal: taken, body, cause, status: current.status })
  }
  return taken
}

/** Records a report whose body was rejected before it could be applied. */
export const recordRejectedBody = async (
  { caller, at, requestId, refusal, body }: Rejected<'update-debit-transaction' | 'debit-callback'>,
  { debit }: Named,
): Promise<void> => {
  if (!debit) return
  const cause = { at, by: `bank:${caller.bank}`, requestId }
  await recordRejection(debit, { kind: 'refused_report', refusal, body, cause })
}

type Rejection = {
  kind: ExceptionKind
  refusal: Refusal
  body: () => string
  cause: Cause
  status?: Debit['status']
}

const recordRejection = async (
  { facts }: Debit,
  { kind, refusal, body, cause, status }: Rejection,
): Promise<void> => {
  const { reference, provider, bank, amount } = facts
  await putException({
    reference,
    kind,
    provider,
    bank: bank.identifier,
    amount,
    ...cause,
    ...(status ? { status } : {}),
    code: refusal.code,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
    report: body(),
  })
  log.error('bank report rejected', {
    kind,
    reference,
    bank: bank.identifier,
    code: refusal.code,
    request_id: cause.requestId,
  })
}
