import type { lifecycle, Status } from '../../../shared/domain/debits/lifecycle.ts'
import type { Losses } from '../engine/faults.ts'
import { DAY_MS } from '../invariants/time-and-money.ts'
import { plain, type Scenario } from '../scenario/scenario.ts'
import type { DebitScript, ScriptedReport } from '../scenario/script.ts'

// The shapes of a debit: its bank reports, receiver responses, reversal and payout. Each is small
// enough for a crash at every effect.

type Conditions = { answers?: readonly number[]; payments?: Scenario['payments']; losses?: Losses }

export type Shape = Conditions & {
  name: string
  script: Partial<DebitScript>
  /** Whether it is also run with pairs of crashes: the usual paths and their edges. */
  isPaired?: boolean
}

/** By default a bank completes the debit after five seconds. */
const shape = (name: string, script: Partial<DebitScript> = {}, more: Conditions = {}): Shape => ({
  name,
  script,
  ...more,
})

const paired = (...args: Parameters<typeof shape>): Shape => ({ ...shape(...args), isPaired: true })

const completed = (afterSeconds = 5, more: Partial<ScriptedReport> = {}): ScriptedReport => ({
  afterSeconds,
  by: 'update',
  status: 'completed',
  ...more,
})
const failed = (afterSeconds = 5) => completed(afterSeconds, { status: 'failed' })
const approved = completed(5, { by: 'callback', status: 'approved' })

const HOUR_SECONDS = 3_600
const NOON = Date.UTC(2026, 10, 20, 12)

/** Returns the seconds from the charge to a midnight, counted from 1. */
export const night = (number: number) => 12 * HOUR_SECONDS + (number - 1) * 24 * HOUR_SECONDS

const charges: readonly Shape[] = [
  paired('charge repeated', { repeated: 0 }),
  shape('reference reused for another charge', { charge: 'amount' }),
  paired('charge rejected', { charge: 'invalid' }),
]

const afterLine = night(1) + 2 * HOUR_SECONDS
const withFee = { reports: [completed(5, { fee: '0.50' })] }

/** By the status in which the debit ends; an open debit ends by its timeouts. */
const paths: {
  [S in Status]: (typeof lifecycle)[S]['waitsFor'] extends null
    ? readonly [Shape, ...Shape[]]
    : readonly []
} = {
  pending: [],
  processing: [],
  completed: [
    paired('completed by an update'),
    shape('completed by a callback', { reports: [completed(5, { by: 'callback' })] }),
    shape('completed with a bank fee', { reports: [completed(5, { fee: '1.25' })] }),
    shape('completed at once', { reports: [completed(0)] }),
    shape('completed twice', { reports: [completed(), completed(6)] }),
    shape('completed, then reported as failed', { reports: [completed(), failed(6)] }),
    shape('approved, then completed', { reports: [approved, completed(30)] }),
    shape('approved, completed after its timeout', { reports: [approved, completed(400)] }),
    paired('completed as the approval timeout ends', { reports: [completed(300)] }),
    paired('sandbox: completed', { bank: 'SBX', phone: '+233241234567' }),
  ],
  failed: [
    paired('failed, then reported as completed', { reports: [failed(), completed(6)] }),
    shape('failed by an update', { reports: [failed()] }),
    shape('approved, then failed', { reports: [approved, failed(30)] }),
    shape('approved, then silent', { reports: [approved] }),
    paired('accepted, then silent', { reports: [] }),
    shape('completed after the approval timeout', { reports: [completed(330)] }),
    shape('completed after the processing timeout', { reports: [completed(660)] }),
    paired('rejected', { verdict: 'rejected' }),
    shape('sandbox: insufficient funds', { bank: 'SBX', phone: '+233241111111' }),
    shape('sandbox: never accepted', { bank: 'SBX', phone: '+233242222222' }),
    shape('sandbox: declined', { bank: 'SBX', phone: '+233243333333' }),
    shape('sandbox: accepted, then silent', { bank: 'SBX', phone: '+233244444444' }),
    shape('sandbox: unknown account', { bank: 'SBX', phone: '+233240000009' }),
    shape('reversal of a failed debit', { reports: [failed()], reversed: 60 }),
  ],
  reversed: [
    shape('reversed at once', { reversed: 30 }),
    shape('requested, then reversed', { requested: 20, reversed: 60 }),
    shape('reversed before midnight', { reversed: HOUR_SECONDS }),
    shape('reversed as settlement starts', { reversed: night(1) }),
    paired('reversed while its line is written', { reversed: night(1) + 0.3 }),
    shape('reversed while its batch is sealed', { reversed: night(1) + 0.6 }),
    shape('reversed after its line', { reversed: afterLine }),
    shape('reversed while its batch is paid', { reversed: night(2) + 0.4 }),
    shape('reversed after its payout', { reversed: night(2) + 2 * HOUR_SECONDS }),
    shape('reversed after its line, with a bank fee', { ...withFee, reversed: afterLine }),
    shape('reversed after its line, without a webhook', { provider: 2, reversed: afterLine }),
  ],
}

/** Provider 1 has a daily limit of 1,500.00, provider 2 no webhook, provider 3 two attempts. */
const providers: readonly Shape[] = [
  shape('a provider of some events: completed', { provider: 1 }),
  paired('a provider of some events: failed', { provider: 1, reports: [failed()] }),
  paired('over the daily limit', { provider: 1, amount: '1500.01' }),
  paired('a provider without a webhook: completed', { provider: 2 }),
  shape('a provider without a webhook: failed', { provider: 2, reports: [failed()] }),
  shape('a provider without a webhook: silent', { provider: 2, reports: [] }),
  shape('a provider of two attempts: completed', { provider: 3 }),
  shape('a provider of two attempts: rejected', { provider: 3, verdict: 'rejected' }),
]

const sixErrors = { answers: Array(6).fill(500) }
const late = { provider: 3, reports: [approved, completed(400)] }

const receivers: readonly Shape[] = [
  shape('a receiver that answers 500 once', {}, { answers: [500] }),
  shape('a receiver that answers 503 twice', {}, { answers: [503, 503] }),
  shape('a receiver that is silent once', { reports: [failed()] }, { answers: [0] }),
  shape('a receiver that rejects permanently', {}, { answers: [410] }),
  shape('a receiver that redirects', { reports: [failed()] }, { answers: [302] }),
  shape('a receiver that answers 429 and 408', {}, { answers: [429, 408] }),
  shape('a receiver that recovers after abandoned events', late, sixErrors),
  shape(
    'an event is abandoned while the receiver recovers',
    { provider: 3, reversed: HOUR_SECONDS },
    { answers: [500, 500, 500, 500, 0] },
  ),
  shape('redelivered after delivery', { redelivered: 60 }),
  shape('redelivered after the last attempt', { provider: 3, redelivered: 120 }, sixErrors),
]

const [underWay, rejected]: Conditions[] = [{ payments: ['underway'] }, { payments: ['rejected'] }]

const settlements: readonly Shape[] = [
  shape('payout under way', {}, underWay),
  shape('payout rejected', {}, rejected),
  shape('payout under way, of a provider without a webhook', { provider: 2 }, underWay),
  shape('payout rejected, of a provider of two attempts', { provider: 3 }, rejected),
  shape('reversed after its line, payout rejected', { reversed: afterLine }, rejected),
  shape('reversed while its payout is under way', { reversed: night(2) + 1 }, underWay),
  shape('a fee with a minimum', { provider: 3, amount: '1.00' }),
  shape('a fee at its maximum', { provider: 1, amount: '999.99' }),
]

const everyRecord = { losses: { record: Infinity } }
const queues = 'submissions timeouts expiries webhooks-high webhooks-low feeds'.split(' ')
const firstOfEach = Object.fromEntries(queues.map((queue) => [queue, 1]))

/** Losses that the sweep repairs. */
const lossy: readonly Shape[] = [
  shape('twelve webhooks are lost', { reports: [completed(20)] }, { losses: { webhooks: 12 } }),
  shape('no stream record, completed', {}, everyRecord),
  shape('no stream record, failed', { reports: [failed()] }, everyRecord),
  shape('no stream record, timed out', { reports: [] }, everyRecord),
  shape('no timer', { reports: [] }, { losses: { timer: Infinity } }),
  shape('no first message of a queue', {}, { losses: firstOfEach }),
  shape('two messages of a recovery are lost', late, { ...sixErrors, losses: { recoveries: 2 } }),
]

const others = [charges, providers, receivers, settlements, lossy]

export const shapes = [...Object.values(paths), ...others].flat()

export const pairedShapes: readonly Shape[] = shapes.filter(({ isPaired }) => isPaired)

export const shapeNamed = (name: string): Shape => {
  const shape = shapes.find((shape) => shape.name === name)
  if (!shape) throw new Error(`Unknown shape: ${name}`)
  return shape
}

const NIGHTS = 3

export const scenarioOf = ({ script, answers = [], payments = ['paid'], losses }: Shape) => {
  const endAt = NOON + (12 + NIGHTS * 24 + 3) * HOUR_SECONDS * 1000
  const debit: DebitScript = {
    number: 1,
    at: NOON,
    provider: 0,
    bank: 'HBA',
    amount: '101.00',
    phone: '+233241234567',
    verdict: 'accepted',
    reports: [completed()],
    charge: 'once',
    repeated: undefined,
    calls: [],
    redelivered: undefined,
    reversed: undefined,
    requested: undefined,
    ...script,
  }
  const scenario: Scenario = {
    ...plain,
    seed: 1,
    startAt: NOON - 60_000,
    scripts: [debit],
    faults: new Set(),
    intensity: 1,
    healAt: endAt - DAY_MS,
    endAt,
    ...(losses ? { losses } : {}),
    payments,
    answers,
    providers: [debit.provider],
  }
  return scenario
}
