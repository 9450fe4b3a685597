import { ConnectorFault } from '../banks/connector.ts'
import { outcomeQueries } from '../banks/registry.ts'
import { recordRejectedOutcome } from '../banks/rejected-report.ts'
import { type Cause, type Debit, deadline, type Phase, timeOut } from '../domain/debits/debit.ts'
import { rowOf } from '../domain/debits/exception.ts'
import { isOpen } from '../domain/debits/lifecycle.ts'
import { applyOutcome, type BankOutcome, contradictsEnd } from '../domain/debits/submission.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import { Refusal } from '../domain/refusal.ts'
import { secondsAfter } from '../domain/time.ts'
import { log } from '../log.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findBank } from '../store/banks/banks.ts'
import { connectionConfig } from '../store/banks/connector-settings.ts'
import { bankHealth } from '../store/banks/health.ts'
import { findExceptions } from '../store/debits/exceptions.ts'
import { followOpen } from '../store/debits/open-debits.ts'
import { transition } from '../store/debits/transitions.ts'
import { findRestore } from '../store/operator/restores.ts'

const QUERY_SECONDS = 5
/** Timeouts of other banks wait for the queries of a bank that hangs. */
const DOWN_QUERY_SECONDS = 1
const HELD_SECONDS = 60

/**
 * Fails a debit whose deadline has passed (docs/api.md#timeouts), unless the bank reports an outcome
 * when queried once: its report may have been lost. An outcome that contradicts the end by another worker
 * becomes an exception. After a restore, leaves the open debits of a held provider to the sweep: the bank may
 * have reported an outcome that the restore lost.
 */
export const expire = (debit: Debit, phase: Phase, cause: Cause, runtime: QueryRuntime) =>
  expireUnless(() => outcomeIfAnswered(debit, runtime), debit, phase, cause, runtime)

type QueryRuntime = Pick<Runtime, 'now' | 'wallTime' | 'random' | 'pause'>

const expireUnless = async (
  query: () => Promise<BankOutcome | undefined>,
  debit: Debit,
  phase: Phase,
  cause: Cause,
  runtime: QueryRuntime,
): Promise<Debit | Refusal> => {
  const restore = await findRestore()
  if (isOpen(debit.status) && isHeldBy(restore, debit.facts.provider)) {
    // No timer fires again after the release.
    await followOpen(debit, () => secondsAfter(cause.at, HELD_SECONDS))
    return debit
  }
  const outcome = await query()
  const entry = { ...cause, generation: restore?.generation }
  const ofBank = { ...entry, by: `bank:${debit.facts.bank.identifier}` }
  let { status } = debit
  const decide = (current: Debit) => {
    status = current.status
    if (outcome) return applyOutcome(current, outcome, ofBank)
    const due = deadline(current, phase, clocks(environment.timeScale))
    return due && due <= cause.at ? timeOut(current, phase, entry) : current
  }
  const result = await transition(debit, decide, runtime)
  if (result instanceof Refusal && outcome) {
    await recordRejectedOutcome(debit, outcome, { refusal: result, cause: ofBank, status })
  }
  return result
}

/**
 * Queries the bank of an ended debit again: an earlier worker may have read that it ended otherwise, without
 * storing that. A bank that has reported the completion itself is not queried.
 * @throws ConnectorFault if the bank does not answer, so that SQS repeats the message
 */
export const recoverOutcome = async (
  debit: Debit,
  cause: Cause,
  runtime: QueryRuntime,
): Promise<void> => {
  const { status } = debit
  if (isOpen(status)) return
  const isToldByBank = debit.history.some(
    ({ type, by }) => type === 'completed' && by.startsWith('bank:'),
  )
  if (isToldByBank) return
  const exceptions = await findExceptions(debit.facts.reference)
  if (exceptions.some(({ kind }) => rowOf(kind)?.contradicts)) return
  const query = async () => {
    const outcome = await queryOutcome(debit, runtime)
    return outcome && contradictsEnd(status, outcome) ? outcome : undefined
  }
  await expireUnless(query, debit, 'processing', cause, runtime)
}

/** Returns undefined if the bank has no connector or no outcome yet. @throws ConnectorFault */
const queryOutcome = async (
  { facts: { uuid, amount, bank } }: Debit,
  runtime: QueryRuntime,
): Promise<BankOutcome | undefined> => {
  const current = await findBank(bank.identifier)
  if (!current || current.connector === 'none') return undefined
  const { state } = await bankHealth(bank.identifier, runtime.now())
  const seconds = state === 'down' ? DOWN_QUERY_SECONDS : QUERY_SECONDS
  const queries = outcomeQueries(connectionConfig(runtime, seconds))
  return queries[current.connector]?.({ bank: bank.identifier, uuid, amount })
}

/** Returns undefined also if the bank gives no usable reply: the timeout proceeds. */
const outcomeIfAnswered = async (debit: Debit, runtime: QueryRuntime) => {
  try {
    return await queryOutcome(debit, runtime)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    const { reference, bank } = debit.facts
    log.warn('no outcome from the bank', { reference, bank: bank.identifier, error })
    return undefined
  }
}
