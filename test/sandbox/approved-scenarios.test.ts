import { beforeAll, expect, test } from 'vitest'
import { thenRestore } from '../../sandbox/scenarios/play.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The scenarios of a sandbox with approvals (docs/testing.md#scenarios). */

const service = useService({ approvals: true })

// The first URL of a provider needs no approval.
beforeAll(async () => {
  const provider = 'demo'
  await service.call('webhook', 'set', { provider, url: 'http://127.0.0.1:1/' })
  await service.call('webhook', 'remove', { provider })
})

const countGranted = async (): Promise<number> => {
  const approvals: Shown[] = await service.call('approval', 'list')
  expect(approvals.filter(({ status }) => status !== 'granted')).toEqual([])
  return approvals.length
}

test.each([
  ['webhook-abandoned-and-recovered', 'completed'],
  ['slow-receiver', 'completed'],
  ['reversed-and-refunded', 'reversed'],
  ['settled-and-paid-out', 'completed'],
])('the scenario %s ends as %s, because a second operator grants its calls', async (name, end) => {
  const { address } = service.sandbox()
  const before = await countGranted()
  const reply = await fetch(`${address}/sandbox/scenarios/${name}`, { method: 'POST' })
  expect(await reply.json()).toMatchObject({ data: { status: end } })
  expect(await service.call('webhook', 'list')).toEqual([])
  expect(await countGranted()).toBeGreaterThan(before)
})

test('a scenario throws the error of its action, also if the clean-up fails', async () => {
  const fail = (message: string) => () => Promise.reject(new Error(message))
  const action = fail('the action failed')
  const restore = fail('the clean-up failed')
  await expect(thenRestore(action, restore)).rejects.toThrow('the action failed')
  await expect(thenRestore(async () => 1, restore)).rejects.toThrow('the clean-up failed')
})
