import { plain, type Scenario } from '../scenario/scenario.ts'
import type { DebitScript } from '../scenario/script.ts'
import { lossy } from './lossy-shapes.ts'
import { approved, completed, failed, type Shape } from './shape.ts'

// The shapes of a debit: its bank reports, receiver responses, reversal and payout. Each is small
// enough for a crash at every effect.

const HOUR_SECONDS = 3_600
const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 20, 12)

/** Returns the seconds from the charge to a midnight, counted from 1. */
export const night = (number: number): number =>
  12 * HOUR_SECONDS + (number - 1) * 24 * HOUR_SECONDS

const paths: readonly Shape[] = [
  { name: 'completed by an update', script: { reports: [completed()] } },
  { name: 'completed by a callback', script: { reports: [completed(5, { by: 'callback' })] } },
  { name: 'completed with a bank fee', script: { reports: [completed(5, { fee: '1.25' })] } },
  { name: 'completed at once', script: { reports: [completed(0)] } },
  { name: 'completed twice', script: { reports: [completed(), completed(6)] } },
  { name: 'completed, then reported as failed', script: { reports: [completed(), failed(6)] } },
  { name: 'failed, then reported as completed', script: { reports: [failed(), completed(6)] } },
  { name: 'failed by an update', script: { reports: [failed()] } },
  { name: 'approved, then completed', script: { reports: [approved(), completed(30)] } },
  {
    name: 'approved, completed after the approval timeout',
    script: { reports: [approved(), completed(400)] },
  },
  { name: 'approved, then failed', script: { reports: [approved(), failed(30)] } },
  { name: 'approved, then silent', script: { reports: [approved()] } },
  { name: 'accepted, then silent', script: { reports: [] } },
  { name: 'completed as the approval timeout ends', script: { reports: [completed(300)] } },
  { name: 'completed after the approval timeout', script: { reports: [completed(330)] } },
  { name: 'completed after the processing timeout', script: { reports: [completed(660)] } },
  { name: 'rejected', script: { verdict: 'rejected', reports: [] } },
  { name: 'sandbox: completed', script: { bank: 'SBX', phone: '+233241234567' } },
  { name: 'sandbox: insufficient funds', script: { bank: 'SBX', phone: '+233241111111' } },
  { name: 'sandbox: never accepted', script: { bank: 'SBX', phone: '+233242222222' } },
  { name: 'sandbox: declined', script: { bank: 'SBX', phone: '+233243333333' } },
  { name: 'sandbox: accepted, then silent', script: { bank: 'SBX', phone: '+233244444444' } },
  { name: 'sandbox: unknown account', script: { bank: 'SBX', phone: '+233240000009' } },
  { name: 'charge repeated', script: { charge: 'twice', reports: [completed()] } },
  {
    name: 'reference reused for another charge',
    script: { charge: 'amount', reports: [completed()] },
  },
  { name: 'charge rejected', script: { charge: 'invalid' } },
]

/** Provider 1 has a daily limit of 1,500.00, provider 2 no webhook, provider 3 two attempts. */
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
  {
    name: 'a receiver that rejects permanently',
    script: { reports: [completed()] },
    answers: [410],
  },
  { name: 'a receiver that redirects', script: { reports: [failed()] }, answers: [302] },
  {
    name: 'a receiver that answers 429 and 408',
    script: { reports: [completed()] },
    answers: [429, 408],
  },
  {
    name: 'a receiver that recovers after abandoned events',
    script: { provider: 3, reports: [approved(), completed(400)] },
    answers: [500, 500, 500, 500, 500, 500],
  },
  {
    name: 'an event is abandoned while the receiver recovers',
    script: { provider: 3, reports: [completed()], reversed: 3_600 },
    answers: [500, 500, 500, 500, 0],
  },
  {
    name: 'redelivered after delivery',
    script: { reports: [completed()], redelivered: 60 },
  },
  {
    name: 'redelivered after the last attempt',
    script: { provider: 3, reports: [completed()], redelivered: 120 },
    answers: [500, 500, 500, 500, 500, 500],
  },
]

const reversals: readonly Shape[] = [
  { name: 'reversed at once', script: { reports: [completed()], reversed: 30 } },
  { name: 'reversed before midnight', script: { reports: [completed()], reversed: 3_600 } },
  { name: 'reversed as settlement starts', script: { reports: [completed()], reversed: night(1) } },
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
    name: 'reversed while its batch is paid',
    script: { reports: [completed()], reversed: night(2) + 0.4 },
  },
  {
    name: 'reversed after its payout',
    script: { reports: [completed()], reversed: night(2) + 7_200 },
  },
  { name: 'reversal of a failed debit', script: { reports: [failed()], reversed: 60 } },
  {
    name: 'reversed after its line, with a bank fee',
    script: { reports: [completed(5, { fee: '0.50' })], reversed: night(1) + 7_200 },
  },
  {
    name: 'reversed after its line, of a provider without a webhook',
    script: { provider: 2, reports: [completed()], reversed: night(1) + 7_200 },
  },
]

const settlements: readonly Shape[] = [
  { name: 'payout under way', script: { reports: [completed()] }, payments: ['underway'] },
  { name: 'payout rejected', script: { reports: [completed()] }, payments: ['rejected'] },
  {
    name: 'payout under way, of a provider without a webhook',
    script: { provider: 2, reports: [completed()] },
    payments: ['underway'],
  },
  {
    name: 'payout rejected, of a provider of two attempts',
    script: { provider: 3, reports: [completed()] },
    payments: ['rejected'],
  },
  {
    name: 'reversed after its line, payout rejected',
    script: { reports: [completed()], reversed: night(1) + 7_200 },
    payments: ['rejected'],
  },
  {
    name: 'reversed while its payout is under way',
    script: { reports: [completed()], reversed: night(2) + 1 },
    payments: ['underway'],
  },
  {
    name: 'a fee with a minimum',
    script: { provider: 3, amount: '1.00', reports: [completed()] },
  },
  {
    name: 'a fee at its maximum',
    script: { provider: 1, amount: '999.99', reports: [completed()] },
  },
]

export const shapes = [paths, providers, receivers, reversals, settlements, lossy].flat()

/** The shapes for pairs of crashes: the usual paths and their edges. */
const PAIRED: ReadonlySet<string> = new Set([
  'completed by an update',
  'completed as the approval timeout ends',
  'failed, then reported as completed',
  'accepted, then silent',
  'rejected',
  'charge rejected',
  'sandbox: completed',
  'charge repeated',
  'over the daily limit',
  'a provider of some events: failed',
  'a provider without a webhook: completed',
  'reversed while its line is written',
])

export const pairedShapes: readonly Shape[] = shapes.filter(({ name }) => PAIRED.has(name))

export const shapeNamed = (name: string): Shape => {
  const shape = shapes.find((shape) => shape.name === name)
  if (!shape) throw new Error(`Unknown shape: ${name}`)
  return shape
}

const NIGHTS = 3

/** Returns the scenario of one debit of this shape. */
export const scenarioOf = ({
  script,
  answers = [],
  payments = ['paid'],
  losses,
}: Shape): Scenario => {
  const midnight = NOON + DAY_MS / 2
  const debit: DebitScript = {
    number: 1,
    at: NOON,
    provider: 0,
    bank: 'HBA',
    amount: '101.00',
    phone: '+233241234567',
    verdict: 'accepted',
    reports: [],
    charge: 'once',
    polls: [],
    redelivered: undefined,
    reversed: undefined,
    ...script,
  }
  return {
    ...plain,
    seed: 1,
    startAt: NOON - 60_000,
    scripts: [debit],
    faults: new Set(),
    intensity: 1,
    healAt: midnight + NIGHTS * DAY_MS - DAY_MS + 3 * HOUR_SECONDS * 1000,
    endAt: midnight + NIGHTS * DAY_MS + 3 * HOUR_SECONDS * 1000,
    ...(losses ? { losses } : {}),
    payments,
    answers,
    providers: [debit.provider],
  }
}
