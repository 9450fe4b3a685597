import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { prefetch } from '../../shared/settlement/prefetch.ts'

async function* pages() {
  yield* [1, 2, 3]
}
/** Fails for a page that is loaded ahead. */
const load = async (page: number): Promise<number> => {
  if (page === 2) throw new Error('throttled')
  return page
}

test('a consumer that stops, or is slow, meets the fault of a page that is loaded ahead only when it asks for it', async () => {
  for await (const page of prefetch(pages(), load)) {
    expect(page).toBe(1)
    // A rejection that nobody handles by now ends the process.
    await setImmediate()
    break
  }
  const seen: number[] = []
  const readAll = async () => {
    for await (const page of prefetch(pages(), load)) {
      seen.push(page)
      await setImmediate()
    }
  }
  await expect(readAll()).rejects.toThrow('throttled')
  expect(seen).toEqual([1])
})
