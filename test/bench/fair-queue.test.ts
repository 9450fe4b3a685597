import { expect, test } from 'vitest'
import { openFairQueue } from '../../bench/fair-queue.ts'
import { submission } from '../../shared/queues/outbox.ts'
import { pendingDebit, providerId } from '../support/examples.ts'

const openQueue = (concurrency: number) => {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const queue = openFairQueue(concurrency, async (body) => {
    started.push(body)
    await new Promise<void>((resolve) => {
      ends.set(body, resolve)
    })
  })
  const end = async (body: string) => {
    ends.get(body)?.()
    await new Promise(setImmediate)
  }
  return { queue, started, end }
}

test('messages in flight never exceed the concurrency', () => {
  const { queue, started } = openQueue(2)
  for (const body of ['a1', 'b1', 'c1']) queue.send({ group: body.slice(0, 1), body })
  expect(started).toEqual(['a1', 'b1'])
})

test('the group with the fewest messages in flight is next, even when others wait longer', async () => {
  const { queue, started, end } = openQueue(2)
  for (const body of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.send({ group: body.slice(0, 1), body })
  expect(started).toEqual(['a1', 'a2'])
  await end('a1')
  expect(started.at(-1)).toBe('b1')
  await end('b1')
  expect(started.at(-1)).toBe('a3')
})

test('a queue is drained when no message waits or is in flight', async () => {
  const { queue, started, end } = openQueue(1)
  await queue.drained()
  queue.send({ group: 'a', body: 'a1' })
  queue.send({ group: 'a', body: 'a2' })
  const drained = queue.drained()
  await end('a1')
  await end('a2')
  await drained
  expect(started).toEqual(['a1', 'a2'])
})

test('the submissions of a busy provider do not delay another provider of the same bank', async () => {
  const { queue, started, end } = openQueue(2)
  const charge = (provider: string): string => {
    const debit = pendingDebit({ provider: providerId(provider) })
    const { group } = submission(debit, { resubmission: false })
    queue.send({ group, body: debit.facts.reference })
    return debit.facts.reference
  }
  const busy = Array.from({ length: 100 }, () => charge('busy'))
  const other = charge('other')
  expect(started).toEqual(busy.slice(0, 2))
  await end(busy[0] ?? '')
  expect(started.at(-1)).toBe(other)
})
