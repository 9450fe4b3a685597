import type { ScenarioResult, ScenarioSummary } from '../../console/server/backend.ts'
import { failureCodes } from '../../shared/domain/banks/failure-code.ts'
import type { Control } from '../control/control.ts'
import * as outage from './bank-outage.ts'
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

const scenario = (
  name: string,
  description: string,
  act: (play: Play) => Promise<ScenarioResult>,
): Scenario => ({
  name,
  description,
  play: (control, reference) => act(newPlay(control, name, reference)),
})

export const scenarios: readonly Scenario[] = [
  scenario('completed', 'The bank reports that it debited the customer.', outcomes.complete),
  ...failureCodes.map((code) =>
    scenario(
      `failed-${code.replaceAll('_', '-')}`,
      `The bank reports a failure, which the provider reads as ${code}.`,
      outcomes.failWith(code),
    ),
  ),
  scenario(
    'silent-bank',
    'The bank accepts a debit and never reports it; the debit stays processing until its timeout.',
    outcomes.staySilent,
  ),
  scenario(
    'bank_outage',
    'A bank is down, a debit waits, and the bank gets it when it replies again. Moves the clock.',
    outage.breakDown,
  ),
  scenario(
    'timeout-before-approval',
    'The customer does not approve: the debit fails after five minutes. Moves the clock.',
    outcomes.timeOutBeforeApproval,
  ),
  scenario(
    'timeout-after-approval',
    'The customer approves, the bank is silent: the debit fails after ten minutes. Moves the clock.',
    outcomes.timeOutAfterApproval,
  ),
  scenario(
    'late-completion',
    'The bank reports completed after the debit failed: an exception is open.',
    exceptions.completeLate,
  ),
  scenario(
    'contradiction',
    'The bank reports failed after the debit was completed: an exception is open.',
    exceptions.contradict,
  ),
  scenario(
    'refused-report',
    'The service rejects a malformed report: the debit stays open, and so does an exception.',
    exceptions.refuseReport,
  ),
  scenario(
    'reversed-and-refunded',
    'An operator reverses a completed debit, and the bank refunds the customer.',
    refunds.refund,
  ),
  scenario(
    'refund-rejected',
    'The bank rejects the refund of a reversed debit: an exception is open.',
    refunds.rejectRefund,
  ),
  scenario(
    'webhook-abandoned-and-recovered',
    'The receiver fails until the event is abandoned; a recovery delivers it. Moves the clock.',
    webhooks.abandonAndRecover,
  ),
  scenario(
    'slow-receiver',
    'The receiver takes longer than two seconds, so the webhook gets a queue of its own.',
    webhooks.receiveSlowly,
  ),
  scenario(
    'settled-and-paid-out',
    'The run of the next day settles a completed debit, and the batch is paid.',
    settlement.settleAndPay,
  ),
  scenario(
    'payout-rejected',
    'The bank of the provider rejects the payout of a batch, which stays failed until a retry.',
    settlement.rejectPayout,
  ),
  scenario(
    'negative-batch',
    'A debit is reversed after its settlement: the net of the next batch is below zero.',
    settlement.goBelowZero,
  ),
  scenario(
    'exception-to-resolve',
    'A malformed report precedes the completion: a note resolves the exception.',
    exceptions.leaveException,
  ),
]
