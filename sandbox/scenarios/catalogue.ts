import type { ScenarioResult, ScenarioSummary } from '../../console/server/backend.ts'
import { failureCodes } from '../../shared/domain/banks/failure-code.ts'
import type { Control } from '../control/control.ts'
import * as exceptions from './exceptions.ts'
import * as outcomes from './outcomes.ts'
import { newPlay, type Play } from './play.ts'
import * as refunds from './refunds.ts'
import * as settlement from './settlement.ts'
import * as webhooks from './webhooks.ts'

/** The scenarios of the sandbox (docs/testing.md#scenarios). Their names are published. */

export type Scenario = ScenarioSummary & {
  /** @throws ScenarioRefusal if the debit of the reference does not exist or does not fit */
  play: (control: Control, reference: string | undefined) => Promise<ScenarioResult>
}

type ScenarioRow = readonly [act: (play: Play) => Promise<ScenarioResult>, description: string]

/** By their names. */
const rows: Record<string, ScenarioRow> = {
  completed: [outcomes.complete, 'The bank reports that it debited the customer.'],
  ...Object.fromEntries(
    failureCodes.map((code): [string, ScenarioRow] => [
      `failed-${code.replaceAll('_', '-')}`,
      [outcomes.failWith(code), `The bank reports a failure, which the provider reads as ${code}.`],
    ]),
  ),
  'silent-bank': [
    outcomes.staySilent,
    'The bank accepts a debit and never reports it; the debit stays processing until its timeout.',
  ],
  bank_outage: [
    outcomes.breakDown,
    'A bank is down, a debit waits, and the bank gets it when it replies again. Moves the clock.',
  ],
  'timeout-before-approval': [
    outcomes.timeOutBeforeApproval,
    'The customer does not approve: the debit fails after five minutes. Moves the clock.',
  ],
  'timeout-after-approval': [
    outcomes.timeOutAfterApproval,
    'The customer approves, the bank is silent: the debit fails after ten minutes. Moves the clock.',
  ],
  'late-completion': [
    exceptions.completeLate,
    'The bank reports completed after the debit failed: an exception is open.',
  ],
  contradiction: [
    exceptions.contradict,
    'The bank reports failed after the debit was completed: an exception is open.',
  ],
  'refused-report': [
    exceptions.refuseReport,
    'The service rejects a malformed report: the debit stays open, and so does an exception.',
  ],
  'reversed-and-refunded': [
    refunds.refund,
    'An operator reverses a completed debit, and the bank refunds the customer.',
  ],
  'refund-rejected': [
    refunds.rejectRefund,
    'The bank rejects the refund of a reversed debit: an exception is open.',
  ],
  'webhook-abandoned-and-recovered': [
    webhooks.abandonAndRecover,
    'The receiver fails until the event is abandoned; a recovery delivers it. Moves the clock.',
  ],
  'slow-receiver': [
    webhooks.receiveSlowly,
    'The receiver takes longer than two seconds, so the webhook gets a queue of its own.',
  ],
  'settled-and-paid-out': [
    settlement.settleAndPay,
    'The run of the next day settles a completed debit, and the batch is paid.',
  ],
  'payout-rejected': [
    settlement.rejectPayout,
    'The bank of the provider rejects the payout of a batch, which stays failed until a retry.',
  ],
  'negative-batch': [
    settlement.goBelowZero,
    'A debit is reversed after its settlement: the net of the next batch is below zero.',
  ],
  'exception-to-resolve': [
    exceptions.leaveException,
    'A malformed report precedes the completion: a note resolves the exception.',
  ],
}

export const scenarios: readonly Scenario[] = Object.entries(rows).map(
  ([name, [act, description]]) => ({
    name,
    description,
    play: (control, reference) => act(newPlay(control, name, reference)),
  }),
)
