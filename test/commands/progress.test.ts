import { afterEach, expect, test, vi } from 'vitest'
import { newProgress, newSteps } from '../../commands/terminal/progress.ts'

/** The progress of long commands, on a terminal and elsewhere. */

const { stdout, stderr } = process

/** Captures the printed text. Only `wait` moves the clock, by seconds. */
const capture = (isTTY: boolean) => {
  vi.useFakeTimers({ toFake: ['performance'] })
  Object.assign(stderr, { isTTY, columns: 80 })
  const printed: string[] = []
  for (const stream of [stdout, stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((part) => printed.push(String(part)) > 0)
  }
  const wait = (seconds: number): void => void vi.advanceTimersByTime(seconds * 1_000)
  return { printed, wait }
}

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  Object.assign(stderr, { isTTY: false })
})

const CLEAR = '\r\u001b[K'

test('a terminal shows the parts that are done and the remaining time in one line', () => {
  const { printed, wait } = capture(true)
  const tick = newProgress('runs', 3)
  for (let part = 0; part < 3; part += 1) {
    wait(40)
    tick()
  }
  expect(printed).toEqual([
    `${CLEAR}1 of 3 runs, 1 min 20 s left`,
    `${CLEAR}2 of 3 runs, 40 s left`,
    CLEAR,
  ])
})

test('a file or a pipe gets a line after each tenth', () => {
  const { printed } = capture(false)
  const tick = newProgress('runs', 20)
  for (let part = 0; part < 20; part += 1) tick()
  expect(printed).toHaveLength(10)
  expect(printed.at(-1)).toBe('20 of 20 runs\n')
})

test('a terminal shows the step in progress, and a line for each step that is done', async () => {
  const { printed, wait } = capture(true)
  const { run, advance, print } = newSteps({ build: 10, check: 30 })
  await run('build', () => wait(20))
  await run('check', () => {
    print('a line')
    wait(30)
    advance('check', 0.5)
  })
  expect(printed).toEqual([
    `${CLEAR}build: 0 of 2 steps done, about 40 s left`,
    CLEAR,
    'build: 20.0 s (1 of 2 steps)\n',
    CLEAR,
    `${CLEAR}check: 1 of 2 steps done, about 1 min 0 s left`,
    CLEAR,
    'a line\n',
    `${CLEAR}check: 1 of 2 steps done, about 1 min 0 s left`,
    `${CLEAR}check: 1 of 2 steps done, about 30 s left`,
    CLEAR,
    'check: 30.0 s (2 of 2 steps)\n',
    CLEAR,
  ])
})

test('a step that fails removes the line of the terminal, also while another step runs', async () => {
  const { printed } = capture(true)
  const { run, advance } = newSteps({ build: 10, check: 30 })
  const end = Promise.withResolvers<void>()
  const checked = run('check', () => end.promise)
  const fail = () => Promise.reject(new Error('no compiler'))
  await expect(run('build', fail)).rejects.toThrow('no compiler')
  advance('check', 0.5)
  expect(printed.slice(-2)).toEqual([CLEAR, CLEAR])
  end.resolve()
  await checked
})

test('a file or a pipe gets lines only for the steps that are done', async () => {
  const { printed } = capture(false)
  const { run } = newSteps({ build: 10, check: 30 })
  await run('build', () => undefined)
  expect(printed).toEqual(['build: 0.0 s (1 of 2 steps)\n'])
})
