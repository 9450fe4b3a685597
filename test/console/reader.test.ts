import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openReader } from '../../console/page/reader.ts'

/** How the console's page repeats its calls. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Reads from a service that replies after a time with the number of the call. */
const reading = (replyMs: number, options: { pollMs?: number; isVisible?: () => boolean } = {}) => {
  const shown: unknown[] = []
  const calls = { made: 0, open: 0, openMax: 0 }
  const load = async (): Promise<number> => {
    calls.made += 1
    calls.open += 1
    calls.openMax = Math.max(calls.openMax, calls.open)
    const number = calls.made
    await new Promise((resolve) => setTimeout(resolve, replyMs))
    calls.open -= 1
    return number
  }
  const reader = openReader({ load, show: (state) => shown.push(state), ...options })
  return { shown, calls, ...reader }
}

test('a service that replies after 6 s is polled after each reply, and each reply is shown', async () => {
  const { read, shown, calls } = reading(6_000, { pollMs: 5_000 })
  read()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(shown).toEqual([{ data: 1 }, { data: 2 }, { data: 3 }])
  expect(calls).toMatchObject({ made: 3, openMax: 1 })
})

test('a quick sequence of changes never keeps replies from the page', async () => {
  const { read, readSoon, shown, calls } = reading(700)
  read()
  for (let change = 0; change < 370; change += 1) {
    await vi.advanceTimersByTimeAsync(27)
    readSoon()
  }
  expect(shown.length).toBeGreaterThan(6)
  expect(calls.openMax).toBe(1)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(shown.at(-1)).toEqual({ data: calls.made })
  const { made } = calls
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.made).toBe(made)
})

test('a call during a call repeats it after the reply', async () => {
  const { read, shown } = reading(1_000)
  read()
  await vi.advanceTimersByTimeAsync(500)
  read()
  await vi.advanceTimersByTimeAsync(4_000)
  expect(shown).toEqual([{ data: 1 }, { data: 2 }])
})

test('a hidden page is not polled, and a closed one shows nothing', async () => {
  let isVisible = false
  const { read, close, shown, calls } = reading(100, { pollMs: 5_000, isVisible: () => isVisible })
  read()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.made).toBe(1)
  isVisible = true
  while (calls.made === 1) await vi.advanceTimersByTimeAsync(50)
  close()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.made).toBe(2)
  expect(shown).toEqual([{ data: 1 }])
})

test('a failed call is shown, and the next reply after it', async () => {
  const shown: unknown[] = []
  let isDown = true
  const error = new Error('down')
  const load = async () => {
    if (isDown) throw error
    return 'up'
  }
  const { read } = openReader({ load, show: (state) => shown.push(state), pollMs: 5_000 })
  read()
  await vi.advanceTimersByTimeAsync(1)
  isDown = false
  await vi.advanceTimersByTimeAsync(5_001)
  expect(shown).toEqual([{ error }, { data: 'up' }])
})
