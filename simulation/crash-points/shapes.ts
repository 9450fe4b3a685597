import type { Life, Plan, Report } from '../scenario/scenario.ts'

/**
 * The shapes that a debit's life can take, each small enough to lose a worker at every one of its
 * effects: what its bank says, what its receiver answers, whether it is reversed, how it is paid.
 */

const HOUR_SECONDS = 3_600
const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 20, 12)

/** Seconds from the charge to a while after the first, second and third midnight. */
const night = (n: number): number => 12 * HOUR_SECONDS + (n - 1) * 24 * HOUR_SECONDS

export type Shape = {
  name: string
  life: Partial<Life>
  answers?: readonly number[]
  payments?: Plan['payments']
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
  { name: 'completed by an update', life: { reports: [completed()] } },
  { name: 'completed by a callback', life: { reports: [completed(5, { by: 'callback' })] } },
  { name: 'completed, the bank took a fee', life: { reports: [completed(5, { fee: '1.25' })] } },
  { name: 'completed at once', life: { reports: [completed(0)] } },
  { name: 'completed twice', life: { reports: [completed(), completed(6)] } },
  { name: 'completed, then said to have failed', life: { reports: [completed(), failed(6)] } },
  { name: 'failed, then said to be completed', life: { reports: [failed(), completed(6)] } },
  { name: 'failed by an update', life: { reports: [failed()] } },
  { name: 'approved, then completed', life: { reports: [approved(), completed(30)] } },
  {
    name: 'approved, completed after five minutes',
    life: { reports: [approved(), completed(400)] },
  },
  { name: 'approved, then failed', life: { reports: [approved(), failed(30)] } },
  { name: 'approved, then silent', life: { reports: [approved()] } },
  { name: 'taken, then silent', life: { reports: [] } },
  { name: 'completed as five minutes are over', life: { reports: [completed(300)] } },
  { name: 'completed after five minutes', life: { reports: [completed(330)] } },
  { name: 'completed after ten minutes', life: { reports: [completed(660)] } },
  { name: 'rejected', life: { verdict: 'rejected', reports: [] } },
  { name: 'sandbox: completed', life: { bank: 'SBX', phone: '+233241234567' } },
  { name: 'sandbox: insufficient funds', life: { bank: 'SBX', phone: '+233241111111' } },
  { name: 'sandbox: never accepted', life: { bank: 'SBX', phone: '+233242222222' } },
  { name: 'sandbox: declined', life: { bank: 'SBX', phone: '+233243333333' } },
  { name: 'sandbox: accepted, then silent', life: { bank: 'SBX', phone: '+233244444444' } },
  { name: 'sandbox: no such account', life: { bank: 'SBX', phone: '+233240000009' } },
  { name: 'asked for again', life: { asks: 'again', reports: [completed()] } },
  { name: 'its reference used for another', life: { asks: 'otherwise', reports: [completed()] } },
  { name: 'refused', life: { asks: 'wrongly' } },
]

/** Over the provider's daily limit of 1,500.00 in one, of a provider without any in the other. */
const providers: readonly Shape[] = [
  { name: 'a provider of some events: completed', life: { provider: 1, reports: [completed()] } },
  { name: 'a provider of some events: failed', life: { provider: 1, reports: [failed()] } },
  { name: 'over the daily limit', life: { provider: 1, amount: '1500.01', reports: [] } },
  {
    name: 'a provider without a webhook: completed',
    life: { provider: 2, reports: [completed()] },
  },
  { name: 'a provider without a webhook: failed', life: { provider: 2, reports: [failed()] } },
  { name: 'a provider without a webhook: silent', life: { provider: 2, reports: [] } },
  { name: 'a provider of two attempts: completed', life: { provider: 3, reports: [completed()] } },
  { name: 'a provider of two attempts: rejected', life: { provider: 3, verdict: 'rejected' } },
]

const receivers: readonly Shape[] = [
  { name: 'a receiver that answers 500 once', life: { reports: [completed()] }, answers: [500] },
  {
    name: 'a receiver that answers 503 twice',
    life: { reports: [completed()] },
    answers: [503, 503],
  },
  { name: 'a receiver that is silent once', life: { reports: [failed()] }, answers: [0] },
  { name: 'a receiver that refuses for good', life: { reports: [completed()] }, answers: [410] },
  { name: 'a receiver that redirects', life: { reports: [failed()] }, answers: [302] },
  { name: 'a receiver that asks for time', life: { reports: [completed()] }, answers: [429, 408] },
  {
    name: 'a receiver that is given up, and answers again',
    life: { provider: 3, reports: [completed()] },
    answers: [500, 500, 500, 500],
  },
  {
    name: 'redelivered after it was received',
    life: { reports: [completed()], redelivered: 60 },
  },
  {
    name: 'redelivered after it was given up',
    life: { provider: 3, reports: [completed()], redelivered: 120 },
    answers: [500, 500, 500, 500, 500, 500],
  },
]

const reversals: readonly Shape[] = [
  { name: 'reversed at once', life: { reports: [completed()], reversed: 30 } },
  { name: 'reversed before its day is over', life: { reports: [completed()], reversed: 3_600 } },
  { name: 'reversed as the night begins', life: { reports: [completed()], reversed: night(1) } },
  {
    name: 'reversed while its line is written',
    life: { reports: [completed()], reversed: night(1) + 0.3 },
  },
  {
    name: 'reversed while its batch is sealed',
    life: { reports: [completed()], reversed: night(1) + 0.6 },
  },
  { name: 'reversed after its line', life: { reports: [completed()], reversed: night(1) + 7_200 } },
  {
    name: 'reversed while it is paid',
    life: { reports: [completed()], reversed: night(2) + 0.4 },
  },
  {
    name: 'reversed after it was paid',
    life: { reports: [completed()], reversed: night(2) + 7_200 },
  },
  { name: 'said to be reversed, and failed', life: { reports: [failed()], reversed: 60 } },
  {
    name: 'reversed after its line, the bank took a fee',
    life: { reports: [completed(5, { fee: '0.50' })], reversed: night(1) + 7_200 },
  },
  {
    name: 'reversed after its line, of a provider without a webhook',
    life: { provider: 2, reports: [completed()], reversed: night(1) + 7_200 },
  },
]

const settlements: readonly Shape[] = [
  { name: 'paid later', life: { reports: [completed()] }, payments: ['underway'] },
  { name: 'not paid', life: { reports: [completed()] }, payments: ['rejected'] },
  {
    name: 'paid later, of a provider without a webhook',
    life: { provider: 2, reports: [completed()] },
    payments: ['underway'],
  },
  {
    name: 'not paid, of two attempts',
    life: { provider: 3, reports: [completed()] },
    payments: ['rejected'],
  },
  {
    name: 'reversed after its line, not paid',
    life: { reports: [completed()], reversed: night(1) + 7_200 },
    payments: ['rejected'],
  },
  {
    name: 'paid later, reversed meanwhile',
    life: { reports: [completed()], reversed: night(2) + 1 },
    payments: ['underway'],
  },
  {
    name: 'a fee with a minimum',
    life: { provider: 3, amount: '1.00', reports: [completed()] },
  },
  {
    name: 'a fee at its most',
    life: { provider: 1, amount: '999.99', reports: [completed()] },
  },
]

export const shapes: readonly Shape[] = [
  ...paths,
  ...providers,
  ...receivers,
  ...reversals,
  ...settlements,
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

/** A world in which one debit lives so. */
export const planOf = ({ name: _, life, answers = [], payments = ['paid'] }: Shape): Plan => {
  const midnight = NOON + DAY_MS / 2
  const one: Life = {
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
    ...life,
  }
  return {
    seed: 1,
    startAt: NOON - 60_000,
    lives: [one],
    faults: new Set(),
    intensity: 1,
    healAt: midnight + NIGHTS * DAY_MS - DAY_MS + 3 * HOUR_SECONDS * 1000,
    endAt: midnight + NIGHTS * DAY_MS + 3 * HOUR_SECONDS * 1000,
    deaths: [],
    payments,
    answers,
    providers: [one.provider],
  }
}
