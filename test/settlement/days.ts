import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import type { FeeSchedule } from '../../shared/domain/settlement/fee-schedule.ts'
import { type Day, dayOf, startOf } from '../../shared/domain/time.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findBatches, listBatches, listPayable } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { type BankBooks, bankBooks, type Conduct } from './bank-books.ts'
import { type Lived, type Run, wrongAtTheEnd } from './end-of-days.ts'
import { beforeWrites, both, Killed, killing, type Meeting, meeting } from './meeting.ts'
import { at, complete, newProvider, openedDebit, reverse } from './one-provider.ts'
import { sealedBytes } from './raw-items.ts'

/** Three days of a provider with the nights after them, and quiet nights until all has ended. */

type Reversal = {
  moment:
    | { kind: 'at once' }
    | { kind: 'at noon'; daysLater: number }
    /** Before a write of the run of that night. */
    | { kind: 'during a run'; night: number; write: number }
  twice: boolean
}

type PlannedDebit = {
  amount: number
  fee: number | undefined
  /** From 0 to 2. */
  day: number
  /** Milliseconds from its midnight. */
  time: number
  /** Completed before a midnight, and in the table after its run. */
  isLate: boolean
  reversal: Reversal | undefined
}

type Night =
  | 'once'
  | 'doubled'
  | 'skipped'
  | 'late by 26 hours'
  | 'two at once'
  | 'cut off'
  | 'cut off and left'
  | `killed at write ${number}`

export type Plan = {
  feeSchedule: FeeSchedule | undefined
  debits: PlannedDebit[]
  nights: [Night, Night, Night]
  conducts: Conduct[]
}

/** The last reversal, its adjustment, the payment of that. */
const LAST_NIGHT = 9

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const midnight = (days: number): number => at('00:00:00', days).getTime()

type Life = {
  provider: ProviderId
  bank: BankBooks
  world: PaymentDeps
  now: Date
  /** Counts what happens, so that it can be said what was first. */
  order: number
  lived: Lived[]
  runs: Run[]
  /** What is to be reversed in the run of a night, and before which of its writes. */
  during: { night: number; write: number; lived: Lived }[]
  /** Batches as they were when they were sealed. */
  sealed: Map<string, string>
  complaints: string[]
}

type Step = { when: number; what: () => Promise<unknown> }

/** @returns what is wrong */
export const liveThrough = async ({ feeSchedule, debits, nights, conducts }: Plan) => {
  const provider = await newProvider({ feeSchedule, account: '1041001001' })
  const bank = bankBooks()
  bank.conducts.push(...conducts)
  const life: Life = {
    provider,
    bank,
    world: {
      runtime: still({ now: () => life.now }),
      connectors: { sandbox: bank.connector, http: bank.connector },
    },
    now: at('00:00:00'),
    order: 0,
    lived: [],
    runs: [],
    during: [],
    sealed: new Map(),
    complaints: [],
  }
  const steps = [
    ...debits.flatMap((debit) => stepsOf(debit, life)),
    ...nights.flatMap((night, n) => nightSteps(night, n, life)),
    ...quietSteps(nights.length, life),
  ]
  for (const { when, what } of steps.sort((a, b) => a.when - b.when)) {
    life.now = new Date(when)
    life.order += 1
    await what()
  }
  return [...life.complaints, ...(await wrongAtTheEnd(life))]
}

const stepsOf = (planned: PlannedDebit, life: Life): Step[] => {
  const { amount, fee, day, time, isLate, reversal } = planned
  const completedAt = midnight(day) + time
  const written = isLate ? midnight(day + 1) + 10 * MINUTE : completedAt
  const lived: Lived = {
    reference: undefined,
    completedAt,
    written: undefined,
    reversed: undefined,
  }
  life.lived.push(lived)
  const completion = async () => {
    const debit = await openedDebit(life.provider, amount)
    await complete(debit, new Date(completedAt), fee)
    Object.assign(lived, { reference: debit.facts.reference, written: life.order })
  }
  const back = () => giveBack(lived, life)
  const steps: Step[] = [{ when: written, what: completion }]
  const times = reversal?.twice ? [0, 1] : [0]
  switch (reversal?.moment.kind) {
    case undefined:
      break
    case 'at once':
      steps.push(...times.map((n) => ({ when: written + 1 + n, what: back })))
      break
    case 'at noon': {
      const noon = midnight(day + reversal.moment.daysLater) + 12 * HOUR
      steps.push(...times.map((n) => ({ when: noon + n * HOUR, what: back })))
      break
    }
    case 'during a run': {
      const { night, write } = reversal.moment
      life.during.push(...times.map((n) => ({ night, write: write + n, lived })))
    }
  }
  return steps
}

/** What is not completed yet is refused, and what is reversed already stays as it is. */
const giveBack = async (lived: Lived, life: Life): Promise<void> => {
  if (!lived.reference) return
  life.order += 1
  const debit = await reverse(lived.reference, life.now)
  if (debit instanceof Refusal) life.complaints.push(`${lived.reference} cannot be given back`)
  else lived.reversed ??= life.order
}

const nightSteps = (night: Night, n: number, life: Life): Step[] => {
  const first = midnight(n + 1) + SECOND
  const again = midnight(n + 1) + 20 * MINUTE
  const run = (how: How = {}) => ({
    when: first,
    what: () => runNight(n, how, life),
  })
  switch (night) {
    case 'once':
      return [run()]
    case 'doubled':
      return [run(), { ...run(), when: again }]
    case 'skipped':
      return []
    case 'late by 26 hours':
      return [{ ...run(), when: first + 26 * HOUR }]
    case 'two at once':
      return [run({ atOnce: 2 })]
    case 'cut off':
      return [run({ isCut: true }), { ...run(), when: again }]
    case 'cut off and left':
      return [run({ isCut: true })]
    default:
      return [run({ killedAt: Number(night.split(' ').at(-1)) }), { ...run(), when: again }]
  }
}

const quietSteps = (from: number, life: Life): Step[] =>
  Array.from({ length: LAST_NIGHT - from }, (_, n) => ({
    when: midnight(from + n + 1) + SECOND,
    what: async () => {
      life.bank.conducts.length = 0
      await lookAfterBatches(life)
      await runNight(from + n, {}, life)
    },
  }))

/** How many runs at once, and how they end. */
type How = { atOnce?: number; isCut?: boolean; killedAt?: number }

/** Builds and pays, as the jobs of a night do, and as many of them at once as it is said. */
const runNight = async (night: number, how: How, life: Life): Promise<void> => {
  const { world } = life
  const date = dayOf(life.now)
  const payable = await payableOf(life, date)
  const hooks = life.during.filter((one) => one.night === night)
  const giveBackAt = async (write: number) => {
    for (const hook of hooks) if (hook.write === write) await giveBack(hook.lived, life)
  }
  await meeting(both(endOf(how), beforeWrites(giveBackAt)), () => build(date, how, life))
  // Those for which the run had too few writes.
  for (const { lived } of hooks) if (!lived.reversed) await giveBack(lived, life)
  // Payments that are not at their end; those of this night are asked for in the next.
  const unended = await inStatus('processing', life)
  for (const { id } of [...payable, ...unended]) {
    await together(how.atOnce ?? 1, () => unlessLost(payBatch(id, world)))
  }
  await compareSealed(life)
}

const endOf = ({ killedAt }: How): Meeting =>
  killedAt === undefined ? (_, go) => go() : killing({ write: killedAt, side: 'before' })

const build = async (
  date: Day,
  { atOnce = 1, isCut = false, killedAt }: How,
  life: Life,
): Promise<void> => {
  const { provider, world } = life
  life.order += 1
  const from = life.order
  await together(atOnce, () => buildBatch({ provider, date }, world.runtime, () => isCut)).catch(
    (error: unknown) => {
      if (!(error instanceof Killed)) throw error
    },
  )
  life.order += 1
  life.runs.push({ date, from, to: life.order, isCut: isCut || killedAt !== undefined })
}

const together = (count: number, work: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work))

const unlessLost = (paying: Promise<unknown>): Promise<unknown> =>
  paying.catch((error: unknown) => {
    if (!/is lost$/.test(String(error))) throw error
  })

const payableOf = async ({ provider }: Life, date: Day): Promise<Batch[]> =>
  (await findBatches(await listPayable(startOf(date)))).filter((one) => one.provider === provider)

const inStatus = async (status: Batch['status'], { provider }: Life): Promise<Batch[]> =>
  (await listBatches(provider, { limit: 100 })).filter((batch) => batch.status === status)

/** What the sweep takes up, and what an operator has paid after all. */
const lookAfterBatches = async (life: Life): Promise<void> => {
  for (const { date, reportedAt } of await inStatus('pending', life)) {
    if (!reportedAt) await build(date, {}, life)
  }
  for (const { id } of await inStatus('failed', life)) await retryBatch(id, life.world)
}

const compareSealed = async ({ provider, sealed, complaints }: Life): Promise<void> => {
  for (const [batch, bytes] of await sealedBytes(provider)) {
    if ((sealed.get(batch) ?? bytes) !== bytes) complaints.push(`${batch} changed when sealed`)
    sealed.set(batch, bytes)
  }
}
