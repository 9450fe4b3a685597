import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { openSettlement } from '../../functions/jobs/open-settlement.ts'
import { processBatch } from '../../functions/jobs/process-batch.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { resumeBatch } from '../../shared/queues/outbox.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { paymentDeps } from '../../shared/settlement/payment-deps.ts'
import { runSettlement } from '../../shared/settlement/run.ts'
import { listBatches } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { type Call, type Kill, Killed, killing, meeting } from './meeting.ts'
import { gathered, take } from './messages-sent.ts'
import { at, completedDebits, reverse } from './one-provider.ts'
import { type Books, readBooks } from './raw-items.ts'

/**
 * Five days of one provider: a batch that is paid, the reversal of one of its debits, a batch below
 * zero, and one that makes it good. The work of any day may be ended at any of its writes; then
 * the run at 00:20 comes, and what the sweep sends.
 */

/** Who does the work of a night. */
export type Worker = 'jobs' | 'operator'

const STEPS = ['first night', 'reversal', 'second night', 'third night', 'fourth night'] as const
export type StepName = (typeof STEPS)[number]

export type Killing = Kill & { step: StepName }

/** At the bank's own time of day, by which it judges signatures. */
const atTheBank: Pick<Runtime, 'now'> = { now: () => new Date() }

export const liveFiveDays = async (
  provider: ProviderId,
  worker: Worker,
  killed?: Killing,
): Promise<Record<StepName, number>> => {
  const writes: Record<string, number> = {}
  const [large] = await completedDebits(provider, [100_00, 40_00], at('09:00:00'))
  if (!large) throw new Error('No debit')
  await completedDebits(provider, [5_00], at('09:00:00', 1))
  await completedDebits(provider, [500_00], at('09:00:00', 2))

  const work = async (step: StepName, first: () => Promise<unknown>, again = first) => {
    writes[step] = 0
    const count = ({ isWrite }: Call) => {
      if (isWrite) writes[step] = (writes[step] ?? 0) + 1
    }
    if (killed?.step !== step) {
      await meeting(async (call, go) => {
        count(call)
        return go()
      }, first)
      return
    }
    const end = killing(killed)
    await meeting(end, first).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
    })
    if (!end.isDead()) throw new Error(`Nothing was ended in the ${step}`)
    await again()
  }
  const night = (daysLater: number) => [
    () => settle(provider, worker, at('00:00:01', daysLater)),
    () => catchUp(provider, worker, at('00:20:00', daysLater)),
  ]
  const giveBack = () => reverse(large.facts.reference as Reference, at('12:00:00', 1))

  await work('first night', ...(night(1) as [() => Promise<void>]))
  await work('reversal', giveBack)
  await work('second night', ...(night(2) as [() => Promise<void>]))
  await work('third night', ...(night(3) as [() => Promise<void>]))
  await work('fourth night', ...(night(4) as [() => Promise<void>]))
  return writes as Record<StepName, number>
}

const settle = async (provider: ProviderId, worker: Worker, now: Date): Promise<void> => {
  const runtime = still({ now: () => now })
  if (worker === 'operator') {
    const world = { runtime, connectors: paymentDeps(still(atTheBank)).connectors }
    await runSettlement(dayOf(now), [provider], world, () => false)
    return
  }
  const sent = await gathered(() => take(openSettlement(runtime), 'settlement-runs', {}))
  for (const one of sent) {
    if (one.queue === 'settlements' && one.body.provider === provider) {
      await take(buildBatches(runtime), 'settlements', one.body)
    }
  }
  const own = (await listBatches(provider, { limit: 100 })).map(({ id }) => String(id))
  for (const one of sent) {
    if (one.queue === 'payments' && own.includes(String(one.body.batch))) await pay(one.body)
  }
}

/** A message that fails comes again. */
const pay = async (body: object, repeated = false): Promise<void> => {
  const job = processBatch(still(atTheBank))
  const { batchItemFailures } = await take(job, 'payments', body, { repeated })
  if (batchItemFailures.length > 0 && !repeated) await pay(body, true)
}

/** The next run, and what the sweep sends for batches that somebody was at work on. */
const catchUp = async (provider: ProviderId, worker: Worker, now: Date): Promise<void> => {
  const runtime = still({ now: () => now })
  await settle(provider, worker, now)
  for (const batch of await listBatches(provider, { limit: 100 })) {
    for (const { queue, message } of resumeBatch(batch)) {
      if (queue === 'settlements') await take(buildBatches(runtime), queue, message)
      if (queue === 'payments') await pay(message)
    }
  }
}

/** What is the same for every provider that lived through the same: places and amounts. */
export const livedThrough = async (provider: ProviderId) => {
  const books = await readBooks([provider])
  const { debits, lines, batches } = books
  const place = placesOf(books)
  const amountOf = new Map(debits.map(({ reference, amount }) => [reference, amount]))
  return {
    books,
    debits: debits
      .map(({ amount, status, settledIn, adjustedIn }) =>
        [amount, status, place(settledIn), place(adjustedIn)].join(' '),
      )
      .sort(),
    lines: lines
      .map(({ batch, type, reference, net }) =>
        [place(batch), type, amountOf.get(reference), net].join(' '),
      )
      .sort(),
    batches: batches
      .map(({ id, status, totals, paid, outstanding, offsets, offsetBy }) =>
        [
          `${place(id)} ${status} net ${totals?.net} paid ${paid} outstanding ${outstanding}`,
          ...offsets.map(({ batch, amount }) => `good ${place(batch)} ${amount}`),
          `by ${place(offsetBy)}`,
        ].join(' '),
      )
      .sort(),
  }
}

const placesOf = ({ batches }: Books) => {
  const places = new Map(batches.map(({ id, date, n }) => [id, `${date}#${n}`]))
  return (id: string | undefined): string => (id === undefined ? '-' : (places.get(id) ?? id))
}
