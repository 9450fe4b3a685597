import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { delaySeconds, retriableCodes } from '../../../shared/domain/webhooks/attempt.ts'
import { eventTypes } from '../../../shared/domain/webhooks/event-type.ts'

/** The retries of webhooks in the docs, which no code writes. */

const api = readFileSync('docs/api.md', 'utf8')
const webhooks = readFileSync('docs/webhooks.md', 'utf8').replaceAll('\n', ' ')

test('the page docs/api.md has the attempts of each event', () => {
  const [table = ''] = /^\| Event \| Sent when \| Attempts \|$.*?\n\n/ms.exec(api) ?? []
  const documented = [...table.matchAll(/^\| (`.*?) \|.*\| (\d+) \|$/gm)].flatMap(
    ([, names = '', attempts]) =>
      [...names.matchAll(/`(\w*)\.(\w+)`/g)].map(
        ([, prefix, name]) => `${prefix || 'transaction'}.${name}: ${attempts}`,
      ),
  )
  const expected = Object.values(eventTypes).map(({ event, retries }) => `${event}: ${retries + 1}`)
  expect(documented.sort()).toEqual(expected.sort())
})

test('the page docs/webhooks.md has the retried responses, and the attempts with their time', () => {
  expect(webhooks).toContain(`| ${retriableCodes.join(', ')} | retried |`)
  const retries = [...new Set(Object.values(eventTypes).map((type) => type.retries))].sort(
    (one, other) => one - other,
  )
  const times = retries.map((count) => {
    const delays = Array.from({ length: count }, (_, k) => delaySeconds(k + 1, 0.5))
    const seconds = delays.reduce((sum, delay) => sum + delay, 0)
    const minutes = Math.round(seconds / 60)
    if (seconds < 60) return `${seconds} seconds`
    return minutes === 1 ? 'a minute' : `${minutes} minutes`
  })
  const listed = (words: readonly unknown[]) => words.join(', ').replace(/, ([^,]*)$/, ' or $1')
  const attempts = retries.map((count) => count + 1)
  expect(webhooks).toContain(
    `have ${listed(attempts)} attempts, which cover about ${listed(times)}.`,
  )
})
