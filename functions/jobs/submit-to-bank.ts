import { connectors } from '../../shared/banks/registry.ts'
import { OUTCOME_SECONDS } from '../../shared/banks/sandbox.ts'
import {
  advance,
  type Debit,
  deadline,
  stateAt,
  type Transition,
} from '../../shared/domain/debits/debit.ts'
import { clocks } from '../../shared/domain/debits/lifecycle.ts'
import { applyOutcome, type SubmissionResult } from '../../shared/domain/debits/submission.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { send } from '../../shared/queues/send.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findAccount, findBank } from '../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import { expire } from '../../shared/sweep/expire.ts'

/** A question and a submission after it must both end inside the function's own time. */
const EXCHANGE_SECONDS = 20

const connected = (runtime: Runtime) =>
  connectors({
    reportLater: (report) =>
      send({
        queue: 'sandbox-outcomes',
        message: report,
        group: report.reference,
        // Never at once: the report must find the submission on record.
        delaySeconds: Math.max(1, OUTCOME_SECONDS / environment.timeScale),
      }),
    settingsOf: findConnectorSettings,
    now: runtime.now,
    timeoutSeconds: EXCHANGE_SECONDS,
    localPeers: environment.localPeers,
  })

/**
 * Hands a pending debit to its bank (specification, Transitions). The bank knows a repeat by the
 * uuid; a result that is not known is a fault, and the message comes again.
 */
export const submitToBank = (runtime: Runtime) =>
  consumer('submissions', async ({ reference, resubmission }, messageId, received) => {
    const debit = await findDebit(reference)
    if (debit?.status !== 'pending') return
    const { bank, phone } = debit.facts
    const due = deadline(debit, 'processing', clocks(environment.timeScale))
    const at = runtime.now()
    if (due && due <= at) {
      // Too late to submit: no customer may be debited for a charge that has timed out.
      const cause = { at, by: 'job:submit-to-bank', requestId: messageId }
      await expire(debit, 'processing', cause, runtime)
      return
    }
    const [current, account, generation] = await Promise.all([
      findBank(bank.identifier),
      findAccount(phone, bank.identifier),
      currentGeneration(at),
    ])
    if (!current || current.connector === 'none') {
      throw new Error(`Bank ${bank.identifier} has no connector`)
    }
    const result = await connected(runtime)[current.connector].submit({
      ...debit.facts,
      bank: bank.identifier,
      createdAt: stateAt(debit).createdAt,
      account,
      // A restore may have undone the record of a submission that the bank has taken.
      repeated: received.repeated || resubmission === true || isOfLostTime(debit, generation),
    })
    const known = account
      ? { customerName: account.customerName, accountNumber: account.accountNumber }
      : {}
    await transition(
      debit,
      (now) =>
        afterSubmission(now, result, {
          at: runtime.now(),
          by: `bank:${bank.identifier}`,
          requestId: messageId,
          generation,
          changes: known,
        }),
      runtime,
    )
  })

/** Whether the table was restored since the debit was charged. */
const isOfLostTime = ({ history: [created] }: Debit, generation = 1): boolean =>
  (created?.generation ?? 1) < generation

/** Only a debit that is still pending moves: a clock or the bank may have been first. */
const afterSubmission = (debit: Debit, result: SubmissionResult, cause: Omit<Transition, 'to'>) => {
  if (debit.status !== 'pending') return debit
  switch (result.kind) {
    case 'silent':
      return debit
    case 'accepted': {
      const changes = { ...cause.changes, bankReference: result.bankReference }
      return advance(debit, { ...cause, to: 'processing', changes })
    }
    default:
      return applyOutcome(debit, result, cause)
  }
}

export const handler = submitToBank(real)
