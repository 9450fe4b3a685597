import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JobName } from '../../infra/definitions/jobs.ts'
import { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { advance } from '../../shared/domain/debits/debit.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { dayAfter, dayOf, startOf } from '../../shared/domain/time.ts'
import { deliveryOf } from '../../shared/domain/webhooks/event.ts'
import type { Message, QueueName } from '../../shared/queues/messages.ts'
import { real } from '../../shared/runtime.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { acquireLease, findBuild, releaseLease } from '../../shared/store/settlement/build-lease.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { pendingDebit, providerId } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { printed, type Shown } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** Jobs by their messages alone, where an operator or a request comes first in other flows. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

const TODAY = dayOf(new Date())
const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]
const LONG = { timeout: 30_000, interval: 50 }

beforeAll(async () => {
  const settings = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
  const options = { bank: 'HTB', name: 'Test Bank', connector: 'http', ...settings }
  printed(await service.operate('bank', 'create', options))
})

afterEach(() => vi.useRealTimers())

const take = async <Q extends QueueName>(
  job: JobName,
  queue: Q,
  message: Message<Q>,
): Promise<void> => {
  const event = {
    Records: [
      {
        messageId: 'message-1',
        receiptHandle: 'gone',
        body: JSON.stringify(message),
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${queue}`,
        attributes: { ApproximateReceiveCount: '1' },
      },
    ],
  } as unknown as SQSEvent
  expect(await service.invoke(job, event)).toEqual({ batchItemFailures: [] })
}

const paidAt = (id: string): Promise<Payee> => {
  const account = { 'settlement-bank': 'HTB', 'settlement-account': '7001007001' }
  return createPayee(service, id, account)
}

/** Debits that were completed yesterday, as they stand. */
const completedYesterday = async (provider: ProviderId, count: number): Promise<void> => {
  const noon = new Date(startOf(dayAfter(TODAY, -1)).getTime() + 12 * 3_600_000)
  const cause = { at: noon, by: 'bank:GCB', requestId: 'request-2' }
  const plant = async () => {
    const pending = pendingDebit({ provider }, noon)
    const debit = granted(advance(pending, { ...cause, to: 'completed', changes: {} }))
    const Item = { ...toDebitItem(debit), ...workAfter(debit) }
    await table.send(new PutCommand({ TableName: tableName(), Item }))
  }
  await Promise.all(Array.from({ length: count }, plant))
}

/** A clock on which any work takes hours. */
const hurrying = async <T>(work: () => Promise<T>): Promise<T> => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  const hurry = setInterval(() => vi.setSystemTime(Date.now() + 3_600_000), 1)
  try {
    return await work()
  } finally {
    clearInterval(hurry)
    vi.useRealTimers()
  }
}

const batchesOf = async (payee: Payee): Promise<Shown[]> =>
  printed(await service.operate('settlement', 'list', { provider: payee.id }))

describe('build-batch', () => {
  test('builds a batch of more debits than one write takes, with its reports', async () => {
    const payee = await paidAt('built-by-job')
    await completedYesterday(providerId(payee.id), 46)
    await take('build-batch', 'settlements', { provider: providerId(payee.id), date: TODAY })
    const [batch] = await batchesOf(payee)
    expect(batch).toMatchObject({ status: 'pending', count: 46, gross: '4600.00' })
    expect((await payee.batch('report', batch.id)).lines).toHaveLength(46)
    await take('build-batch', 'settlements', { provider: providerId(payee.id), date: TODAY })
    expect(await batchesOf(payee)).toEqual([batch])
  })

  test('that has no time left is followed by another', async () => {
    const payee = await paidAt('built-by-two')
    const provider = providerId(payee.id)
    await completedYesterday(provider, 46)
    await hurrying(() => take('build-batch', 'settlements', { provider, date: TODAY }))
    await vi.waitFor(async () => {
      const [batch] = await batchesOf(payee)
      expect(batch).toMatchObject({ count: 46, sealed_at: expect.any(String) })
    }, LONG)
  })

  test('is what an operator leaves to others who has no time left', async () => {
    const payee = await paidAt('left-by-operator')
    await completedYesterday(providerId(payee.id), 46)
    const { in_work } = await hurrying(() => payee.run(TODAY))
    expect(in_work).toEqual([payee.id])
    await vi.waitFor(async () => {
      const [batch] = await batchesOf(payee)
      expect(batch).toMatchObject({ count: 46, sealed_at: expect.any(String) })
    }, LONG)
  })
})

describe('process-batch', () => {
  test('keeps back what an earlier batch lacks, and its event comes once', async () => {
    const payee = await paidAt('paid-by-job')
    await payee.webhook('set', { url: receiver.url(), events: 'settlement.completed' })
    const [reference = ''] = await payee.complete('20.00', '1.00')
    await payee.run(first)
    await payee.reverse(reference)
    const [below] = (await payee.run(second)).built
    await payee.complete('100.00')
    const [later] = (await payee.run(third)).built
    await take('process-batch', 'payments', { batch: later.id })
    expect(await payee.batch('show', later.id)).toMatchObject({
      status: 'completed',
      paid: '78.80',
    })
    expect(await payee.batch('show', below.id)).toMatchObject({ made_good_by: later.id })
    const [event] = await receiver.events(later.id, 1)
    expect(event?.body.data.settlement.paid).toBe(78.8)
    const record = () => service.operate('delivery', 'list', { reference: later.id })
    const [{ id }] = await vi.waitFor(async () => {
      const records = printed(await record())
      expect(records).toMatchObject([{ status: 'delivered' }])
      return records
    }, LONG)
    // It comes to the queue of slow receivers as well, and was received.
    const about = { ...deliveryOf('DCS', id), attempt: 1 }
    await take('deliver-sidelined-webhook', 'webhooks-sidelined', about)
    await take('deliver-webhook', 'webhooks-medium', about)
    expect(await receiver.events(later.id, 1)).toHaveLength(1)
    printed(await service.operate('delivery', 'redeliver', { id: String(id) }))
    expect(await receiver.events(later.id, 2)).toHaveLength(2)
  })
})

describe('schedule-timeout', () => {
  test('a clock that has run out already is not set: its message comes at once', async () => {
    const { body } = await service.send('POST', CHARGE, {
      credential: 'sk_sandbox_demo',
      body: chargeBody({ phone_number: '+233244444444' }),
    })
    const { reference } = body.data
    const status = async () => printed(await service.operate('debit', 'show', { reference })).status
    await vi.waitFor(async () => expect(await status()).toBe('processing'), LONG)
    vi.useFakeTimers({ now: Date.now() + 660_000, toFake: ['Date'] })
    await take('schedule-timeout', 'timeouts', { reference, phase: 'processing' })
    await vi.waitFor(async () => expect(await status()).toBe('failed'), LONG)
  })
})

describe('open-settlement', () => {
  test('has built what waits, and paid what is due', async () => {
    const payee = await paidAt('opened')
    await completedYesterday(providerId(payee.id), 46)
    const [due] = (await payee.run(TODAY)).built
    await completedYesterday(providerId(payee.id), 2)
    vi.useFakeTimers({ now: startOf(first), toFake: ['Date'] })
    await take('open-settlement', 'settlement-runs', {})
    vi.useRealTimers()
    await vi.waitFor(async () => {
      const batches = await batchesOf(payee)
      expect(batches.find(({ id }) => id === due.id)).toMatchObject({ status: 'completed' })
      expect(batches.find(({ id }) => id !== due.id)).toMatchObject({ count: 2 })
    }, LONG)
  })
})

describe('reconcile-day', () => {
  test('looks through the batches of its day, line by line, and logs what differs', async () => {
    const payee = await paidAt('reconciled-by-job')
    await completedYesterday(providerId(payee.id), 1)
    await payee.run(TODAY)
    await payee.complete('5.00')
    const found = printed(await service.operate('reconciliation', 'run', { date: TODAY }))
    expect(found.date).toBe(TODAY)
    vi.useFakeTimers({ now: startOf(first).getTime() + 2 * 3_600_000, toFake: ['Date'] })
    await take('reconcile-day', 'reconciliations', {})
  })
})

describe('the sweep', () => {
  const leave = async (given: Partial<Batch>, payee: Payee, n: number): Promise<Batch> => {
    const batch = {
      ...openBatch({
        id: `STL-${TODAY.replaceAll('-', '')}-LEFT0${n}` as Batch['id'],
        uuid: crypto.randomUUID() as Batch['uuid'],
        provider: providerId(payee.id),
        date: TODAY,
        n: 1,
        createdAt: new Date(),
        feeSchedule: null,
      }),
      ...given,
    }
    await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(batch) }))
    return batch
  }

  const inAnHour = async () => {
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] })
    await take('sweep', 'sweeps', {})
    vi.useRealTimers()
  }

  test('asks the bank before it fails a debit whose timers never fired', async () => {
    const chargedAt = new Date(Date.now() - 700_000)
    const atBank = { identifier: v.parse(BankIdentifier, 'HTB'), name: 'Test Bank' }
    const pending = pendingDebit({ bank: atBank }, chargedAt)
    const cause = { at: chargedAt, by: 'bank:HTB', requestId: 'accepted' }
    const debit = granted(advance(pending, { ...cause, to: 'processing', changes: {} }))
    // The relay is not told of it, so no timer is set.
    const Item = { ...toDebitItem(debit), entity: 'restored' }
    await table.send(new PutCommand({ TableName: tableName(), Item }))
    const { reference, uuid, amount } = debit.facts
    const named = { uuid, amount: formatAmount(amount), bank_reference: 'HTB-LATE' }
    bank.outcomes.set(uuid, { ...named, status: 'completed' })
    await take('sweep', 'sweeps', {})
    const { status, history } = printed(await service.operate('debit', 'show', { reference }))
    expect({ status, by: history.at(-1).by }).toEqual({ status: 'completed', by: 'bank:HTB' })
  })

  test('has a build continued that was left, also when the stream has not sent the next', async () => {
    const leaveBuild = async (id: string, isContinued: boolean) => {
      const { id: provider } = await paidAt(id)
      const turn = await acquireLease({ provider: providerId(provider), date: TODAY }, real)
      if (!turn) throw new Error('No turn')
      await releaseLease(turn, { isContinued })
      return () => findBuild(turn.provider, TODAY)
    }
    const continued = await leaveBuild('continued-build', true)
    await vi.waitFor(async () => expect(await continued()).toBeUndefined(), LONG)
    const lost = await leaveBuild('lost-build', false)
    await inAnHour()
    await vi.waitFor(async () => expect(await lost()).toBeUndefined(), LONG)
  })

  test('has a batch that was left built to its end, and a payment that was left asked for', async () => {
    const builder = await paidAt('left-building')
    const left = await leave({}, builder, 1)
    const payee = await paidAt('left-paying')
    await completedYesterday(providerId(payee.id), 1)
    bank.conducts.push('take its time')
    await payee.run(TODAY)
    const { paid } = await payee.run(first)
    expect(paid).toMatchObject([{ status: 'processing' }])
    await inAnHour()
    await vi.waitFor(async () => {
      expect(await findBatch(left.id)).toMatchObject({ reportedAt: expect.any(Date) })
      expect(await payee.batch('show', paid[0].id)).toMatchObject({ status: 'completed' })
    }, LONG)
  })
})
