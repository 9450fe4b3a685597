import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test, vi } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayAfter, dayOf, startOf } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { changeWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { pendingDebit } from '../support/examples.ts'
import { createProvider, printed } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { useService } from '../support/running-service.ts'

/** A day that the stream never told of, put right by an operator. */

const service = useService()
const receiver = useReceiver()

const DATE = dayAfter(dayOf(new Date()), -10)
const NOON = new Date(startOf(DATE).getTime() + 12 * 3_600_000)

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const PATIENCE = { timeoutSeconds: 30, connectionTimeoutSeconds: 10 }

/** As a backup has it: the relay is not told of it. */
const restore = async (debit: Debit): Promise<Debit> => {
  const Item = { ...toDebitItem(debit), ...workAfter(debit), entity: 'restored' }
  await table.send(new PutCommand({ TableName: tableName(), Item }))
  return debit
}

type Move = Parameters<typeof advance>[1]

const move = (debit: Debit, to: Move['to'], changes: Move['changes'] = {}): Debit =>
  granted(advance(debit, { to, changes, at: NOON, by: 'bank:GCB', requestId: 'request-2' }))

const DECLINED = { errorMessage: 'Declined', errorCode: 'transaction_declined' } as const

test('each event of each debit of the day stands in the feed, once, and arrives', async () => {
  const restored = await createProvider(service, 'restored')
  const provider = restored.id as ProviderId
  // Set long before that day: nothing is owed to a webhook that was set after it.
  await changeWebhook(
    provider,
    () => ({ url: receiver.url(), secret: SECRET, ...PATIENCE }),
    noWrites,
    real,
  )
  const opened = () => pendingDebit({ provider }, NOON)
  const processing = () => move(opened(), 'processing')
  const lives: [Debit, string[]][] = [
    [await restore(opened()), ['created', 'pending']],
    [await restore(processing()), ['created', 'pending', 'processing']],
    [
      await restore(move(processing(), 'completed')),
      ['created', 'pending', 'processing', 'completed'],
    ],
    [await restore(move(opened(), 'failed', DECLINED)), ['created', 'pending', 'failed']],
  ]
  const day = { provider, date: DATE }
  const repair = async () => printed(await service.operate('debit', 'repair', day))
  expect(await repair()).toMatchObject({ looked_at: 4, is_done: true })
  const feed = async () => {
    const { body } = await restored.send('GET', '/api/v1/payment-providers/events?per_page=100')
    return body.data.map(
      ({ event, data }: { event: string; data: { transaction: { reference: string } } }) =>
        `${data.transaction.reference} ${event.split('.')[1]}`,
    )
  }
  const told = lives.flatMap(([{ facts }, events]) =>
    events.map((one) => `${facts.reference} ${one}`),
  )
  expect(await feed()).toEqual(expect.arrayContaining(told))
  for (const [{ facts }, events] of lives) await receiver.events(facts.reference, events.length)
  await repair()
  const after: string[] = await feed()
  expect(after.length).toBe(new Set(after).size)
})

test('a pending debit that was not submitted is submitted', async () => {
  const { id } = await createProvider(service, 'unsubmitted')
  const chargedAt = new Date(Date.now() - 180_000)
  const { facts } = await restore(pendingDebit({ provider: id as ProviderId }, chargedAt))
  const day = { provider: id, date: dayOf(chargedAt) }
  const repaired = printed(await service.operate('debit', 'repair', day))
  expect(repaired.repaired).toEqual([facts.reference])
  await vi.waitFor(async () => {
    const { status } = printed(
      await service.operate('debit', 'show', { reference: facts.reference }),
    )
    expect(status).not.toBe('pending')
  }, 15_000)
})

test('a provider that there is none of is told in one line', async () => {
  const day = { provider: 'nobody', date: DATE }
  expect(await service.operate('debit', 'repair', day)).toEqual({ error: 'no such provider' })
})
