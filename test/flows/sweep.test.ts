import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { newDelivery, redeliver } from '../../shared/domain/webhooks/delivery.ts'
import { automaticRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { findRecovery, openRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { pendingDebit, providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { PATIENCE, sampleEvent, useService } from '../support/running-service.ts'

/** The sweep repeats work whose stream records and messages were lost. */

const service = useService()
const receiver = useReceiver()

let provider: Provider
beforeAll(async () => {
  provider = await createProvider(service, 'swept')
  await provider.webhook('set', { url: receiver.url() })
})
afterEach(() => vi.useRealTimers())

const sweepIn = async (seconds: number): Promise<void> => {
  vi.useFakeTimers({ now: Date.now() + seconds * 1000, toFake: ['Date'] })
  await service.invoke('sweep', await sampleEvent('sweep'))
  vi.useRealTimers()
}

/** Runs a write under an entity that the relay skips. */
const unrelayed = async (work: () => Promise<unknown>): Promise<void> => {
  const send = table.send.bind(table) as (command: { input: { Item?: object } }) => unknown
  const spy = vi.spyOn(table, 'send').mockImplementation(((command: Parameters<typeof send>[0]) => {
    if (command.input.Item) Object.assign(command.input.Item, { entity: 'restored' })
    return send(command)
  }) as never)
  await work()
  spy.mockRestore()
}

const writeDebit = (debit: Debit) =>
  unrelayed(() => table.send(new PutCommand({ TableName: tableName(), Item: toDebitItem(debit) })))

test('a debit without stream records is published and submitted', async () => {
  for (const _ of ['first event of the feed', 'later event']) {
    const debit = pendingDebit({ provider: providerId(provider.id) }, new Date())
    const { reference } = debit.facts
    await writeDebit(debit)
    await sweepIn(120)
    await receiver.events(reference, 2)
    await vi.waitFor(async () => {
      const { status } = await service.call('debit', 'show', { reference })
      expect(status).not.toBe('pending')
    }, PATIENCE)
  }
})

test('attempts of every priority whose messages were lost are made', async () => {
  let debit = pendingDebit({ provider: providerId(provider.id) }, new Date())
  for (const to of ['processing', 'completed'] as const) {
    const cause = { at: new Date(), by: 'bank:GCB', requestId: 'request-2' }
    debit = granted(advance(debit, { ...cause, to, changes: {} }))
  }
  const { reference, provider: owner } = debit.facts
  await writeDebit(debit)
  for (const [n, { type, at }] of debit.history.entries()) {
    const delivery = newDelivery({ reference, n, provider: owner, type, at }, {})
    await unrelayed(() => replaceDelivery(undefined, redeliver(delivery, at)))
  }
  await sweepIn(120)
  expect(await receiver.events(reference, 4)).toHaveLength(4)
})

test('a recovery whose message was lost is run', async () => {
  const opening = { provider: providerId(provider.id), id: 'automatic-1', now: new Date() }
  const recovery = automaticRecovery(opening)
  await unrelayed(() => openRecovery(recovery))
  await sweepIn(120)
  await vi.waitFor(async () => {
    expect(await findRecovery(recovery.provider, recovery.id)).toMatchObject({ status: 'done' })
  }, PATIENCE)
})
