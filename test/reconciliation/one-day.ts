import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { advance, approve, type Changes, type Debit } from '../../shared/domain/debits/debit.ts'
import type { ReportException } from '../../shared/domain/debits/exception.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { completeRefund, reversalRefund } from '../../shared/domain/debits/refund.ts'
import { pesewas } from '../../shared/domain/money.ts'
import {
  type Batch,
  type BatchId,
  openBatch,
  withSums,
} from '../../shared/domain/settlement/batch.ts'
import { adjustmentLine, debitLine } from '../../shared/domain/settlement/line.ts'
import { Day } from '../../shared/domain/time.ts'
import { abandon, newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { real } from '../../shared/runtime.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transitionFresh } from '../../shared/store/debits/transitions.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findBatches, findOpenBatch, replaceBatch } from '../../shared/store/settlement/batches.ts'
import { addLines, findLines, linesOf } from '../../shared/store/settlement/lines.ts'
import { put, table, tableName } from '../../shared/store/table.ts'
import { transact } from '../../shared/store/transactions.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { demoProvider, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'

/** A day of debits that came to all kinds of ends, written by those who write them. */

export const TODAY = v.parse(Day, '2026-11-21')
export const TOMORROW = v.parse(Day, '2026-11-22')
export const DAY_AFTER = v.parse(Day, '2026-11-23')

/** Takes events of completed and failed debits; has a daily limit. */
export const demo = demoProvider.id
/** Takes no events, and has no limit. */
export const other = providerId('other')

export const at = (day: Day, time: string): Date => new Date(`${day}T${time}Z`)

const runtimeAt = (now: Date) => still({ now: () => now })

/** A debit that was charged at noon. */
export const charged = async (
  facts: Partial<Debit['facts']> = {},
  when = at(TODAY, '12:00:00'),
): Promise<Debit> => {
  const isDemo = (facts.provider ?? demo) === demo
  const made = pendingDebit({ ...(isDemo ? { countedOn: TODAY } : {}), ...facts }, when)
  const by = `provider:${made.facts.provider}`
  const debit = { ...made, history: made.history.map((entry) => ({ ...entry, by })) }
  const { provider, reference } = debit.facts
  await createDebit({ debit, fingerprint: '', dailyLimit: isDemo ? LIMIT : undefined }, still())
  const events = [0, 1].map((n) => ({ reference, n }))
  await appendToFeed(provider, events, when)
  return debit
}

const LIMIT = pesewas(50_000_00)

const whoMoves: Partial<Record<Status, string>> = { reversed: 'operator' }

export const moved = async (
  debit: Debit,
  to: Status,
  when: Date,
  changes: Changes = {},
): Promise<Debit> => {
  const cause = { at: when, by: whoMoves[to] ?? 'bank:GCB', requestId: `to-${to}` }
  const after = granted(
    await transitionFresh(debit, (now) => advance(now, { ...cause, to, changes }), still()),
  )
  if (to === 'reversed') {
    const refund = completeRefund(reversalRefund(after), { bankReference: 'GCB-R', at: when })
    await transact([refundCreation(refund)], still())
  }
  return after
}

export const approved = async (debit: Debit, when: Date): Promise<Debit> => {
  const cause = { at: when, by: 'bank:GCB', requestId: 'approved' }
  return granted(await transitionFresh(debit, (now) => approve(now, cause), still()))
}

export const completed = async (facts: Partial<Debit['facts']> = {}): Promise<Debit> => {
  const processing = await moved(await charged(facts), 'processing', at(TODAY, '12:00:02'))
  return moved(processing, 'completed', at(TODAY, '12:01:00'), { fee: pesewas(1_50) })
}

export const failed = async (facts: Partial<Debit['facts']> = {}): Promise<Debit> =>
  moved(await charged(facts), 'failed', at(TODAY, '12:10:30'), { errorMessage: 'No' })

/** How an attempt of the last event of a debit came out. */
export const told = async (debit: Debit, codes: readonly number[]): Promise<void> => {
  let before: Parameters<typeof replaceDelivery>[0]
  const n = debit.history.length - 1
  const event = debitEvent(debit, n)
  for (const code of codes) {
    const id = `dlv_${before?.attemptCount ?? 0}`
    const made = { id, at: event.at, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' }
    const after = recordAttempt(
      before ?? newDelivery(event, {}),
      { kind: 'answered', code, body: '' },
      made,
      0,
    )
    await replaceDelivery(before, after)
    before = after
  }
}

/** A delivery that was given up before it was tried. */
export const givenUp = async (debit: Debit): Promise<void> => {
  const event = debitEvent(debit, debit.history.length - 1)
  await replaceDelivery(undefined, abandon(newDelivery(event, {}), 4001, event.at))
}

/** The batch of a day with the lines of completed debits, and with those taken back. */
export const settled = async (
  day: Day,
  { give = [], takeBack = [] }: { give?: readonly Debit[]; takeBack?: readonly Debit[] },
): Promise<BatchId> => {
  const runtime = runtimeAt(at(day, '00:00:10'))
  const now = await Promise.all(
    [...give, ...takeBack].map(async ({ facts }) => (await findDebit(facts.reference)) as Debit),
  )
  const originals = await findLines(
    now.flatMap(({ facts, settledIn }) =>
      settledIn ? [{ batch: settledIn, reference: facts.reference }] : [],
    ),
  )
  const entries = now.map((debit) => {
    const original = originals.get(debit.facts.reference)
    return { debit, line: original ? adjustmentLine(original) : debitLine(debit, undefined) }
  })
  const provider = now[0]?.facts.provider ?? demo
  const building = await findOpenBatch({ provider, date: day, feeSchedule: null }, runtime)
  await addLines(building, { entries, sweptBefore: runtime.now() }, runtime)
  await finished(building.batch.id, at(day, '00:00:20'))
  return building.batch.id
}

const finished = async (id: BatchId, when: Date): Promise<void> => {
  const [batch] = await findBatches([id])
  if (!batch) throw new Error(`Batch ${id} does not exist`)
  const sealed = { ...batch, sealedAt: when, reportedAt: when }
  await replaceBatch(batch, await withSums(sealed, linesOf(id)), still())
}

export const putProviders = async (): Promise<void> => {
  await changeProvider(demo, () => demoProvider, noWrites, real)
  const { dailyLimit, ...unlimited } = demoProvider
  await changeProvider(other, () => ({ ...unlimited, id: other }), noWrites, real)
  await put(keys.webhook(demo), 'webhook', {
    url: 'https://example.com/',
    secret: 'sealed',
    timeoutSeconds: 30,
    connectionTimeoutSeconds: 10,
    events: ['transaction.completed', 'transaction.failed'],
    since: at(TODAY, '00:00:00').toISOString(),
  })
}

/** What the day comes to: a debit of each kind, and the batches. */
export const aDay = async () => {
  await putProviders()
  const [done, declined, takenBackEarly, otherSettled, takenBack, otherFailed] = await Promise.all([
    doneAfterAWhile(),
    declinedAndLate(),
    reversedUnsettled(),
    completed({ provider: other }),
    completed({ provider: other }),
    failed({ provider: other }),
  ])
  const [batch, otherBatch] = await Promise.all([
    settled(TOMORROW, { give: [done] }),
    settled(TOMORROW, { give: [otherSettled, takenBack] }),
  ])
  await moved(takenBack, 'reversed', at(TOMORROW, '09:00:00'))
  const below = await settled(DAY_AFTER, { takeBack: [takenBack] })
  const debits = { done, declined, takenBackEarly, otherSettled, takenBack, otherFailed }
  return { ...debits, batch, otherBatch, below }
}

/** Approved in between, and told at the third attempt. */
const doneAfterAWhile = async (): Promise<Debit> => {
  const processing = await moved(await charged(), 'processing', at(TODAY, '12:00:02'))
  await approved(processing, at(TODAY, '12:00:30'))
  const done = await moved(processing, 'completed', at(TODAY, '12:05:00'))
  await told(done, [500, 503, 204])
  return done
}

/** Its bank takes the money all the same; its provider would not hear of it. */
const declinedAndLate = async (): Promise<Debit> => {
  const declined = await failed()
  await told(declined, [404])
  await putException(lateCompletionOf(declined, at(TODAY, '13:00:00')))
  return declined
}

/** The record of a completion that a bank reported after the debit failed. */
export const lateCompletionOf = ({ facts }: Debit, reportedAt: Date): ReportException => ({
  reference: facts.reference,
  kind: 'late_completion',
  at: reportedAt,
  provider: facts.provider,
  bank: facts.bank.identifier,
  amount: facts.amount,
  by: 'bank:GCB',
  requestId: 'late',
  status: 'failed',
  code: 3001,
  report: '{"status":"completed","bank_reference":"B-1"}',
})

const reversedUnsettled = async (): Promise<Debit> => {
  const done = await completed()
  await givenUp(done)
  return moved(done, 'reversed', at(TODAY, '18:00:00'))
}

export type ADay = Awaited<ReturnType<typeof aDay>>

/** Changes an item as nobody of the service would. */
export const damage = async (
  Key: Key,
  UpdateExpression: string,
  values: Record<string, unknown> = {},
): Promise<void> => {
  const names = [...new Set(UpdateExpression.match(/#[a-z]+/gi) ?? [])]
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key,
      UpdateExpression,
      ConditionExpression: 'attribute_exists(pk)',
      ...(names.length > 0
        ? { ExpressionAttributeNames: Object.fromEntries(names.map((one) => [one, one.slice(1)])) }
        : {}),
      ...(Object.keys(values).length > 0
        ? {
            ExpressionAttributeValues: Object.fromEntries(
              Object.entries(values).map(([name, value]) => [`:${name}`, value]),
            ),
          }
        : {}),
    }),
  )
}

/** The days later when all that was to follow has followed. */
export const LATER = new Date('2026-11-24T12:00:00.000Z')

export const reconciled = (date: Day, now = LATER) => reconcile(date, { now: () => now })

/** The invariants that do not hold, each with what is wrong. */
export const differences = async (date: Day, now = LATER) => {
  const { invariants: found } = await reconciled(date, now)
  return found
    .filter((one) => one.differences > 0)
    .map(({ number, examples }) => ({ number, examples }))
}

/** A batch of the other provider that nothing of the service has built. */
export const batchOf = (date: Day): Batch =>
  openBatch({
    id: `STL-${date.replaceAll('-', '')}-ZZZZZZ` as Batch['id'],
    uuid: '0f7f4c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e' as Batch['uuid'],
    provider: other,
    date,
    n: 9,
    createdAt: at(date, '00:00:01'),
    feeSchedule: null,
  })
