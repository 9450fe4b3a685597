import { beforeAll, describe, expect, test, vi } from 'vitest'
import { readGeneration, writeGeneration } from '../../shared/settlement/report/generation.ts'
import { keys } from '../../shared/store/keys.ts'
import { remove } from '../../shared/store/table.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { createProvider, deliveriesPath, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The restore record: generations and held payouts. */

const service = useService()
const receiver = useReceiver()

const begin = (generation: string): Promise<Shown> =>
  service.call('restore', 'begin', { generation })

/** Deletes the record, as a restore to an earlier second does. */
const deleteRecord = () => remove(keys.restore)

let provider: Provider
let payee: Payee
let earlier: Shown
let batch: Shown
beforeAll(async () => {
  provider = await createProvider(service, 'restored')
  await provider.webhook('set', { url: receiver.url() })
  payee = await createPayee(service, 'held')
  const reference = await provider.charge()
  earlier = await provider.delivery(reference, 'failed', 'delivered')
  await payee.complete('100.00')
  batch = (await payee.run(nightAfter(0))).built[0]
})

describe('before any restore', () => {
  test('the generation is 1 and no provider is held', async () => {
    expect(await service.call('restore', 'show')).toEqual({
      generation: 1,
      highest_generation: 1,
      begun_at: null,
      by: null,
      released_at: null,
      released: [],
      held: [],
    })
    expect(await service.refusal('restore', 'release')).toBe('no restore has begun')
  })

  test.each(['1', '10', '-2', '2.5', 'next'])(
    'no restore has the generation %s',
    async (generation) => {
      expect(await service.refusal('restore', 'begin', { generation })).toBe(
        '--generation: must be a whole number from 2 to 9',
      )
    },
  )
})

describe('restore begin', () => {
  test('holds every provider and is recorded as a change', async () => {
    const begun = await begin('2')
    expect(begun).toMatchObject({ generation: 2, released_at: null, released: [] })
    expect(begun.held).toEqual(expect.arrayContaining(['demo', 'restored', 'held']))
    const [change] = await service.call('change', 'list', { limit: '1' })
    expect(change).toMatchObject({
      noun: 'restore',
      verb: 'begin',
      target: 'generation 2',
      changed: { generation: { from: null, to: 2 } },
    })
  })

  test('rejects a used generation', async () => {
    expect(await service.refusal('restore', 'begin', { generation: '2' })).toBe(
      '--generation: must be above 2, the highest so far',
    )
  })

  test('gives events ids of their generation, which no other generation finds', async () => {
    const reference = await provider.charge()
    const record = await provider.delivery(reference, 'failed', 'delivered')
    const [post] = (await receiver.events(reference, 3)).slice(-1)
    expect(record.event_id).toBe(`evt_${record.id}`)
    expect(post?.body.event_id).toBe(record.event_id)
    expect(post?.headers['x-svc-delivery-id']).toMatch(new RegExp(`^dlv_${record.id}_`))
    expect(String(record.id)).toMatch(/12$/)
    expect(String(earlier.id)).toMatch(/02$/)

    const redeliver = (id: number) =>
      provider.send('POST', `/api/v1/payment-providers/deliveries/${id}/redeliver`)
    expect((await redeliver(record.id)).status).toBe(202)
    expect((await redeliver(earlier.id)).status).toBe(202)
    for (const id of [record.id - 10, record.id + 10, earlier.id + 10]) {
      expect((await redeliver(id)).status).toBe(404)
      const reply = await service.operate('delivery', 'redeliver', { id: String(id) })
      expect(reply).toEqual({ error: 'no such delivery' })
    }
    const { body } = await provider.send('GET', deliveriesPath(reference))
    expect(body.data.map(({ id }: Shown) => String(id).slice(-2))).toEqual(['10', '11', '12'])
  })

  test('stops payouts, and the batch waits', async () => {
    const held = 'payouts are held since restore 2'
    await expect(payee.batch('process', batch.id)).rejects.toThrow(held)
    const { unpaid, paid } = await payee.run(nightAfter(1))
    expect(paid).toEqual([])
    expect(unpaid).toMatchObject([{ batch: batch.id, code: 5001 }])
    expect((await payee.batch('show', batch.id)).status).toBe('pending')
  })

  test('needs a later generation when the table has lost the record of this one', async () => {
    await deleteRecord()
    expect(await service.refusal('restore', 'begin', { generation: '2' })).toBe(
      '--generation: must be above 2, the highest so far',
    )
    expect(await service.call('restore', 'show')).toMatchObject({
      generation: 1,
      highest_generation: 2,
    })
    expect(await begin('3')).toMatchObject({ generation: 3 })
  })

  test('can be retried with the same generation when it failed before the write to the table', async () => {
    await writeGeneration({ generation: 4, isInTable: false })
    expect(await begin('4')).toMatchObject({ generation: 4 })
    expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
    await writeGeneration({ generation: 4, isInTable: false })
    // The table has the generation: only the last step was missing.
    expect(await begin('4')).toMatchObject({ generation: 4 })
    expect(await service.refusal('restore', 'begin', { generation: '4' })).toContain(
      'must be above 4',
    )
  })

  test('writes the generation of the table to the bucket when it is higher', async () => {
    await writeGeneration({ generation: 1, isInTable: true })
    expect(await service.refusal('restore', 'begin', { generation: '3' })).toContain(
      'must be above 4',
    )
    expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
  })
})

describe('restore release', () => {
  test('releases one provider, whose batch is then paid', async () => {
    const released = await service.call('restore', 'release', { provider: payee.id })
    expect(released.released).toEqual([payee.id])
    expect(released.held).not.toContain(payee.id)
    expect(released.held).toContain(provider.id)
    expect(await service.call('restore', 'release', { provider: payee.id })).toEqual(released)
    expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
    const settled = await vi.waitFor(async () => {
      const { body } = await payee.send('GET', '/api/v1/payment-providers/events?per_page=100')
      const found = body.data.find((one: Shown) => one.data.settlement?.id === batch.id)
      expect(found).toBeDefined()
      return found
    }, 15_000)
    // 99 in generation 1.
    expect(settled.event_id).toMatch(/96$/)
  })

  test('rejects an unknown provider', async () => {
    expect(await service.refusal('restore', 'release', { provider: 'nobody' })).toBe(
      'no such provider',
    )
  })

  test('releases all providers and is recorded', async () => {
    const all = await service.call('restore', 'release')
    expect(all).toMatchObject({ held: [], released_at: expect.stringMatching(/Z$/) })
    expect(await service.call('restore', 'release')).toEqual(all)
    const [change] = await service.call('change', 'list', { limit: '1' })
    expect(change).toMatchObject({ verb: 'release', changed: { released_at: { from: null } } })
  })
})

test('the ninth generation is the last one', async () => {
  expect(await begin('9')).toMatchObject({ generation: 9 })
  await deleteRecord()
  expect(await service.refusal('restore', 'begin', { generation: '9' })).toBe(
    '--generation: all generations up to 9 are used',
  )
})
