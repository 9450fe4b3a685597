import { randomUUID } from 'node:crypto'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { fingerprint, requestOf } from '../../shared/domain/debits/charge.ts'
import {
  advance,
  approve,
  type Changes,
  type Debit,
  wholeFacts,
} from '../../shared/domain/debits/debit.ts'
import type { ReportException } from '../../shared/domain/debits/exception.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { completeRefund, reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { Day } from '../../shared/domain/time.ts'
import { abandon, newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import {
  findExceptions,
  putException,
  resolutionWrite,
} from '../../shared/store/debits/exceptions.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { type Item, put, read, table, tableName } from '../../shared/store/table.ts'
import { transact } from '../../shared/store/transactions.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { demoProvider, gcb, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeBank, storeProvider } from '../support/settings.ts'

/** The stored reports and audit objects by their key. */
export const objects = useReportShelf()

/** Writes a day of debits with all outcomes through the code of the product. */

export const TODAY = v.parse(Day, '2026-11-21')
export const TOMORROW = v.parse(Day, '2026-11-22')
export const DAY_AFTER = v.parse(Day, '2026-11-23')

/** Subscribes to completed and failed debits; has a daily limit. */
export const demo = demoProvider.id
/** Has no webhook and no limit. */
export const other = providerId('other')

export const at = (day: Day, time: string): Date => new Date(`${day}T${time}Z`)

export const charged = async (
  facts: Partial<Debit['facts']> = {},
  when = at(TODAY, '12:00:00'),
): Promise<Debit> => {
  const isDemo = (facts.provider ?? demo) === demo
  const pending = pendingDebit({ ...(isDemo ? { countedOn: TODAY } : {}), ...facts }, when)
  const by = `provider:${pending.facts.provider}`
  const debit = { ...pending, history: pending.history.map((entry) => ({ ...entry, by })) }
  const { provider, reference } = debit.facts
  const charge = { debit, fingerprint: fingerprint(requestOf(wholeFacts(debit))) }
  await createDebit({ ...charge, dailyLimit: isDemo ? LIMIT : undefined }, still())
  const events = [0, 1].map((n) => ({ reference, n }))
  await appendToFeed(provider, events, when)
  return debit
}

const LIMIT = pesewas(50_000_00)

export const transitioned = async (
  debit: Debit,
  to: Status,
  when: Date,
  changes: Changes = {},
): Promise<Debit> => {
  const by = to === 'reversed' ? 'operator' : 'bank:GCB'
  const cause = { at: when, by, requestId: `to-${to}` }
  const next = granted(
    await transition(debit, (current) => advance(current, { ...cause, to, changes }), still()),
  )
  if (to === 'reversed') {
    const refund = completeRefund(reversalRefund(next), { bankReference: 'GCB-R', at: when })
    await transact([refundCreation(refund)], still())
  }
  return next
}

export const completed = async (facts: Partial<Debit['facts']> = {}): Promise<Debit> => {
  const processing = await transitioned(await charged(facts), 'processing', at(TODAY, '12:00:02'))
  return transitioned(processing, 'completed', at(TODAY, '12:01:00'), { fee: pesewas(1_50) })
}

const failed = async (facts: Partial<Debit['facts']> = {}): Promise<Debit> =>
  transitioned(await charged(facts), 'failed', at(TODAY, '12:10:30'), { errorMessage: 'No' })

/** Records attempts of the last event with these response codes. */
export const attempted = async (debit: Debit, codes: readonly number[]): Promise<void> => {
  let previous: Parameters<typeof replaceDelivery>[0]
  const n = debit.history.length - 1
  const event = debitEvent(debit, n)
  for (const code of codes) {
    const id = `dlv_${previous?.attemptCount ?? 0}`
    const timing = { id, at: event.at, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' }
    const response = { kind: 'answered', code, body: '' } as const
    const next = recordAttempt(previous ?? newDelivery(event, {}), response, timing, 0)
    await replaceDelivery(previous, next)
    previous = next
  }
}

/** Builds the next batch of a day, and returns its id. */
export const settle = async (day: Day, provider = other): Promise<BatchId> => {
  const runtime = still({ now: () => at(day, '00:00:10') })
  const { batches } = await buildBatch({ provider, date: day }, runtime)
  const [id] = batches as [BatchId]
  return id
}

export const putProviders = async (): Promise<void> => {
  await storeProvider(demoProvider)
  const { dailyLimit, ...unlimited } = demoProvider
  const settlementAccount = {
    bank: gcb.identifier,
    accountNumber: '1041001001',
    accountName: 'Other Payments',
  }
  await storeBank(gcb)
  await storeProvider({ ...unlimited, id: other, settlementAccount })
  await put(keys.webhook(demo), 'webhook', {
    url: 'https://example.com/',
    secret: 'sealed',
    timeoutSeconds: 30,
    connectionTimeoutSeconds: 10,
    events: ['transaction.completed', 'transaction.failed'],
    since: at(TODAY, '00:00:00').toISOString(),
  })
}

/** A debit of each kind, and their batches. */
export const exampleDay = async () => {
  await putProviders()
  const [done, declined, reversedEarly, otherSettled, reversed, otherFailed] = await Promise.all([
    completedAfterApproval(),
    declinedAndLate(),
    reversedUnsettled(),
    completed({ provider: other }),
    completed({ provider: other }),
    failed({ provider: other }),
  ])
  const [batch, otherBatch] = await Promise.all([settle(TOMORROW, demo), settle(TOMORROW)])
  await transitioned(reversed, 'reversed', at(TOMORROW, '09:00:00'))
  const below = await settle(DAY_AFTER)
  const debits = { done, declined, reversedEarly, otherSettled, reversed, otherFailed }
  return { ...debits, batch, otherBatch, below }
}

/** Delivered at the third attempt. */
const completedAfterApproval = async (): Promise<Debit> => {
  const processing = await transitioned(await charged(), 'processing', at(TODAY, '12:00:02'))
  const approval = { at: at(TODAY, '12:00:30'), by: 'bank:GCB', requestId: 'approved' }
  await transition(processing, (current) => approve(current, approval), still())
  const done = await transitioned(processing, 'completed', at(TODAY, '12:05:00'))
  await attempted(done, [500, 503, 204])
  return done
}

/** Completed by its bank afterwards; its event was not delivered. */
const declinedAndLate = async (): Promise<Debit> => {
  const declined = await failed()
  await attempted(declined, [404])
  await putException(lateCompletionOf(declined, at(TODAY, '13:00:00')))
  return declined
}

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

/** Resolves the exceptions of a debit as an operator does. */
export const resolveLate = async ({ facts }: Debit, when: Date): Promise<void> => {
  const resolution = { note: 'Returned', resolvedBy: 'local:ama', resolvedAt: when.toISOString() }
  const found = await findExceptions(facts.reference)
  await transact(
    found.map((one) => resolutionWrite(one, resolution)),
    still(),
  )
  const recording = { id: facts.reference, at: when, by: 'local:ama', target: facts.reference }
  await putChange({ ...recording, noun: 'exception', verb: 'resolve' }, { resolved: 'Returned' })
}

const reversedUnsettled = async (): Promise<Debit> => {
  const done = await completed()
  const event = debitEvent(done, done.history.length - 1)
  await replaceDelivery(undefined, abandon(newDelivery(event, {}), 4001, event.at))
  return transitioned(done, 'reversed', at(TODAY, '18:00:00'))
}

export type ExampleDay = Awaited<ReturnType<typeof exampleDay>>

// biome-ignore lint/suspicious/noExplicitAny: faults change members of every kind of item
type StoredItem = any

/** Changes an existing item. */
export const alter = async (key: Key, change: (item: StoredItem) => unknown): Promise<void> => {
  const Item = structuredClone(await read<Item>(key))
  if (!Item) throw new Error(`There is no item ${key.pk} ${key.sk}`)
  change(Item)
  await table.send(new PutCommand({ TableName: tableName(), Item }))
}

/** Sets attributes of an existing item by their paths. */
export const overwrite = (key: Key, values: Record<string, unknown>): Promise<void> =>
  alter(key, (item) => {
    for (const [path, value] of Object.entries(values)) {
      const names = path.split('.')
      const last = names.pop() as string
      names.reduce((parent, name) => parent[name], item)[last] = value
    }
  })

export const removeFromIndex = ({ facts }: Debit): Promise<void> =>
  alter(keys.debit(facts.reference), (item) => {
    delete item.work
    delete item.due
  })

/** When everything must have followed from the day. */
const LATER = new Date('2026-11-24T12:00:00.000Z')

export const reconcileLater = async (date: Day, now = LATER) => {
  const runtime = still({ now: () => now, newId: randomUUID })
  const result = await reconcile(date, runtime)
  if ('id' in result) throw new Error('The run has not ended')
  return result
}

/** Returns the broken invariants with their examples. */
export const differencesOn = async (date: Day, now = LATER) => {
  const { invariants } = await reconcileLater(date, now)
  return invariants
    .filter(({ differences }) => differences > 0)
    .map(({ number, examples }) => ({ number, examples }))
}

/** A batch of the other provider that the service has not built. */
export const batchOf = (date: Day): Batch => {
  const id = `STL-${date.replaceAll('-', '')}-ZZZZZZ` as BatchId
  return batch({ id, provider: other, date, n: 9, createdAt: at(date, '00:00:01'), sealedAt: null })
}
