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
import { connectionConfig } from '../../shared/store/banks/connector-settings.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { currentGeneration } from '../../shared/store/operator/restores.ts'
import { expire } from '../../shared/sweep/expire.ts'

/** A query and a submission must both end within the function's time. */
const TIMEOUT_SECONDS = 20

const connectorsOf = (runtime: Runtime) =>
  connectors({
    reportLater: (report) =>
      send({
        queue: 'sandbox-outcomes',
        message: report,
        group: report.reference,
        // At least 1 s, so that the submission is stored before the report.
        delaySeconds: Math.max(1, OUTCOME_SECONDS / environment.timeScale),
      }),
    ...connectionConfig(runtime, TIMEOUT_SECONDS),
  })

/**
 * Submits a pending debit to its bank (docs/api.md#transitions). The bank deduplicates by uuid. An
 * unknown result throws, and SQS redelivers the message.
 */
export const submitToBank = (runtime: Runtime) =>
  consumer('submissions', async ({ reference, resubmission }, messageId, received) => {
    const debit = await findDebit(reference)
    if (debit?.status !== 'pending') return
    const { bank, phone } = debit.facts
    const due = deadline(debit, 'processing', clocks(environment.timeScale))
    const at = runtime.now()
    if (due && due <= at) {
      // A customer must never be debited for a charge that has timed out.
      const cause = { at, by: 'job:submit-to-bank', requestId: messageId }
      await expire(debit, 'processing', cause, runtime)
      return
    }
    const [registered, account, generation] = await Promise.all([
      findBank(bank.identifier),
      findAccount(phone, bank.identifier),
      currentGeneration(at),
    ])
    if (!registered || registered.connector === 'none') {
      throw new Error(`Bank ${bank.identifier} has no connector`)
    }
    const result = await connectorsOf(runtime)[registered.connector].submit({
      ...debit.facts,
      bank: bank.identifier,
      createdAt: stateAt(debit).createdAt,
      account,
      // A restore may have undone the record of a submission that the bank has received.
      repeated: received.repeated || resubmission === true || predatesRestore(debit, generation),
    })
    const changes = account
      ? { customerName: account.customerName, accountNumber: account.accountNumber }
      : {}
    await transition(
      debit,
      (current) =>
        afterSubmission(current, result, {
          at: runtime.now(),
          by: `bank:${bank.identifier}`,
          requestId: messageId,
          generation,
          changes,
        }),
      runtime,
    )
  })

const predatesRestore = ({ history: [created] }: Debit, generation = 1): boolean =>
  (created?.generation ?? 1) < generation

/** Changes only a pending debit: a timeout or a bank report may have been first. */
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
