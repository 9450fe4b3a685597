import { ConnectorFault } from '../banks/connector.ts'
import { noteHealth } from '../banks/note-health.ts'
import { connectors } from '../banks/registry.ts'
import { recordRejectedOutcome } from '../banks/rejected-report.ts'
import { type BankIdentifier, behaviourAt } from '../domain/banks/bank.ts'
import { afterFailure, afterReply } from '../domain/banks/health.ts'
import type { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import {
  advance,
  type Debit,
  deadline,
  mayBeSubmitted,
  predatesRestore,
  stateAt,
  type Transition,
  wholeFacts,
} from '../domain/debits/debit.ts'
import { isUnsubmitted } from '../domain/debits/lifecycle.ts'
import {
  applyOutcome,
  contradictsEnd,
  type SubmissionReply,
  type SubmissionResult,
  submittedCustomer,
} from '../domain/debits/submission.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import type { Reference } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { environment, type Runtime } from '../runtime.ts'
import { allBanks, findAccount } from '../store/banks/banks.ts'
import { connectionConfig, recentConnectorSettings } from '../store/banks/connector-settings.ts'
import { bankHealth } from '../store/banks/health.ts'
import { wait } from '../store/banks/waiting.ts'
import { findDebit } from '../store/debits/debits.ts'
import { transition } from '../store/debits/transitions.ts'
import { currentGeneration } from '../store/operator/restores.ts'
import { expire, recoverOutcome } from './expire.ts'
import { mayPrompt, refuseTooManyPrompts } from './prompts.ts'

/** A reply after this time is slow (docs/bank-protocol.md#time-limits). */
const SLOW_SECONDS = 2

/** The longest time of a request to a slow bank. A query and a submission must end within the function's. */
const SIDELINED_SECONDS = 20

type SubmitterOptions = {
  /** Leaves submissions of slow banks to the workers of the sidelined queue. */
  skipsSlowBanks: boolean
  /** Schedules the report of the sandbox bank. */
  reportLater: (report: SandboxReport) => Promise<void>
}

type SubmissionRequest = {
  reference: Reference
  /** An earlier submission may have reached the bank. */
  repeated: boolean
  requestId: string
}

/** A submission to repeat in the sidelined queue. */
type Sidelined = { debit: Debit; repeated: boolean; delaySeconds: number }

/**
 * Returns a function that submits pending debits to their banks (docs/api.md#transitions). A bank
 * deduplicates by uuid. An unknown result throws, and SQS redelivers the message.
 */
export const newSubmitter = (
  { skipsSlowBanks, reportLater }: SubmitterOptions,
  runtime: Runtime,
) => {
  const timeoutSeconds = skipsSlowBanks ? SLOW_SECONDS : SIDELINED_SECONDS
  const config = {
    ...connectionConfig(runtime, timeoutSeconds),
    settingsOf: (bank: BankIdentifier) => recentConnectorSettings(bank, runtime.now()),
    reportLater,
  }
  const submitPromptly = healthRecorder(skipsSlowBanks, runtime)

  return async (request: SubmissionRequest): Promise<Sidelined | undefined> => {
    const debit = await findDebit(request.reference)
    if (!debit) return undefined
    const { bank } = debit.facts
    const { requestId } = request
    const at = runtime.now()
    const job = { at, by: 'job:submit-to-bank', requestId }
    if (request.repeated) await recoverOutcome(debit, job, runtime)
    if (!isUnsubmitted(debit.status)) return undefined
    const timeouts = clocks(environment.timeScale)
    const due = deadline(debit, 'processing', timeouts)
    if (due && due <= at) {
      // A customer must never be debited for a charge that has timed out.
      await expire(debit, 'processing', job, runtime)
      return undefined
    }
    if (!mayBeSubmitted(debit, at, timeouts)) return undefined
    const { state } = await bankHealth(bank.identifier, at)
    if (state === 'down') {
      await wait(debit)
      return undefined
    }
    if (skipsSlowBanks && state === 'slow') {
      return { debit, repeated: request.repeated, delaySeconds: 0 }
    }
    const { current, submission, generation } = await submissionOf(debit, request.repeated, at)
    const { submit } = connectors({ ...config, behaviourOf: async () => behaviourAt(current, at) })[
      current.connector
    ]
    const result = await submitPromptly(bank.identifier, (withoutTiming) =>
      submit(submission, () => withoutTiming(mayPrompt(debit, current, runtime))),
    )
    // The bank may still be processing it; wait as long as the sidelined timeout.
    if (!result) return { debit, repeated: true, delaySeconds: SIDELINED_SECONDS }
    if (result.kind === 'unprompted') {
      await refuseTooManyPrompts(debit, { at: runtime.now(), requestId, generation }, runtime)
      return undefined
    }
    const changes = submittedCustomer(submission)
    const cause = { at: runtime.now(), by: `bank:${bank.identifier}`, requestId, generation }
    let { status } = debit
    const decide = (current: Debit) => {
      status = current.status
      return afterSubmission(current, result, { ...cause, changes })
    }
    const refusal = await transition(debit, decide, runtime)
    if (refusal instanceof Refusal && result.kind !== 'accepted' && result.kind !== 'silent') {
      await recordRejectedOutcome(debit, result, { refusal, cause, status })
    }
    return undefined
  }
}

/** Reads the bank, the customer's account and the generation of the stage for a submission. */
const submissionOf = async (debit: Debit, repeated: boolean, at: Date) => {
  const facts = wholeFacts(debit)
  const { bank, phone } = facts
  const [banks, account, generation] = await Promise.all([
    allBanks(at),
    findAccount(phone, bank.identifier),
    currentGeneration(at),
  ])
  const current = banks.get(bank.identifier)
  if (!current || current.connector === 'none')
    throw new Error(`Bank ${bank.identifier} has no connector`)
  const submission = {
    ...facts,
    bank: bank.identifier,
    createdAt: stateAt(debit).createdAt,
    account,
    // A restore may have undone the record of a submission that the bank has received.
    repeated: repeated || predatesRestore(debit, generation),
  }
  return { current: { ...current, connector: current.connector }, submission, generation }
}

/** Awaits work whose time is not the bank's. */
type WithoutTiming = <T>(work: Promise<T>) => Promise<T>

/** Returns a function that submits to a bank, and notes the health of the bank. */
const healthRecorder = (skipsSlowBanks: boolean, runtime: Runtime) => {
  /** Returns undefined if the bank does not reply promptly. */
  return async (
    bank: BankIdentifier,
    submit: (withoutTiming: WithoutTiming) => Promise<SubmissionResult>,
  ) => {
    const from = runtime.now()
    let ownMs = 0
    const withoutTiming: WithoutTiming = async (work) => {
      const start = runtime.now().getTime()
      const result = await work
      ownMs += runtime.now().getTime() - start
      return result
    }
    try {
      const result = await submit(withoutTiming)
      if (result.kind === 'unprompted') return result
      const at = runtime.now()
      // Workers that all banks share find a slow bank, and only those that wait longer find its end.
      const bankMs = at.getTime() - from.getTime() - ownMs
      const isPrompt = !skipsSlowBanks && bankMs < SLOW_SECONDS * 1000
      await noteHealth(bank, (health) => afterReply(health, { at, isPrompt }), at)
      return result
    } catch (error) {
      if (!(error instanceof ConnectorFault)) throw error
      const at = runtime.now()
      const isLate = skipsSlowBanks && error.code === 2408
      await noteHealth(bank, (health) => afterFailure(health, { from, at, isLate }), at)
      if (!isLate) throw error
      return undefined
    }
  }
}

/**
 * Applies an outcome to each debit. A first reply changes only a pending debit: a timeout or a bank report may
 * have been first. But a rejection means that the customer's money has not moved, although the bank reported that.
 * @returns 422/3001 for a completed reply about a debit that has failed or is reversed, and for a
 *   failure or rejection of one that was completed
 */
const afterSubmission = (debit: Debit, result: SubmissionReply, cause: Omit<Transition, 'to'>) => {
  const isFirst = isUnsubmitted(debit.status)
  switch (result.kind) {
    case 'completed':
    case 'failed':
      return applyOutcome(debit, result, cause)
    case 'rejected':
      return isFirst || contradictsEnd(debit.status, result)
        ? applyOutcome(debit, result, cause)
        : debit
    case 'accepted': {
      const changes = { ...cause.changes, bankReference: result.bankReference }
      return isFirst ? advance(debit, { ...cause, to: 'processing', changes }) : debit
    }
    case 'silent':
      return debit
  }
}
