import { beforeAll, describe, expect, test, vi } from 'vitest'
import { readGeneration, writeGeneration } from '../../shared/settlement/report/generation.ts'
import { keys } from '../../shared/store/keys.ts'
import { remove } from '../../shared/store/table.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import {
  createProvider,
  deliveriesPath,
  type Provider,
  printed,
  type Shown,
} from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { useService } from '../support/running-service.ts'

/** The record of restores: generations, and what they hold. A whole restore: restore-rehearsal. */

const service = useService()
const receiver = useReceiver()

const operate = async (noun: string, verb: string, options: Record<string, string> = {}) =>
  printed(await service.operate(noun, verb, options))

const refused = async (verb: string, options: Record<string, string> = {}) => {
  const reply = await service.operate('restore', verb, options)
  return 'error' in reply ? reply.error : undefined
}

const begin = (generation: string): Promise<Shown> => operate('restore', 'begin', { generation })

/** What a second restore does, to a second before the first one. */
const loseTheRecord = () => remove(keys.restore)

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
  test('the generation is 1, and nothing is held', async () => {
    expect(await operate('restore', 'show')).toEqual({
      generation: 1,
      highest_generation: 1,
      begun_at: null,
      by: null,
      released_at: null,
      released: [],
      held: [],
    })
    expect(await refused('release')).toBe('no restore has begun')
  })

  test.each(['1', '10', '-2', '2.5', 'next'])(
    'no restore has the generation %s',
    async (generation) => {
      expect(await refused('begin', { generation })).toBe(
        '--generation: must be a whole number from 2 to 9',
      )
    },
  )
})

describe('restore begin', () => {
  test('holds every provider, and is recorded as a change', async () => {
    const begun = await begin('2')
    expect(begun).toMatchObject({ generation: 2, released_at: null, released: [] })
    expect(begun.held).toEqual(expect.arrayContaining(['demo', 'restored', 'held']))
    const [change] = await operate('change', 'list', { limit: '1' })
    expect(change).toMatchObject({
      noun: 'restore',
      verb: 'begin',
      target: 'generation 2',
      changed: { generation: { from: null, to: 2 } },
    })
  })

  test('takes no generation twice', async () => {
    expect(await refused('begin', { generation: '2' })).toBe(
      '--generation: must be above 2, the highest so far',
    )
  })

  test('an event has the id of its generation, and is found by no other', async () => {
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

  test('no payout is sent, and the batch waits', async () => {
    const held = 'payouts are held since restore 2'
    await expect(payee.batch('process', batch.id)).rejects.toThrow(held)
    const { unpaid, paid } = await payee.run(nightAfter(1))
    expect(paid).toEqual([])
    expect(unpaid).toMatchObject([{ batch: batch.id, code: 5001 }])
    expect((await payee.batch('show', batch.id)).status).toBe('pending')
  })

  test('a later generation is needed when the table has lost the record of this one', async () => {
    await loseTheRecord()
    expect(await refused('begin', { generation: '2' })).toBe(
      '--generation: must be above 2, the highest so far',
    )
    expect(await operate('restore', 'show')).toMatchObject({
      generation: 1,
      highest_generation: 2,
    })
    expect(await begin('3')).toMatchObject({ generation: 3 })
  })

  test('that was cut off before it wrote the table is repeated with the same generation', async () => {
    await writeGeneration({ generation: 4, isInTable: false })
    expect(await begin('4')).toMatchObject({ generation: 4 })
    expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
    await writeGeneration({ generation: 4, isInTable: false })
    // The table has it: its last step alone was missing.
    expect(await begin('4')).toMatchObject({ generation: 4 })
    expect(await refused('begin', { generation: '4' })).toContain('must be above 4')
  })

  test('leaves the bucket as the table says when the table has a higher generation', async () => {
    await writeGeneration({ generation: 1, isInTable: true })
    expect(await refused('begin', { generation: '3' })).toContain('must be above 4')
    expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
  })
})

describe('restore release', () => {
  test('ends the hold of one provider, whose batch is then paid', async () => {
    const released = await operate('restore', 'release', { provider: payee.id })
    expect(released.released).toEqual([payee.id])
    expect(released.held).not.toContain(payee.id)
    expect(released.held).toContain(provider.id)
    expect(await operate('restore', 'release', { provider: payee.id })).toEqual(released)
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

  test('needs a provider that there is', async () => {
    expect(await refused('release', { provider: 'nobody' })).toBe('no such provider')
  })

  test('ends the hold of all, and is recorded', async () => {
    const all = await operate('restore', 'release')
    expect(all).toMatchObject({ held: [], released_at: expect.stringMatching(/Z$/) })
    expect(await operate('restore', 'release')).toEqual(all)
    const [change] = await operate('change', 'list', { limit: '1' })
    expect(change).toMatchObject({ verb: 'release', changed: { released_at: { from: null } } })
  })
})

test('the ninth generation is the last one', async () => {
  expect(await begin('9')).toMatchObject({ generation: 9 })
  await loseTheRecord()
  expect(await refused('begin', { generation: '9' })).toBe(
    '--generation: all generations up to 9 are used',
  )
})
