import { expect, test } from 'vitest'
import { thenRestore } from '../../sandbox/scenarios/play.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The scenarios of a sandbox with approvals (docs/testing.md#scenarios). */

const service = useService({ approvals: true })

test.each([
  ['webhook-abandoned-and-recovered', 'completed'],
  ['slow-receiver', 'completed'],
  ['reversed-and-refunded', 'reversed'],
  ['settled-and-paid-out', 'completed'],
])('the scenario %s ends as %s, because a second operator grants its calls', async (name, end) => {
  const { address } = service.sandbox()
  const reply = await fetch(`${address}/sandbox/scenarios/${name}`, { method: 'POST' })
  expect(await reply.json()).toMatchObject({ data: { status: end } })
  expect(await service.call('webhook', 'list')).toEqual([])
  const approvals: Shown[] = await service.call('approval', 'list')
  expect(approvals.filter((approval) => approval.status !== 'granted')).toEqual([])
})

test('a scenario throws the error of its action, also if the clean-up fails', async () => {
  const fail = (message: string) => () => Promise.reject(new Error(message))
  const action = fail('the action failed')
  const restore = fail('the clean-up failed')
  await expect(thenRestore(action, restore)).rejects.toThrow('the action failed')
  await expect(thenRestore(async () => 1, restore)).rejects.toThrow('the clean-up failed')
})
