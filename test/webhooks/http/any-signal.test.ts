import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { anySignal } from '../../../shared/webhooks/http/any-signal.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const pair = () => [new AbortController(), new AbortController()] as const

test.each([0, 1] as const)('the abort of number %d is told, with its reason', (n) => {
  const sources = pair()
  const { signal } = anySignal(sources[0].signal, sources[1].signal)
  expect(signal.aborted).toBe(false)
  sources[n].abort('over')
  sources[1 - n]?.abort('later')
  expect(signal).toMatchObject({ aborted: true, reason: 'over' })
})

test('what is aborted already is told at once', () => {
  const [one, other] = pair()
  other.abort('over')
  expect(anySignal(one.signal, other.signal).signal).toMatchObject({
    aborted: true,
    reason: 'over',
  })
})

test('an abort is remembered when what it came from is gone', async () => {
  const aborted = () => {
    const [one, other] = pair()
    const { signal } = anySignal(one.signal, other.signal)
    one.abort('over')
    return signal
  }
  const signal = aborted()
  await turn()
  collect()
  expect(signal.aborted).toBe(true)
})

test('timeouts that are still to come do not hold it when it was ended', async () => {
  const attempted = () => {
    const { signal, end } = anySignal(AbortSignal.timeout(60_000), AbortSignal.timeout(50_000))
    end()
    return new WeakRef(signal)
  }
  const signal = attempted()
  await turn()
  collect()
  expect(signal.deref()).toBeUndefined()
})
