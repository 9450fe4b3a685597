import { setImmediate as nextTick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { anySignal } from '../../../shared/webhooks/http/any-signal.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const pair = () => [new AbortController(), new AbortController()] as const

test('the signal stays aborted after its source is garbage-collected', async () => {
  const aborted = () => {
    const [first, second] = pair()
    const { signal } = anySignal(first.signal, second.signal)
    first.abort('over')
    return signal
  }
  const signal = aborted()
  await nextTick()
  collect()
  expect(signal.aborted).toBe(true)
})

test('pending timeouts do not keep an ended signal in memory', async () => {
  const attempted = () => {
    const { signal, end } = anySignal(AbortSignal.timeout(60_000), AbortSignal.timeout(50_000))
    end()
    return new WeakRef(signal)
  }
  const signal = attempted()
  await nextTick()
  collect()
  expect(signal.deref()).toBeUndefined()
})
