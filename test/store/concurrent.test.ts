import { expect, test } from 'vitest'
import { mapConcurrent } from '../../shared/store/concurrent.ts'

test('a failed call of many is thrown after the others in flight have ended', async () => {
  const ended: number[] = []
  const fails = async (item: number): Promise<void> => {
    if (item === 0) throw new Error('throttled')
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
    ended.push(item)
  }
  await expect(mapConcurrent([0, 1, 2], 3, fails)).rejects.toThrow('throttled')
  expect(ended).toEqual([1, 2])
})

test('the results of many calls have the order of the items', async () => {
  const doubled = mapConcurrent([3, 1, 2], 2, async (item) => item * 2)
  expect(await doubled).toEqual([6, 2, 4])
})
