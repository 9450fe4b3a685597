import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test, vi } from 'vitest'
import type { Changes, Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayAfter, dayOf, startOf } from '../../shared/domain/time.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { bankMove, pendingDebit } from '../support/examples.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { useService } from '../support/running-service.ts'
import { storeWebhook } from '../support/settings.ts'

/** Repair of a day whose stream records were lost. */

const service = useService()
const receiver = useReceiver()

const DATE = dayAfter(dayOf(new Date()), -10)
const NOON = new Date(startOf(DATE).getTime() + 12 * 3_600_000)

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const TIMEOUTS = { timeoutSeconds: 30, connectionTimeoutSeconds: 10 }

/** Writes a debit without an event in the relay, as a restore does. */
const restore = async (debit: Debit): Promise<Debit> => {
  const Item = { ...toDebitItem(debit), ...workAfter(debit), entity: 'restored' }
  await table.send(new PutCommand({ TableName: tableName(), Item }))
  return debit
}

const moved = (debit: Debit, to: Status, changes: Changes = {}): Debit =>
  granted(bankMove(to, { changes, at: NOON })(debit))

const DECLINED = { errorMessage: 'Declined', errorCode: 'transaction_declined' } as const

test('each event of each debit of the day is in the feed once and is delivered', async () => {
  const restored = await createProvider(service, 'restored')
  const provider = restored.id as ProviderId
  // The webhook must be older than the day: events before it are not sent.
  await storeWebhook(provider, { url: receiver.url(), secret: SECRET, ...TIMEOUTS })
  const opened = () => pendingDebit({ provider }, NOON)
  const processing = () => moved(opened(), 'processing')
  const debits: [Debit, string[]][] = [
    [await restore(opened()), ['created', 'pending']],
    [await restore(processing()), ['created', 'pending', 'processing']],
    [
      await restore(moved(processing(), 'completed')),
      ['created', 'pending', 'processing', 'completed'],
    ],
    [await restore(moved(opened(), 'failed', DECLINED)), ['created', 'pending', 'failed']],
  ]
  const day = { provider, date: DATE }
  const repair = async () => await service.call('debit', 'repair', day)
  expect(await repair()).toMatchObject({ looked_at: 4, is_done: true })
  const feed = async () => {
    const { body } = await restored.send('GET', '/api/v1/payment-providers/events?per_page=100')
    return body.data.map(
      ({ event, data }: { event: string; data: { transaction: { reference: string } } }) =>
        `${data.transaction.reference} ${event.split('.')[1]}`,
    )
  }
  const expected = debits.flatMap(([{ facts }, events]) =>
    events.map((event) => `${facts.reference} ${event}`),
  )
  expect(await feed()).toEqual(expect.arrayContaining(expected))
  for (const [{ facts }, events] of debits) await receiver.events(facts.reference, events.length)
  await repair()
  const repaired: string[] = await feed()
  expect(repaired.length).toBe(new Set(repaired).size)
})

test('a pending debit that was never submitted is submitted', async () => {
  const { id } = await createProvider(service, 'unsubmitted')
  const chargedAt = new Date(Date.now() - 180_000)
  const { facts } = await restore(pendingDebit({ provider: id as ProviderId }, chargedAt))
  const day = { provider: id, date: dayOf(chargedAt) }
  const repaired = await service.call('debit', 'repair', day)
  expect(repaired.repaired).toEqual([facts.reference])
  await vi.waitFor(async () => {
    const { status } = await service.call('debit', 'show', { reference: facts.reference })
    expect(status).not.toBe('pending')
  }, 15_000)
})

test('an unknown provider is refused in one line', async () => {
  const day = { provider: 'nobody', date: DATE }
  expect(await service.operate('debit', 'repair', day)).toEqual({ error: 'no such provider' })
})
