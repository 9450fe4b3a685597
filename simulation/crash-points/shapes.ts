import type { Losses } from '../engine/faults.ts'
import type { DebitScript, Report, Scenario } from '../scenario/scenario.ts'

/**
 * The shapes that a debit's script can take, each small enough to lose a worker at every one of its
 * effects: what its bank says, what its receiver answers, whether it is reversed, how it is paid.
 */

const HOUR_SECONDS = 3_600
const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 20, 12)

/** Seconds from the charge to a while after the first, second and third midnight. */
export const night = (n: number): number => 12 * HOUR_SECONDS + (n - 1) * 24 * HOUR_SECONDS

export type Shape = {
  name: string
  script: Partial<DebitScript>
  answers?: readonly number[]
  payments?: Scenario['payments']
  losses?: Losses
}

const completed = (afterSeconds = 5, more: Partial<Report> = {}): Report => ({
  afterSeconds,
  by: 'update',
  status: 'completed',
  ...more,
})
const failed = (afterSeconds = 5): Report => ({ afterSeconds, by: 'update', status: 'failed' })
const approved = (afterSeconds = 5): Report => ({
  afterSeconds,
  by: 'callback',
  status: 'approved',
})

const paths: readonly Shape[] = [
  { name: 'completed by an update', script: { reports: [completed()] } },
  { name: 'completed by a callback', script: { reports: [completed(5, { by: 'callback' })] } },
  { name: 'completed, the bank took a fee', script: { reports: [completed(5, { fee: '1.25' })] } },
  { name: 'completed at once', script: { reports: [completed(0)] } },
  { name: 'completed twice', script: { reports: [completed(), completed(6)] } },
  { name: 'completed, then said to have failed', script: { reports: [completed(), failed(6)] } },
  { name: 'failed, then said to be completed', script: { reports: [failed(), completed(6)] } },
  { name: 'failed by an update', script: { reports: [failed()] } },
  { name: 'approved, then completed', script: { reports: [approved(), completed(30)] } },
  {
    name: 'approved, completed after five minutes',
    script: { reports: [approved(), completed(400)] },
  },
  { name: 'approved, then failed', script: { reports: [approved(), failed(30)] } },
  { name: 'approved, then silent', script: { reports: [approved()] } },
  { name: 'taken, then silent', script: { reports: [] } },
  { name: 'completed as five minutes are over', script: { reports: [completed(300)] } },
  { name: 'completed after five minutes', script: { reports: [completed(330)] } },
  { name: 'completed after ten minutes', script: { reports: [completed(660)] } },
  { name: 'rejected', script: { verdict: 'rejected', reports: [] } },
  { name: 'sandbox: completed', script: { bank: 'SBX', phone: '+233241234567' } },
  { name: 'sandbox: insufficient funds', script: { bank: 'SBX', phone: '+233241111111' } },
  { name: 'sandbox: never accepted', script: { bank: 'SBX', phone: '+233242222222' } },
  { name: 'sandbox: declined', script: { bank: 'SBX', phone: '+233243333333' } },
  { name: 'sandbox: accepted, then silent', script: { bank: 'SBX', phone: '+233244444444' } },
  { name: 'sandbox: no such account', script: { bank: 'SBX', phone: '+233240000009' } },
  { name: 'asked for again', script: { asks: 'again', reports: [completed()] } },
  { name: 'its reference used for another', script: { asks: 'otherwise', reports: [completed()] } },
  { name: 'refused', script: { asks: 'wrongly' } },
]

/** Over the provider's daily limit of 1,500.00 in one, of a provider without any in the other. */
const providers: readonly Shape[] = [
  { name: 'a provider of some events: completed', script: { provider: 1, reports: [completed()] } },
  { name: 'a provider of some events: failed', script: { provider: 1, reports: [failed()] } },
  { name: 'over the daily limit', script: { provider: 1, amount: '1500.01', reports: [] } },
  {
    name: 'a provider without a webhook: completed',
    script: { provider: 2, reports: [completed()] },
  },
  { name: 'a provider without a webhook: failed', script: { provider: 2, reports: [failed()] } },
  { name: 'a provider without a webhook: silent', script: { provider: 2, reports: [] } },
  {
    name: 'a provider of two attempts: completed',
    script: { provider: 3, reports: [completed()] },
  },
  { name: 'a provider of two attempts: rejected', script: { provider: 3, verdict: 'rejected' } },
]

const receivers: readonly Shape[] = [
  { name: 'a receiver that answers 500 once', script: { reports: [completed()] }, answers: [500] },
  {
    name: 'a receiver that answers 503 twice',
    script: { reports: [completed()] },
    answers: [503, 503],
  },
  { name: 'a receiver that is silent once', script: { reports: [failed()] }, answers: [0] },
  { name: 'a receiver that refuses for good', script: { reports: [completed()] }, answers: [410] },
  { name: 'a receiver that redirects', script: { reports: [failed()] }, answers: [302] },
  {
    name: 'a receiver that asks for time',
    script: { reports: [completed()] },
    answers: [429, 408],
  },
  {
    name: 'a receiver that is given up, and answers again',
    script: { provider: 3, reports: [approved(), completed(400)] },
    answers: [500, 500, 500, 500, 500, 500],
  },
  {
    name: 'redelivered after it was received',
    script: { reports: [completed()], redelivered: 60 },
  },
  {
    name: 'redelivered after it was given up',
    script: { provider: 3, reports: [completed()], redelivered: 120 },
    answers: [500, 500, 500, 500, 500, 500],
  },
]

const reversals: readonly Shape[] = [
  { name: 'reversed at once', script: { reports: [completed()], reversed: 30 } },
  { name: 'reversed before its day is over', script: { reports: [completed()], reversed: 3_600 } },
  { name: 'reversed as the night begins', script: { reports: [completed()], reversed: night(1) } },
  {
    name: 'reversed while its line is written',
    script: { reports: [completed()], reversed: night(1) + 0.3 },
  },
  {
    name: 'reversed while its batch is sealed',
    script: { reports: [completed()], reversed: night(1) + 0.6 },
  },
  {
    name: 'reversed after its line',
    script: { reports: [completed()], reversed: night(1) + 7_200 },
  },
  {
    name: 'reversed while it is paid',
    script: { reports: [completed()], reversed: night(2) + 0.4 },
  },
  {
    name: 'reversed after it was paid',
    script: { reports: [completed()], reversed: night(2) + 7_200 },
  },
  { name: 'said to be reversed, and failed', script: { reports: [failed()], reversed: 60 } },
  {
    name: 'reversed after its line, the bank took a fee',
    script: { reports: [completed(5, { fee: '0.50' })], reversed: night(1) + 7_200 },
  },
  {
    name: 'reversed after its line, of a provider without a webhook',
    script: { provider: 2, reports: [completed()], reversed: night(1) + 7_200 },
  },
]

const settlements: readonly Shape[] = [
  { name: 'paid later', script: { reports: [completed()] }, payments: ['underway'] },
  { name: 'not paid', script: { reports: [completed()] }, payments: ['rejected'] },
  {
    name: 'paid later, of a provider without a webhook',
    script: { provider: 2, reports: [completed()] },
    payments: ['underway'],
  },
  {
    name: 'not paid, of two attempts',
    script: { provider: 3, reports: [completed()] },
    payments: ['rejected'],
  },
  {
    name: 'reversed after its line, not paid',
    script: { reports: [completed()], reversed: night(1) + 7_200 },
    payments: ['rejected'],
  },
  {
    name: 'paid later, reversed meanwhile',
    script: { reports: [completed()], reversed: night(2) + 1 },
    payments: ['underway'],
  },
  {
    name: 'a fee with a minimum',
    script: { provider: 3, amount: '1.00', reports: [completed()] },
  },
  {
    name: 'a fee at its most',
    script: { provider: 1, amount: '999.99', reports: [completed()] },
  },
]

/** Losses that the sweep alone repairs. */
const losses: readonly Shape[] = [
  {
    name: 'messages about events are lost again and again',
    script: { reports: [completed(20)] },
    losses: { webhooks: 12 },
  },
  {
    name: 'the stream is lost: completed',
    script: { reports: [completed()] },
    losses: { record: Number.POSITIVE_INFINITY },
  },
  {
    name: 'the stream is lost: failed',
    script: { reports: [failed()] },
    losses: { record: Number.POSITIVE_INFINITY },
  },
  {
    name: 'the stream is lost: silent',
    script: { reports: [] },
    losses: { record: Number.POSITIVE_INFINITY },
  },
  {
    name: 'every timer is lost',
    script: { reports: [] },
    losses: { timer: Number.POSITIVE_INFINITY },
  },
  {
    name: 'the first message to each queue is lost',
    script: { reports: [completed()] },
    losses: { submissions: 1, timeouts: 1, expiries: 1, 'webhooks-high': 1, 'webhooks-low': 1 },
  },
  {
    name: 'the messages of a recovery are lost',
    script: { provider: 3, reports: [approved(), completed(400)] },
    answers: [500, 500, 500, 500, 500, 500],
    losses: { recoveries: 2 },
  },
  {
    name: 'an event is abandoned while the webhook recovers',
    script: { provider: 3, reports: [completed()], reversed: 3_600 },
    answers: [500, 500, 500, 500, 0],
  },
]

export const shapes: readonly Shape[] = [
  ...paths,
  ...providers,
  ...receivers,
  ...reversals,
  ...settlements,
  ...losses,
]

/** Those in which every pair of effects is met: the ways that most debits go, and their rims. */
const PAIRED: ReadonlySet<string> = new Set([
  'completed by an update',
  'completed as five minutes are over',
  'failed, then said to be completed',
  'taken, then silent',
  'rejected',
  'refused',
  'sandbox: completed',
  'asked for again',
  'over the daily limit',
  'a provider of some events: failed',
  'a provider without a webhook: completed',
  'reversed while its line is written',
])

export const pairedShapes: readonly Shape[] = shapes.filter(({ name }) => PAIRED.has(name))

const NIGHTS = 3

/** A world in which one debit scripts so. */
export const scenarioOf = ({
  name: _,
  script,
  answers = [],
  payments = ['paid'],
  losses,
}: Shape): Scenario => {
  const midnight = NOON + DAY_MS / 2
  const one: DebitScript = {
    n: 1,
    at: NOON,
    provider: 0,
    bank: 'HBA',
    amount: '101.00',
    phone: '+233241234567',
    verdict: 'accepted',
    reports: [],
    asks: 'once',
    polls: [],
    redelivered: undefined,
    reversed: undefined,
    ...script,
  }
  return {
    seed: 1,
    startAt: NOON - 60_000,
    scripts: [one],
    faults: new Set(),
    intensity: 1,
    healAt: midnight + NIGHTS * DAY_MS - DAY_MS + 3 * HOUR_SECONDS * 1000,
    endAt: midnight + NIGHTS * DAY_MS + 3 * HOUR_SECONDS * 1000,
    crashes: [],
    ...(losses ? { losses } : {}),
    payments,
    answers,
    providers: [one.provider],
  }
}
