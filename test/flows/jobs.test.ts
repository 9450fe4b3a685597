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
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import {
  CHARGE,
  chargeBody,
  PATIENCE,
  printed,
  type Shown,
  useService,
} from '../support/running-service.ts'

/** Jobs that are started by their messages alone. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

const TODAY = dayOf(new Date())
const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]
beforeAll(() => service.call('bank', 'create', bank.options()))
afterEach(() => vi.useRealTimers())

const run = async <Q extends QueueName>(
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

const createHtbPayee = (id: string): Promise<Payee> => {
  const account = { 'settlement-bank': 'HTB', 'settlement-account': '7001007001' }
  return createPayee(service, id, account)
}

/** Writes debits that were completed yesterday. */
const writeCompletedYesterday = async (provider: ProviderId, count: number): Promise<void> => {
  const noon = new Date(startOf(dayAfter(TODAY, -1)).getTime() + 12 * 3_600_000)
  const cause = { at: noon, by: 'bank:GCB', requestId: 'request-2' }
  const write = async () => {
    const pending = pendingDebit({ provider }, noon)
    const debit = granted(advance(pending, { ...cause, to: 'completed', changes: {} }))
    const Item = { ...toDebitItem(debit), ...workAfter(debit) }
    await table.send(new PutCommand({ TableName: tableName(), Item }))
  }
  await Promise.all(Array.from({ length: count }, write))
}

/** Runs work with a clock on which it takes hours. */
const withFastClock = async <T>(work: () => Promise<T>): Promise<T> => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  const timer = setInterval(() => vi.setSystemTime(Date.now() + 3_600_000), 1)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    vi.useRealTimers()
  }
}

const batchesOf = async (payee: Payee): Promise<Shown[]> =>
  await service.call('settlement', 'list', { provider: payee.id })

describe('build-batch', () => {
  test('builds a batch of more debits than one write takes, with its reports', async () => {
    const payee = await createHtbPayee('built-by-job')
    await writeCompletedYesterday(providerId(payee.id), 46)
    await run('build-batch', 'settlements', { provider: providerId(payee.id), date: TODAY })
    const [batch] = await batchesOf(payee)
    expect(batch).toMatchObject({ status: 'pending', count: 46, gross: '4600.00' })
    expect((await payee.batch('report', batch.id)).lines).toHaveLength(46)
    await run('build-batch', 'settlements', { provider: providerId(payee.id), date: TODAY })
    expect(await batchesOf(payee)).toEqual([batch])
  })

  test('is continued by another run when its time is up', async () => {
    const payee = await createHtbPayee('built-by-two')
    const provider = providerId(payee.id)
    await writeCompletedYesterday(provider, 46)
    await withFastClock(() => run('build-batch', 'settlements', { provider, date: TODAY }))
    await vi.waitFor(async () => {
      const [batch] = await batchesOf(payee)
      expect(batch).toMatchObject({ count: 46, sealed_at: expect.any(String) })
    }, PATIENCE)
  })

  test('continues a run of an operator whose time is up', async () => {
    const payee = await createHtbPayee('left-by-operator')
    await writeCompletedYesterday(providerId(payee.id), 46)
    const { in_work } = await withFastClock(() => payee.run(TODAY))
    expect(in_work).toEqual([payee.id])
    await vi.waitFor(async () => {
      const [batch] = await batchesOf(payee)
      expect(batch).toMatchObject({ count: 46, sealed_at: expect.any(String) })
    }, PATIENCE)
  })
})

describe('process-batch', () => {
  test('deducts the shortfall of an earlier batch and sends its event once', async () => {
    const payee = await createHtbPayee('paid-by-job')
    await payee.webhook('set', { url: receiver.url(), events: 'settlement.completed' })
    const [reference = ''] = await payee.complete('20.00', '1.00')
    await payee.run(first)
    await payee.reverse(reference)
    const [below] = (await payee.run(second)).built
    await payee.complete('100.00')
    const [later] = (await payee.run(third)).built
    await run('process-batch', 'payments', { batch: later.id })
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
    }, PATIENCE)
    // The queue of slow receivers gets the message as well after it was delivered.
    const about = { ...deliveryOf('DCS', id), attempt: 1 }
    await run('deliver-sidelined-webhook', 'webhooks-sidelined', about)
    await run('deliver-webhook', 'webhooks-medium', about)
    expect(await receiver.events(later.id, 1)).toHaveLength(1)
    await service.call('delivery', 'redeliver', { id: String(id) })
    expect(await receiver.events(later.id, 2)).toHaveLength(2)
  })
})

describe('schedule-timeout', () => {
  test('sends the message of a timeout in the past immediately', async () => {
    const { body } = await service.send('POST', CHARGE, {
      credential: 'sk_sandbox_demo',
      body: chargeBody({ phone_number: '+233244444444' }),
    })
    const { reference } = body.data
    const status = async () => (await service.call('debit', 'show', { reference })).status
    await vi.waitFor(async () => expect(await status()).toBe('processing'), PATIENCE)
    vi.useFakeTimers({ now: Date.now() + 660_000, toFake: ['Date'] })
    await run('schedule-timeout', 'timeouts', { reference, phase: 'processing' })
    await vi.waitFor(async () => expect(await status()).toBe('failed'), PATIENCE)
  })
})

describe('open-settlement', () => {
  test('starts the builds of completed debits and the payouts that are due', async () => {
    const payee = await createHtbPayee('opened')
    await writeCompletedYesterday(providerId(payee.id), 46)
    const [due] = (await payee.run(TODAY)).built
    await writeCompletedYesterday(providerId(payee.id), 2)
    vi.useFakeTimers({ now: startOf(first), toFake: ['Date'] })
    await run('open-settlement', 'settlement-runs', {})
    vi.useRealTimers()
    await vi.waitFor(async () => {
      const batches = await batchesOf(payee)
      expect(batches.find(({ id }) => id === due.id)).toMatchObject({ status: 'completed' })
      expect(batches.find(({ id }) => id !== due.id)).toMatchObject({ count: 2 })
    }, PATIENCE)
  })
})

describe('reconcile-day', () => {
  test('checks the batches of its day line by line and logs differences', async () => {
    const payee = await createHtbPayee('reconciled-by-job')
    await writeCompletedYesterday(providerId(payee.id), 1)
    await payee.run(TODAY)
    await payee.complete('5.00')
    const found = await service.call('reconciliation', 'run', { date: TODAY })
    expect(found.date).toBe(TODAY)
    vi.useFakeTimers({ now: startOf(first).getTime() + 2 * 3_600_000, toFake: ['Date'] })
    await run('reconcile-day', 'reconciliations', {})
  })
})

describe('the sweep', () => {
  const writeBatch = async (
    fields: Partial<Batch>,
    payee: Payee,
    index: number,
  ): Promise<Batch> => {
    const batch = {
      ...openBatch({
        id: `STL-${TODAY.replaceAll('-', '')}-LEFT0${index}` as Batch['id'],
        uuid: crypto.randomUUID() as Batch['uuid'],
        provider: providerId(payee.id),
        date: TODAY,
        n: 1,
        createdAt: new Date(),
        feeSchedule: null,
      }),
      ...fields,
    }
    await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(batch) }))
    return batch
  }

  const sweepInAnHour = async () => {
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] })
    await run('sweep', 'sweeps', {})
    vi.useRealTimers()
  }

  test('queries the bank before it fails a debit whose timers never fired', async () => {
    const chargedAt = new Date(Date.now() - 700_000)
    const atBank = { identifier: v.parse(BankIdentifier, 'HTB'), name: 'Test Bank' }
    const pending = pendingDebit({ bank: atBank }, chargedAt)
    const cause = { at: chargedAt, by: 'bank:HTB', requestId: 'accepted' }
    const debit = granted(advance(pending, { ...cause, to: 'processing', changes: {} }))
    // The relay skips this entity, so no timer is set.
    const Item = { ...toDebitItem(debit), entity: 'restored' }
    await table.send(new PutCommand({ TableName: tableName(), Item }))
    const { reference, uuid, amount } = debit.facts
    const named = { uuid, amount: formatAmount(amount), bank_reference: 'HTB-LATE' }
    bank.outcomes.set(uuid, { ...named, status: 'completed' })
    await run('sweep', 'sweeps', {})
    const { status, history } = await service.call('debit', 'show', { reference })
    expect({ status, by: history.at(-1).by }).toEqual({ status: 'completed', by: 'bank:HTB' })
  })

  test('continues an abandoned build, also when its stream record was lost', async () => {
    const abandonBuild = async (id: string, isContinued: boolean) => {
      const { id: provider } = await createHtbPayee(id)
      const turn = await acquireLease({ provider: providerId(provider), date: TODAY }, real)
      if (!turn) throw new Error('No turn')
      await releaseLease(turn, { isContinued })
      return () => findBuild(turn.provider, TODAY)
    }
    const continued = await abandonBuild('continued-build', true)
    await vi.waitFor(async () => expect(await continued()).toBeUndefined(), PATIENCE)
    const lost = await abandonBuild('lost-build', false)
    await sweepInAnHour()
    await vi.waitFor(async () => expect(await lost()).toBeUndefined(), PATIENCE)
  })

  test('completes an abandoned batch and queries an abandoned payout', async () => {
    const builder = await createHtbPayee('left-building')
    const left = await writeBatch({}, builder, 1)
    const payee = await createHtbPayee('left-paying')
    await writeCompletedYesterday(providerId(payee.id), 1)
    bank.conducts.push('take its time')
    await payee.run(TODAY)
    const { paid } = await payee.run(first)
    expect(paid).toMatchObject([{ status: 'processing' }])
    await sweepInAnHour()
    await vi.waitFor(async () => {
      expect(await findBatch(left.id)).toMatchObject({ reportedAt: expect.any(Date) })
      expect(await payee.batch('show', paid[0].id)).toMatchObject({ status: 'completed' })
    }, PATIENCE)
  })
})
