import { expect, test } from 'vitest'
import { openFairQueue } from '../../bench/fair-queue.ts'
import { submission } from '../../shared/queues/outbox.ts'
import { pendingDebit, providerId } from '../support/examples.ts'

/** The model of a fair queue that the benchmark of a dead receiver stands on. */

const opened = (concurrency: number) => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const queue = openFairQueue(concurrency, async (body) => {
    begun.push(body)
    await new Promise<void>((resolve) => {
      ends.set(body, resolve)
    })
  })
  const end = async (body: string) => {
    ends.get(body)?.()
    await new Promise(setImmediate)
  }
  return { queue, begun, end }
}

test('no more are in work than there are workers', () => {
  const { queue, begun } = opened(2)
  for (const body of ['a1', 'b1', 'c1']) queue.send({ group: body.slice(0, 1), body })
  expect(begun).toEqual(['a1', 'b1'])
})

test('whoever has fewest in work goes first, however long another waits', async () => {
  const { queue, begun, end } = opened(2)
  for (const body of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.send({ group: body.slice(0, 1), body })
  expect(begun).toEqual(['a1', 'a2'])
  await end('a1')
  expect(begun.at(-1)).toBe('b1')
  await end('b1')
  expect(begun.at(-1)).toBe('a3')
})

test('it is drained when nothing waits and nothing is in work', async () => {
  const { queue, begun, end } = opened(1)
  await queue.drained()
  queue.send({ group: 'a', body: 'a1' })
  queue.send({ group: 'a', body: 'a2' })
  const drained = queue.drained()
  await end('a1')
  await end('a2')
  await drained
  expect(begun).toEqual(['a1', 'a2'])
})

test('the submissions of a busy provider delay no other provider at the same bank', async () => {
  const { queue, begun, end } = opened(2)
  const charge = (provider: string): string => {
    const debit = pendingDebit({ provider: providerId(provider) })
    const { group } = submission(debit, { resubmission: false })
    queue.send({ group, body: debit.facts.reference })
    return debit.facts.reference
  }
  const busy = Array.from({ length: 100 }, () => charge('busy'))
  const other = charge('other')
  expect(begun).toEqual(busy.slice(0, 2))
  await end(busy[0] ?? '')
  expect(begun.at(-1)).toBe(other)
})
