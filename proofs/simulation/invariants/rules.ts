import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { History } from './item-histories.ts'
import type { ObservationIndex } from './observation-index.ts'

/** The invariants, the form of their checks, and the walks that checks share. */

/**
 * The invariants of every run, under any faults. Numbers that are missing here are checked by the
 * reconciliation, whose differences 47 reports.
 */
export const rules = {
  1: 'an accepted charge stays unchanged',
  2: 'a rejected charge leaves no trace',
  3: 'every accepted attempt of a charge returns its debit',
  4: 'a debit ends in time',
  5: 'a debit is in the list of its status',
  6: 'one of several outcomes wins, and the others are rejected',
  7: 'a repeated status changes nothing',
  8: 'timestamps and messages match the history',
  9: 'a reference has the day of its charge',
  11: 'a bank acts on a request once, and a submission has the facts of its debit',
  12: 'a transition adds one event to a history',
  13: 'an event has one id; each POST has its own id and a record',
  14: 'events have no gaps and show the state at their time',
  15: 'a subscribed event is delivered or abandoned',
  16: 'attempts have the required delays',
  17: 'the response decides whether a retry follows',
  18: 'a signature covers the exact bytes, with the right secret',
  19: 'events reach only their own provider',
  20: 'the daily total is the sum of the debits, within the limit',
  21: 'a charge within the limit is not rejected by it',
  23: 'only a completed debit gets a line',
  25: 'a bank pays a completed batch once',
  26: 'a sealed batch stays unchanged and is paid once',
  28: 'a debit is settled by the first night after completion',
  29: 'a fee is that of the bank, else of the schedule',
  30: 'amounts are published with two decimals',
  31: 'a rejected bank report has one exception with its body',
  32: "a provider or bank never sees another's objects",
  33: 'a transition names its actor, time and request',
  38: 'a bank is queried before a timeout fails its debit',
  39: 'a reversed debit is refunded once, by its own bank',
  41: "a payout reaches the provider's account, from its due day",
  42: 'a due batch is paid, after it has offset the batches below zero',
  43: 'a repeated POST to a bank, or a further one, follows a query; none is sent too late or unlike its status',
  45: 'a debit has the outcome that its bank gave',
  46: 'a guarded call takes effect after a second operator approved it',
  47: 'the reconciliation of a correct world finds nothing',
  48: 'request limits hold',
  49: 'a list has every object of its caller',
  50: 'an event id names one event, also after a restore',
  51: 'the nightly reconciliation ends, and counts each part once',
  52: 'a bank returns at most what it debited',
  53: "the banks' books of debits agree with the table",
  54: "balances, closings and payouts agree with the banks' books",
  55: 'a granted request takes effect once, as requested',
  56: 'an exception that an operator closed stays closed',
  57: 'settings change only by operators, and in time',
  58: 'a change of a webhook loses no event that was subscribed at its time',
  59: 'the sweep repairs what faults have lost, and nothing else',
  60: 'no bank receives a request for nothing',
  61: 'a batch is paid after its reports exist',
  62: 'without faults, work is done in seconds',
  63: 'the metrics of alarms are measured at their events',
  64: 'the health of a bank or webhook follows its replies and is obeyed',
  65: 'a customer gets at most the prompts of the cap, and fewer only above it',
  66: 'a number that is unknown here has the account of its bank',
  67: 'an update keeps the members that another release wrote',
  68: 'a payout begins on a day on which its bank pays, which its batch names',
  69: 'a request to reverse has one decision, which its debit follows',
  70: 'a sealed day stays as it was sealed',
  71: 'an erased customer is in no item, and each figure stays',
  72: 'after a restore, the money of a provider waits for its release',
  73: 'a function replies after its work, and reports what SQS refused',
  74: 'calls of operators leave their records, and no personal text',
  75: 'replies, reports and statements show the sums and lines of batches',
} as const

/** @param about a reference, uuid or key */
export type Reporter = (about: string, message: string) => void
export type Check = (index: ObservationIndex, report: Reporter) => void
export type Checks = { readonly [N in keyof typeof rules]?: readonly Check[] }

/** What is wrong with one thing; falsy: nothing. */
type Found = string | false | undefined | readonly (string | false | undefined)[]

/** Returns a maker of checks, which look at one thing of a kind after the other. */
const each =
  <T>(things: (index: ObservationIndex) => Iterable<readonly [about: string, thing: T]>) =>
  (find: (thing: T, index: ObservationIndex) => Found): Check =>
  (index, report) => {
    for (const [about, thing] of things(index))
      for (const message of [find(thing, index)].flat()) if (message) report(about, message)
  }

export const eachDebit = each(({ debits }) => debits)
export const eachBatch = each(({ batches }) => batches)
export const eachDelivery = each(({ deliveries }) => deliveries)
export const eachEvent = each(({ events }) => events)
export const eachRefund = each(({ refunds }) => refunds)

/** The writes of each item after its first one. */
function* updatesIn<T extends Item>(histories: ReadonlyMap<string, History<T>>) {
  for (const [about, { item, changes }] of histories)
    for (const { before, after, ...step } of changes)
      if (before && after) yield [about, { ...step, item, before, after }] as const
}

export const eachDebitUpdate = each(({ debits }) => updatesIn(debits))
